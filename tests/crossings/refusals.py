"""What is refused where verbs, kinds and options meet, and why."""

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from crossings.cells import Cell
from crossings.kinds import KINDS
from crossings.options import OPTIONS, WHOLE_LISTS
from crossings.verbs import VERBS


@dataclass(frozen=True)
class Refusal:
    """Cells that are refused, words of the message, and the reason as the documentation gives it."""

    says: str
    why: str
    verbs: Collection[str]
    kinds: Collection[str]
    options: Sequence[str]

    def covers(self, cell: Cell) -> bool:
        return cell.verb in self.verbs and cell.kind in self.kinds and cell.option in self.options


EVALUATING = tuple(verb for verb in VERBS if verb != "check")
RANKED = ("ranked lists", "hits without scores", "ids (Q, K)", "ids (Q, K) with ids")
VECTORS = ("embeddings", "embeddings with ids")
FLAT = ("flat arrays",)
NAMED = tuple(name for name in KINDS if name.endswith("with ids"))
NUMBERED = (
    *(name for name in KINDS if "(Q, " in name and name not in NAMED),
    "flat arrays",
    "embeddings",
)


def select_options(*words: str) -> tuple[str, ...]:
    """List the options whose names have one of these words."""
    return tuple(option for option in OPTIONS if any(word in option for word in words))


_REFUSED: tuple[tuple[str, str, Collection[str], Collection[str], Collection[str]], ...] = (
    ("looks at whole lists|is about whole lists", "it is about judged items, and such a measure is about all results",
     ("explain", "report", "trust"), KINDS, select_options(WHOLE_LISTS)),
    ("have none|has only ranks|are only ids", "the results have ranks and no scores", VERBS, RANKED,
     select_options("min_score", "distances", "nonpositive")),
    ("collapse=, query_ids= and item_ids= do not work for flat arrays",
     "the grades belong to the items, and groups have none", set(VERBS) - {"Evaluator"},
     FLAT, select_options("collapse")),
    ("group= is for a single flat array", "a batch holds whole queries, each with its id", ("Evaluator",), FLAT, OPTIONS),
    ("no ids. Give the ids", "rows and columns are numbered, and no item has the id of a query", VERBS, NUMBERED,
     select_options("own=drop")),
    ("because their items have no ids", "the items have no ids, and lists of several queries share none", VERBS, FLAT,
     select_options(WHOLE_LISTS)),
    ("columns of an array have none", "the items are numbered, and ties are ordered by ids", VERBS, NUMBERED,
     select_options("ties=trec", "ties=ascending")),
    ("similarity=euclidean", "`similarity=euclidean` ranks vectors by their distances", VERBS, VECTORS,
     select_options("distances")),
    ("the run has scores", "places are ranks, and scores decide the order", VERBS,
     tuple(name for name in KINDS if name not in RANKED), ("ranks=places",)),
    ("ties=middle puts|does not order equal scores|bounds need an order",
     "an item at the middle of its ties has no single rank; of spread, reconcile and choose_judgments, the measure has none",
     ("pr_curve", "mean_pr_curve", "explain", "bounds", "spread", "reconcile", "choose_judgments"), KINDS, ("ties=middle",)),
    ("has no closed form", "the mean over all orders of tied items has no closed form there", ("mean_pr_curve",), KINDS,
     select_options("expected")),
    ("does not order equal scores", "single ranks need an order of tied items", ("explain", "pr_curve"), KINDS,
     select_options("expected")),
    ("bounds need an order", "bounds need an order of tied items, and no duplicates", ("bounds",), KINDS,
     select_options("expected", "duplicates=keep")),
    ("are about; leave it out", "bounds are about unjudged items", ("bounds",), KINDS, select_options("unjudged")),
    ("leaves out queries", "the queries of both judges have to be the same", ("trust",), KINDS, select_options("missing")),
)  # fmt: skip
REFUSED = tuple(itertools.starmap(Refusal, _REFUSED))

ARRAYS = tuple(name for name in KINDS if "(Q, " in name or name in (*FLAT, *VECTORS))
ONCE = (
    "dicts",
    "JSON file",
    *(name for name in KINDS if name.startswith("scores (Q, N)")),
    *FLAT,
    *VECTORS,
)

UNCHANGED: tuple[tuple[str, Collection[str], Sequence[str]], ...] = (
    ("an item occurs only once", ONCE, select_options("duplicates")),
    ("ranks leave no ties", RANKED, select_options("ties")),
    ("ranks cannot be rounded", RANKED, ("scores=single",)),
    ("the ranks of a list are its places", RANKED, ("ranks=places",)),
    ("an array has a row for every query", ARRAYS, select_options("missing")),
    ("numbered items have no other order", NUMBERED, ("whole lists and ties=given",)),
    ("-1 is never an item of an array", ARRAYS, select_options("padding")),
    ("every item is retrieved", VECTORS, select_options("listed")),
)
"""Options that are taken and change nothing, whatever the data: why, and of which kinds."""


def explain_unchanged(kind: str, option: str) -> str:
    """Explain why an option changes nothing; "" where it may."""
    return next(
        (why for why, kinds, options in UNCHANGED if kind in kinds and option in options), ""
    )
