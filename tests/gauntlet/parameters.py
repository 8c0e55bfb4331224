"""Names and parameters of measures as they are mistyped, on the command line and in Python."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gauntlet.case import QRELS, RUN, Outcome, numbers, refused


@dataclass(frozen=True)
class ParameterCase:
    outcome: Outcome
    measures: Any
    policy: Mapping[str, Any] = field(default_factory=dict)


def _hits(k: int) -> float:
    """The three runs hold 3, 2 and 1 relevant items."""
    return (3 + 2 + 1) / 3 / k


_AP = Outcome("value", {"AP": numbers(QRELS, RUN)["AP"]})

CASES = {
    "k = 0": ParameterCase(refused("positive integer", "0"), "P@0"),
    "k = -5": ParameterCase(refused("positive integer", "-5"), "P@-5"),
    "k in words": ParameterCase(refused("positive integer", "abc"), "P@abc"),
    "k beyond the list": ParameterCase(Outcome("value", {"P@100": _hits(100)}), "P@100"),
    "k = 10^12": ParameterCase(
        Outcome("value", {"P@1000000000000": _hits(10**12)}), "P@1000000000000"
    ),
    "no such measure": ParameterCase(refused("unknown measure", "'foo'"), "foo"),
    "a measure mistyped": ParameterCase(
        refused("unknown measure", "'nDGC@5'", "'nDCG@5'"), "nDGC@5"
    ),
    "capitals": ParameterCase(_AP, "MAP"),
    "small letters": ParameterCase(_AP, "ap"),
    "an empty name": ParameterCase(refused("no measure"), ""),
    "no measures": ParameterCase(refused("no measure"), []),
    "no cutoff after @": ParameterCase(refused("measure 'P@'"), "P@"),
    "a letter after the cutoff": ParameterCase(refused("measure 'P@5x'", "5x"), "P@5x"),
    "None": ParameterCase(refused("None"), [None]),
    "rel = -1": ParameterCase(refused("at least 0", "-1"), "AP(rel=-1)"),
    "rel in words": ParameterCase(refused("a number", "abc"), "AP(rel=abc)"),
    "rel in wide digits": ParameterCase(refused("a number", "\uff11"), "AP(rel=\uff11)"),
    "k in Arabic digits": ParameterCase(refused("positive integer", "\u0663"), "AP@\u0663"),
    "k = 0 in trec_eval's manner": ParameterCase(refused("'P_0'", "positive integer", "0"), "P_0"),
    "k = 0 in another tool's name": ParameterCase(
        refused("'P_0'", "positive integer"), "trec_eval:P_0"
    ),
    "k = -5 in another tool's name": ParameterCase(
        refused("'precision@-5'", "positive integer"), "ranx:precision@-5"
    ),
    "bytes": ParameterCase(refused("b'AP'"), b"AP"),
    "k = True": ParameterCase(refused("positive integer", "True"), "AP@True"),
    "k = 1.0": ParameterCase(refused("positive integer", "1.0"), "AP@1.0"),
    "p = 1.5": ParameterCase(refused("1.5", "0", "1"), "RBP(p=1.5)"),
    "depth = -5": ParameterCase(refused("-5"), "AP", {"depth": -5}),
}
