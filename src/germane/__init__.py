"""germane evaluates ranked lists, and never lets a number travel without its definition.

>>> import germane
>>> round(germane.score([0, 0, 1, 0, 1, 0, 0, 1, 0, 0], "AP@10", relevant=3), 3)
0.369
"""

import sys as _sys
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING

from germane._version import VERSION as __version__
from germane.averaging import MeasureResult
from germane.errors import (
    AbsentError,
    CoverageError,
    DuplicateError,
    EmptyError,
    FormatError,
    GermaneError,
    GermaneWarning,
    GradeError,
    InputError,
    MeasureError,
    PolicyError,
    RegressionError,
    ScoreError,
)
from germane.evaluate import evaluate, evaluate_many, measures, read_qrels, read_run, score
from germane.finding import Finding
from germane.measure import Measure, parse
from germane.policy import Policy
from germane.ranking import Ranking
from germane.result import Result, Results
from germane.retrieval import Qrels

if _TYPE_CHECKING:
    from germane.agreement import kendall_tau, rbo, tau_ap
    from germane.animate import animate
    from germane.check import Checkup, check
    from germane.collapse import collapse
    from germane.compare import compare
    from germane.comparison.comparison import Comparison
    from germane.comparison.pair import Pair
    from germane.comparison.queries import QueryDifferences
    from germane.comparison.stability import Stability
    from germane.curve import mean_pr_curve, pr_curve
    from germane.dialects import Dialect, dialects
    from germane.evaluator import Evaluator
    from germane.explain import explain
    from germane.explanation import Explanation
    from germane.gate import Gate, assert_no_regression, gate
    from germane.groups import Groups
    from germane.precision_recall import MeanPRCurve, PRCurve
    from germane.readers.labels import Labels
    from germane.reconcile import Reconciliation, reconcile
    from germane.report import Report, report
    from germane.saved import read_results
    from germane.similar import evaluate_embeddings
    from germane.simulate import simulate
    from germane.spread import Spread, spread

__all__ = [  # noqa: RUF022  (in the order in which one meets them)
    # verbs
    "animate",
    "assert_no_regression",
    "check",
    "collapse",
    "compare",
    "dialects",
    "evaluate",
    "evaluate_embeddings",
    "evaluate_many",
    "explain",
    "gate",
    "kendall_tau",
    "mean_pr_curve",
    "measures",
    "parse",
    "pr_curve",
    "rbo",
    "read_qrels",
    "read_results",
    "read_run",
    "reconcile",
    "report",
    "score",
    "simulate",
    "spread",
    "tau_ap",
    # types
    "Checkup",
    "Comparison",
    "Dialect",
    "Evaluator",
    "Explanation",
    "Finding",
    "Gate",
    "Groups",
    "Labels",
    "MeanPRCurve",
    "Measure",
    "MeasureResult",
    "PRCurve",
    "Pair",
    "Policy",
    "Qrels",
    "QueryDifferences",
    "Ranking",
    "Reconciliation",
    "Report",
    "Result",
    "Results",
    "Spread",
    "Stability",
    # errors
    "AbsentError",
    "CoverageError",
    "DuplicateError",
    "EmptyError",
    "FormatError",
    "GermaneError",
    "GradeError",
    "InputError",
    "MeasureError",
    "PolicyError",
    "RegressionError",
    "ScoreError",
    "GermaneWarning",
    # measures
    "NumQ",
    "NumRet",
    "NumRel",
    "NumRelRet",
    "NumNonrelRet",
    "Judged",
    "Unjudged",
    "P",
    "R",
    "F",
    "Rprec",
    "Success",
    "SetAP",
    "Utility",
    "AP",
    "MeanP",
    "MeanR",
    "APR",
    "YAAP",
    "RR",
    "DCG",
    "IDCG",
    "nDCG",
    "nDCGrel",
    "RnDCG",
    "G",
    "binG",
    "ERR",
    "RBP",
    "RBPResidual",
    "IPrec",
    "IAP",
    "AUPR",
    "bpref",
    "infAP",
    "__version__",
]

# Every measure that needs no parameter, under its own name.
NumQ = Measure("NumQ")
NumRet = Measure("NumRet")
NumRel = Measure("NumRel")
NumRelRet = Measure("NumRelRet")
NumNonrelRet = Measure("NumNonrelRet")
Judged = Measure("Judged")
Unjudged = Measure("Unjudged")
P = Measure("P")
R = Measure("R")
F = Measure("F")
Rprec = Measure("Rprec")
Success = Measure("Success")
SetAP = Measure("SetAP")
Utility = Measure("Utility")
AP = Measure("AP")
MeanP = Measure("MeanP")
MeanR = Measure("MeanR")
APR = Measure("APR")
YAAP = Measure("YAAP")
RR = Measure("RR")
DCG = Measure("DCG")
IDCG = Measure("IDCG")
nDCG = Measure("nDCG")
nDCGrel = Measure("nDCGrel")
RnDCG = Measure("RnDCG")
G = Measure("G")
binG = Measure("binG")
ERR = Measure("ERR")
RBP = Measure("RBP")
RBPResidual = Measure("RBPResidual")
IPrec = Measure("IPrec")
IAP = Measure("IAP")
AUPR = Measure("AUPR")
bpref = Measure("bpref")
infAP = Measure("infAP")

# What evaluate does not need is imported when it is first asked for, from these modules.
_LATER = {
    "animate": "animate",
    "assert_no_regression": "gate",
    "check": "check",
    "collapse": "collapse",
    "compare": "compare",
    "dialects": "dialects",
    "gate": "gate",
    "kendall_tau": "agreement",
    "rbo": "agreement",
    "read_results": "saved",
    "reconcile": "reconcile",
    "report": "report",
    "tau_ap": "agreement",
    "evaluate_embeddings": "similar",
    "explain": "explain",
    "mean_pr_curve": "curve",
    "pr_curve": "curve",
    "simulate": "simulate",
    "spread": "spread",
    "Checkup": "check",
    "Comparison": "comparison.comparison",
    "Dialect": "dialects",
    "Evaluator": "evaluator",
    "Explanation": "explanation",
    "Gate": "gate",
    "Groups": "groups",
    "Labels": "readers.labels",
    "MeanPRCurve": "precision_recall",
    "PRCurve": "precision_recall",
    "Pair": "comparison.pair",
    "QueryDifferences": "comparison.queries",
    "Reconciliation": "reconcile",
    "Report": "report",
    "Spread": "spread",
    "Stability": "comparison.stability",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'germane' has no attribute {name!r}")
    found: object = getattr(_import_module(f"germane.{_LATER[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(_ModuleType):
    """A package in which a verb keeps its name when the module of that name is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _LATER and isinstance(value, _ModuleType)):
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[object, ...]:
        """By its name: functions of a notebook travel to workers with the modules that they mention."""
        return _import_module, (self.__name__,)


_sys.modules[__name__].__class__ = _Package
