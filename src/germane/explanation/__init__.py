"""Explanation: one number rank by rank, curves, animations, and experiments on the measures."""
