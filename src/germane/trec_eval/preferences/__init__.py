"""Preference judgments: which of two items somebody prefers, and how a ranking agrees.

A core of its own beside ``Ranking``: here nothing has a grade of relevance, only a place.
"""

from germane.trec_eval.preferences.judgments import Group, Judged, partial_order, total_order
from germane.trec_eval.preferences.measures import MEASURES

__all__ = ["MEASURES", "Group", "Judged", "partial_order", "total_order"]
