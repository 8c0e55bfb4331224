"""germane evaluates ranked lists, and never lets a number travel without its definition.

>>> import germane
>>> round(germane.score([0, 0, 1, 0, 1, 0, 0, 1, 0, 0], "AP@10", relevant=3), 3)
0.369
"""

from typing import TYPE_CHECKING

from germane._version import VERSION as __version__
from germane.averaging import MeasureResult
from germane.dialects import dialects
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
from germane.evaluation import evaluate, evaluate_many, measures, read_qrels, read_run, score
from germane.finding import Finding
from germane.measure import Measure, parse
from germane.policy import Policy
from germane.ranking import Ranking
from germane.result import Result, Results
from germane.retrieval import Qrels

if TYPE_CHECKING:  # imported when first asked for: together they take longer than all of the above
    from germane.agreement import kendall_tau, rbo, tau_ap
    from germane.animation import animate
    from germane.checkup import Checkup, check
    from germane.chunks import collapse
    from germane.comparison.comparison import Comparison
    from germane.comparison.pair import Pair
    from germane.comparison.queries import QueryDifferences
    from germane.comparison.stability import Stability
    from germane.curve import mean_pr_curve, pr_curve
    from germane.derivation import explain
    from germane.dialect_values import Spread, spread
    from germane.dialects.dialect import Dialect
    from germane.evaluator import Evaluator
    from germane.explanation import Explanation
    from germane.groups import Groups
    from germane.precision_recall import MeanPRCurve, PRCurve
    from germane.quality_gate import Gate, assert_no_regression, gate
    from germane.readers.labels import Labels
    from germane.reconciliation import Reconciliation, reconcile
    from germane.reports import Report, report
    from germane.saved import read_results
    from germane.similar import evaluate_embeddings
    from germane.simulation import simulate
    from germane.system_comparison import compare

_LATER = {
    "agreement": ("kendall_tau", "rbo", "tau_ap"),
    "animation": ("animate",),
    "checkup": ("Checkup", "check"),
    "chunks": ("collapse",),
    "comparison.comparison": ("Comparison",),
    "comparison.pair": ("Pair",),
    "comparison.queries": ("QueryDifferences",),
    "comparison.stability": ("Stability",),
    "curve": ("mean_pr_curve", "pr_curve"),
    "derivation": ("explain",),
    "dialect_values": ("Spread", "spread"),
    "dialects.dialect": ("Dialect",),
    "evaluator": ("Evaluator",),
    "explanation": ("Explanation",),
    "groups": ("Groups",),
    "precision_recall": ("MeanPRCurve", "PRCurve"),
    "quality_gate": ("Gate", "assert_no_regression", "gate"),
    "readers.labels": ("Labels",),
    "reconciliation": ("Reconciliation", "reconcile"),
    "reports": ("Report", "report"),
    "saved": ("read_results",),
    "similar": ("evaluate_embeddings",),
    "simulation": ("simulate",),
    "system_comparison": ("compare",),
}

# Every measure, without parameters, in the order of the table.
(
    NumQ, NumRet, NumRel, NumRelRet, NumNonrelRet, Judged, Unjudged,
    P, R, F, Rprec, Success, SetAP, Utility, AP, MeanP, MeanR, APR, YAAP, RR,
    DCG, IDCG, nDCG, nDCGrel, RnDCG, G, binG, ERR, RBP, RBPResidual,
    IPrec, IAP, AUPR, bpref, infAP,
) = measures()  # fmt: skip

__all__ = [  # noqa: RUF022  (in the order in which one meets them)
    # verbs
    "animate", "assert_no_regression", "check", "collapse", "compare", "dialects", "evaluate",
    "evaluate_embeddings", "evaluate_many", "explain", "gate", "kendall_tau", "mean_pr_curve",
    "measures", "parse", "pr_curve", "rbo", "read_qrels", "read_results", "read_run", "reconcile",
    "report", "score", "simulate", "spread", "tau_ap",
    # types
    "Checkup", "Comparison", "Dialect", "Evaluator", "Explanation", "Finding", "Gate", "Groups",
    "Labels", "MeanPRCurve", "Measure", "MeasureResult", "PRCurve", "Pair", "Policy", "Qrels",
    "QueryDifferences", "Ranking", "Reconciliation", "Report", "Result", "Results", "Spread",
    "Stability",
    # errors
    "AbsentError", "CoverageError", "DuplicateError", "EmptyError", "FormatError", "GermaneError",
    "GradeError", "InputError", "MeasureError", "PolicyError", "RegressionError", "ScoreError",
    "GermaneWarning",
    # measures
    "NumQ", "NumRet", "NumRel", "NumRelRet", "NumNonrelRet", "Judged", "Unjudged", "P", "R", "F",
    "Rprec", "Success", "SetAP", "Utility", "AP", "MeanP", "MeanR", "APR", "YAAP", "RR", "DCG",
    "IDCG", "nDCG", "nDCGrel", "RnDCG", "G", "binG", "ERR", "RBP", "RBPResidual", "IPrec", "IAP",
    "AUPR", "bpref", "infAP", "__version__",
]  # fmt: skip


def __getattr__(name: str) -> object:
    from importlib import import_module

    for module, names in _LATER.items():
        if name in names:
            found: object = getattr(import_module(f"germane.{module}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module 'germane' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
