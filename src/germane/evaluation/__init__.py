"""Evaluation: from a run that was read to measures, query by query and as means."""
