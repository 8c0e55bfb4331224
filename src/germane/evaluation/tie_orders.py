"""Orders of ties: whether relevant items first and last give the highest and the lowest mean."""

from germane.core.policy import Policy
from germane.core.retrieved import COPIES
from germane.measures.measure import Measure


def knows_extremes(measure: Measure, policy: Policy) -> bool:
    """Does no order of ties give a mean beyond those of ``best`` and ``worst``?

    A depth cuts a list inside a tie, so that the order decides what the list has. With
    ``unjudged=remove``, it also decides how many items are left. With another ``no_hit``, an order
    without a hit may have the highest value, and copies that are kept hold ranks of their own.
    """
    if policy.no_hit != "zero" or policy.duplicates in COPIES:
        return False
    if policy.depth is None:
        return measure.extremes != "never"
    return policy.unjudged != "remove" and measure.extremes == "always"
