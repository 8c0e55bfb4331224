"""Comparison: the statistics of several systems on the same queries, and the values they make."""
