"""Checks: problems that can distort numbers, one function for each kind, in one table."""
