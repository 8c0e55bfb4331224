"""The cases of the suite: germane's known cases, and the definitions and conventions that are asked on each.

Conventions that a case does not name are the ``DEFAULTS``.
"""

from dataclasses import dataclass
from typing import Any

from germane.forensics.known_cases import KNOWN

CONVENTIONS = {
    "ties": {
        "trec": "Items of equal score are ordered by their id, descending, as UTF-8 bytes.",
        "given": "Items of equal score stay in the order of the run.",
        "best": "Items of equal score are ordered by grade, descending; items that nobody judged come after grade 0.",
        "worst": "Items of equal score are in the reverse of the best order.",
        "expected": "The value is the mean over all orders that the scores allow.",
    },
    "duplicates": {
        "error": "No item is listed twice for a query.",
        "first": "The first row of an item counts.",
        "last": "The last row of an item counts.",
        "max": "The row of an item with the highest score counts.",
        "keep": "Every row has its own rank, and an item counts at its first one only.",
        "recount": "Every row counts, at its own rank: a relevant item can count more than once.",
    },
    "unjudged": {
        "nonrelevant": "Items that nobody judged keep their ranks, and are not relevant.",
        "remove": "Items that nobody judged are removed before ranks are counted.",
    },
    "depth": {
        "all": "All results are used.",
        "3": "Only the first 3 results of a query are used.",
    },
    "missing": {
        "zero": "A judged query that the run does not have counts as one without results.",
        "skip": "A judged query that the run does not have is left out of the mean.",
    },
    "no_relevant": {
        "zero": "A query without relevant items has the value 0.",
        "skip": "A query without relevant items is left out of the mean.",
        "one": "A query without relevant items has the value 1.",
    },
}

DEFAULTS = {key: next(iter(words)) for key, words in CONVENTIONS.items()}

BINARY = (
    *("P@1", "P@3", "P@5", "P(norm=retrieved)@5", "R@3", "R@5", "R(norm=min)@3", "F@5", "Success@1", "Success@5"),
    *("Rprec", "RR", "RR@3", "AP", "AP@3", "AP@5", "AP(norm=R)@5", "AP(norm=found)", "AP(norm=found)@5"),
    *("AP(norm=k)@5", "AP(norm=possible)@5", "MeanP@5", "DCG@5", "nDCG", "nDCG@3", "nDCG@5", "nDCG(norm=k)@5"),
    *("RBP(p=0.5)", "RBP(p=0.8)", "bpref", "IAP", "IPrec(recall=0.5)"),
)  # fmt: skip
GRADED = (
    *("P@3", "P(rel=2)@3", "R(rel=2)@3", "RR", "RR(rel=2)", "AP", "AP(rel=2)", "AP(rel=2)@3", "Success(rel=2)@3"),
    *("DCG@3", "DCG", "DCG(gain=exp)@3", "DCG(discount=jarvelin)", "DCG(discount=position)"),
    *("nDCG", "nDCG@3", "nDCG(gain=exp)", "nDCG(gain=exp)@3", "nDCG(discount=jarvelin)", "nDCG(norm=k)@3"),
    *("ERR", "ERR@3", "ERR(max=3)", "RBP(gain=linear)" ),
)  # fmt: skip
WITH_RELEVANT = tuple(
    name for name in BINARY if not name.startswith(("AP(norm=found)", "RBP"))
)  # for queries without relevant items
OF_COPIES = ("P@1", "P@3", "R@3", "RR", "AP", "AP@3", "nDCG@3")
COPIES = tuple({"duplicates": word} for word in ("first", "last", "max", "keep", "recount"))


@dataclass(frozen=True)
class Asked:
    """The definitions that are asked on a case, and the conventions under which they are."""

    definitions: tuple[str, ...] = BINARY
    conventions: tuple[dict[str, Any], ...] = ({},)


@dataclass(frozen=True)
class Case:
    """Judgments and a run, the definitions that are asked, and the conventions under which they are."""

    name: str
    shows: str
    qrels: dict[str, dict[str, float]]
    run: dict[str, list[tuple[str, float]]]
    definitions: tuple[str, ...]
    conventions: tuple[dict[str, Any], ...]


ASKED = {
    "unjudged": Asked(conventions=({}, {"unjudged": "remove"})),
    "only-unjudged": Asked(definitions=WITH_RELEVANT, conventions=({}, {"unjudged": "remove"})),
    "negative-grade": Asked(definitions=("P@3", "R@3", "RR", "AP", "AP@3", "DCG@3", "nDCG@3", "nDCG(gain=exp)@3")),
    "graded": Asked(definitions=GRADED),
    "graded-missed": Asked(definitions=GRADED),
    "graded-perfect": Asked(definitions=GRADED),
    "graded-reversed": Asked(definitions=GRADED),
    "grade-below-the-level": Asked(definitions=GRADED),
    "fractions-as-grades": Asked(definitions=("P@3", "RR", "AP", "DCG@3", "nDCG@3", "nDCG")),
    "missing-query": Asked(conventions=({}, {"missing": "skip"})),
    "no-relevant-items": Asked(definitions=WITH_RELEVANT, conventions=({}, {"no_relevant": "skip"}, {"no_relevant": "one"})),
    "ties": Asked(conventions=tuple({"ties": word} for word in CONVENTIONS["ties"])),
    "tie-across-the-cutoff": Asked(conventions=tuple({"ties": word} for word in CONVENTIONS["ties"])),
    "duplicates": Asked(definitions=OF_COPIES, conventions=COPIES),
    "copy-before-the-cutoff": Asked(definitions=OF_COPIES, conventions=COPIES),
    "depth": Asked(conventions=({}, {"depth": "3"})),
    "several-conventions": Asked(definitions=WITH_RELEVANT, conventions=({}, {"missing": "skip", "no_relevant": "skip", "ties": "given"}, {"ties": "worst", "no_relevant": "one"})),
}  # fmt: skip
"""Where a case is asked about other definitions than ``BINARY``, or under other conventions than the defaults."""

CASES = tuple(
    Case(
        one.name,
        one.shows,
        one.qrels,
        one.run,
        ASKED.get(one.name, Asked()).definitions,
        ASKED.get(one.name, Asked()).conventions,
    )
    for one in KNOWN
)
