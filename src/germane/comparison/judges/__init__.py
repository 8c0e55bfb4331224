"""Judges: numbers that rest on a model's judgments, agreement of judges, and what to judge next."""
