"""Forensics: the definitions behind a number, a function or a table, and what no run can have."""
