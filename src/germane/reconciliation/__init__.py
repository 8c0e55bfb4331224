"""Reconciliation: one measure in every dialect, and the definitions behind a reported number."""
