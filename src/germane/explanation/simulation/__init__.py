"""Experiments: one property of rankings is varied, and the measures respond."""
