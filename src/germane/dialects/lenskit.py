"""LensKit: metrics as they are made, NDCG(n=10), and as they are labeled, NDCG@10."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from germane.dialects import catalogue
from germane.dialects.dialect import (
    CATALOG,
    COPIES_COUNT,
    LISTS,
    RATINGS,
    UNGRADED,
    Absent,
    Dialect,
    Entry,
    name_both,
)

_NO_ITEMS = {"no_relevant": "nan"}
_ALL_OR_ERROR = {"no_relevant": "error", "empty": "nan"}
_MOST = {"no_relevant": "nan", "empty": "error"}


def _name_lenskit(
    name: str, measure: str, choices: Mapping[str, Any] | None = None
) -> tuple[Entry, Entry]:
    """Name a metric of LensKit: as it is made, NDCG(n=10), and as it is labeled, NDCG@10."""
    whole, cut = name_both(name, measure, "(n={k})", choices)
    return whole, replace(cut, also=(f"{name}@{{k}}",))


LENSKIT = Dialect(
    "lenskit",
    tool="LensKit",
    version="2025.8.1",
    reading={**COPIES_COUNT, "repeated": "each"},
    judging=LISTS,
    measuring=(
        *_name_lenskit("AveragePrecision", "AP(norm=possible)", _ALL_OR_ERROR),
        Entry("Precision", "P", {"empty": "nan"}),
        Entry("Precision(n={k})", "P(norm=retrieved)@{k}", {"empty": "nan"}, ("Precision@{k}",)),
        Entry("Recall", "R", _NO_ITEMS),
        Entry("Recall(n={k})", "R(norm=min)@{k}", _NO_ITEMS, ("Recall@{k}",)),
        *_name_lenskit("RecipRank", "RR", _NO_ITEMS),
        *_name_lenskit("Hit", "Success", _NO_ITEMS),
        *_name_lenskit("NDCG", "nDCG(discount=jarvelin)", _NO_ITEMS | UNGRADED),
        *name_both("NDCG(gain='rating')", "nDCG(discount=jarvelin)", "(n={k})", _NO_ITEMS),
        *_name_lenskit("DCG", "DCG(discount=jarvelin)", UNGRADED),
        *name_both("DCG(gain='rating')", "DCG(discount=jarvelin)", "(n={k})"),
        *_name_lenskit("RBP", "RBP(p=0.85)", _NO_ITEMS),
        *name_both("RBP(patience={p})", "RBP(p={p})", "(n={k})", _NO_ITEMS),
        *name_both("RBP(normalize=True)", "RBP(p=0.85,norm=possible)", "(n={k})", _MOST),
        *name_both(
            "RBP(patience={p},normalize=True)", "RBP(p={p},norm=possible)", "(n={k})", _MOST
        ),
        Entry("ListLength", "Utility(noise=1)"),
        *catalogue.LENSKIT,
    ),
    why=(
        "The discount of NDCG and DCG is log2 of the rank, but at least 1, so that ranks 1 and 2"
        " weigh the same. AP divides by R or by the length of the list, whichever is less, so that"
        " a short list is rewarded. An empty list is NaN; a user without items is NaN, and in AP an"
        " error."
    ),
    source="metrics/ranking/_map.py",
    absent=(
        Absent(("RMSE", "MAE"), RATINGS),
        Absent(("ExposureGini", "entropy", "rank_biased_entropy"), CATALOG),
        Absent(
            ("rank_biased_overlap", "least_item_promoted"),
            "it compares two rankings; germane.rbo measures rank-biased overlap.",
        ),
    ),
)
