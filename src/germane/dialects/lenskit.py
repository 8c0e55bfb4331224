"""LensKit: metrics as they are made, NDCG(n=10), and as they are labeled, NDCG@10."""

from collections.abc import Iterator, Mapping
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
    Limit,
    name_both,
)

_GRADED = ("NDCG(gain='rating')", "NDCG(gain='rating',n={k})")
_GRADED_DCG = ("DCG(gain='rating')", "DCG(gain='rating',n={k})")


def _name(name: str, measure: str, choices: Mapping[str, Any] | None = None) -> tuple[Entry, Entry]:
    """Name a metric of LensKit: as it is made, NDCG(n=10), and as it is labeled, NDCG@10."""
    uncut, cut = name_both(name, measure, "(n={k})", choices)
    return uncut, replace(cut, also=(f"{name}@{{k}}",))


def _list_measures(
    no_items: Mapping[str, str], no_list: Mapping[str, str], *, gainless: Mapping[str, str]
) -> Iterator[Entry]:
    """List the metrics of a version by what is NaN there, and what is done with NaN.

    ``no_items`` is for users without items, ``no_list`` for empty lists, and ``gainless`` for users
    none of whose items has a gain.
    """
    yield from _name("AveragePrecision", "AP(norm=possible)", {"no_relevant": "error", **no_list})
    yield Entry("Precision", "P", no_list)
    yield Entry("Precision(n={k})", "P(norm=retrieved)@{k}", no_list, ("Precision@{k}",))
    yield Entry("Recall", "R", no_items)
    yield Entry("Recall(n={k})", "R(norm=min)@{k}", no_items, ("Recall@{k}",))
    yield from _name("RecipRank", "RR", no_items)
    yield from _name("Hit", "Success", no_items)
    yield from _name("NDCG", "nDCG(discount=jarvelin)", {**no_items, **UNGRADED})
    yield from name_both(_GRADED[0], "nDCG(discount=jarvelin)", "(n={k})", gainless)
    yield from _name("RBP", "RBP(p=0.85)", no_items)
    yield from name_both("RBP(patience={p})", "RBP(p={p})", "(n={k})", no_items)
    choices = {**no_items, "empty": "error"}
    for options, p in (("normalize=True", "0.85"), ("patience={p},normalize=True", "{p}")):
        yield from name_both(f"RBP({options})", f"RBP(p={p},norm=possible)", "(n={k})", choices)


_NAN = {"no_relevant": "nan"}
_LEFT_OUT = {"no_relevant": "skip"}
_DCG = "DCG(discount=jarvelin)"
_LENSKIT = Dialect(
    "lenskit-2026.4",
    tool="LensKit",
    version="2026.4.0",
    reading={**COPIES_COUNT, "repeated": "each"},
    judging=LISTS,
    measuring=(
        *_list_measures(_LEFT_OUT, {"empty": "missing"}, gainless={}),
        *_name("DCG", _DCG, {**_LEFT_OUT, **UNGRADED}),
        *name_both(_GRADED_DCG[0], _DCG, "(n={k})"),
        Entry("ListLength", "Utility(noise=1)"),
        Entry("UniqueItemCount", "Coverage(norm=none)"),
        *catalogue.LENSKIT,
    ),
    why=(
        "The discount of NDCG and DCG is log2 of the rank, but at least 1, so that ranks 1 and 2"
        " weigh the same. AP divides by R or by the length of the list, whichever is less, so that"
        " a short list is rewarded. A user without items is NaN (in AP an error), and so is an"
        " empty list in AP and precision; the mean leaves NaN out. NDCG is 0 where no item has a"
        " gain above 0."
    ),
    source="metrics/ranking/_map.py",
    limits=(
        Limit(
            "no_relevant",
            "A user without any item, and not only without a gain, is NaN and left out.",
            only=_GRADED + _GRADED_DCG,
        ),
    ),
    absent=(
        Absent(("RMSE", "MAE"), RATINGS),
        Absent(("ExposureGini", "Entropy", "RankBiasedEntropy", "ILS"), CATALOG),
        Absent(
            ("rank_biased_overlap", "least_item_promoted"),
            "it compares two rankings; germane.rbo measures rank-biased overlap.",
        ),
    ),
    aliases=("lenskit",),
)

DIALECTS = (
    _LENSKIT,
    replace(
        _LENSKIT,
        name="lenskit-2025.8",
        version="2025.8.1",
        measuring=(
            *_list_measures(_NAN, {"empty": "nan"}, gainless=_NAN),
            *_name("DCG", _DCG, UNGRADED),
            *name_both(_GRADED_DCG[0], _DCG, "(n={k})"),
            Entry("ListLength", "Utility(noise=1)"),
            *catalogue.LENSKIT,
        ),
        why=(
            "LensKit up to 2025. The discount of NDCG and DCG is log2 of the rank, but at least 1."
            " A user without items is NaN, in AP an error and in DCG 0; so is an empty list in AP"
            " and precision. NaN makes the mean NaN; list_summary of RunAnalysis counts it as 0."
        ),
        limits=(
            Limit("negative", "A rating below 0 is a gain below 0.", only=_GRADED + _GRADED_DCG),
        ),
        absent=(
            _LENSKIT.absent[0],
            Absent(("ExposureGini", "entropy", "rank_biased_entropy"), CATALOG),
            _LENSKIT.absent[2],
        ),
        aliases=(),
    ),
)
