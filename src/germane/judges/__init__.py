"""Judges: numbers that rest on a model, agreement of judges, and what to judge next."""
