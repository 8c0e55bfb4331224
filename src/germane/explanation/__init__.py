"""Explanation: one number rank by rank, and curves."""
