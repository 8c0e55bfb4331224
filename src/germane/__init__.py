"""germane evaluates ranked lists, and never lets a number travel without its definition.

>>> import germane
>>> round(germane.score([0, 0, 1, 0, 1, 0, 0, 1, 0, 0], "AP@10", relevant=3), 3)
0.369
"""

from typing import TYPE_CHECKING

from germane._version import VERSION as __version__
from germane.core.policy import Policy
from germane.dialects import dialects
from germane.dialects.names import parse
from germane.errors import GermaneError, GermaneWarning
from germane.evaluation.evaluate import measures

if TYPE_CHECKING:  # imported when first asked for: together they take longer than all of the above
    from germane import boxes
    from germane import types as types
    from germane.comparison.compare import compare
    from germane.comparison.gate import assert_no_regression, gate
    from germane.comparison.planning import plan
    from germane.evaluation.checkup import check
    from germane.evaluation.chunks import collapse
    from germane.evaluation.evaluate import (
        evaluate,
        evaluate_embeddings,
        evaluate_many,
        read_qrels,
        read_run,
        score,
    )
    from germane.evaluation.evaluator import Evaluator
    from germane.explanation.explain import explain, mean_pr_curve, pr_curve
    from germane.forensics.audit import audit
    from germane.forensics.identify import assert_computes, identify
    from germane.forensics.own_measure import measure
    from germane.forensics.reconcile import reconcile, reconcile_table
    from germane.forensics.spread import spread
    from germane.judges.assessors import evaluate_judges
    from germane.judges.rank_correlation import kendall_tau, rbo, tau_ap
    from germane.judges.selection import choose_judgments
    from germane.judges.trust import compare_judges, trust, trust_many
    from germane.readers.objects.relevance import Labels
    from germane.records.record import read_results
    from germane.records.verification import verify
    from germane.reports.report import report
    from germane.teaching.animation import animate
    from germane.teaching.experiments import simulate
    from germane.teaching.explorer import explorer

_LATER = {
    name: module
    for module, names in {
        "comparison.compare": "compare",
        "comparison.gate": "assert_no_regression gate",
        "comparison.planning": "plan",
        "judges.rank_correlation": "kendall_tau rbo tau_ap",
        "evaluation.evaluate": "evaluate evaluate_embeddings evaluate_many read_qrels read_run score",
        "evaluation.checkup": "check",
        "evaluation.chunks": "collapse",
        "evaluation.evaluator": "Evaluator",
        "explanation.explain": "explain mean_pr_curve pr_curve",
        "forensics.audit": "audit",
        "forensics.identify": "assert_computes identify",
        "forensics.own_measure": "measure",
        "forensics.reconcile": "reconcile reconcile_table",
        "forensics.spread": "spread",
        "judges.trust": "compare_judges trust trust_many",
        "judges.assessors": "evaluate_judges",
        "judges.selection": "choose_judgments",
        "readers.objects.relevance": "Labels",
        "records.record": "read_results",
        "records.verification": "verify",
        "reports.report": "report",
        "teaching.animation": "animate",
        "teaching.experiments": "simulate",
        "teaching.explorer": "explorer",
    }.items()
    for name in names.split()
}
_MODULES = ("boxes", "types")

# Every measure, without parameters, in the order of the table: `from germane import AP`.
(
    NumQ, NumRet, NumRel, NumRelRet, NumNonrelRet, Judged, Unjudged,
    P, R, F, Rprec, Success, AllFound, SetAP, Utility,
    AP, MeanP, MeanR, AR, APR, YAAP, RR,
    DCG, IDCG, nDCG, nDCGrel, RnDCG, G, binG, ERR, RBP, RBPResidual,
    INSQ, INST, BPM, NERR8, NERR9, NERR10, NERR11, SDCG,
    IPrec, IAP, AUPR, bpref, infAP,
    FallOut, SetAccuracy, MCC, AUROC, GAUC, RankingLoss, LastRank, MeanRank, PercentileRank, INP,
    RecallAtPrecision, Compat,
    StRecall, P_IA, AP_IA, alpha_DCG, alpha_nDCG, ERR_IA, nERR_IA, NRBP, nNRBP, Dsharp_nDCG,
) = measures()  # fmt: skip

__all__ = [  # noqa: RUF022  (in the order in which one meets them)
    "animate", "assert_computes", "assert_no_regression", "audit", "check", "choose_judgments", "collapse", "compare",
    "compare_judges", "dialects", "evaluate", "evaluate_embeddings", "evaluate_judges", "evaluate_many", "explain",
    "explorer", "gate", "identify", "kendall_tau", "mean_pr_curve",
    "measure", "measures", "parse", "plan", "pr_curve", "rbo", "read_qrels", "read_results", "read_run", "reconcile",
    "reconcile_table", "report", "score", "simulate", "spread", "tau_ap", "trust", "trust_many", "verify",
    # boxes of object detectors: the verbs above in a namespace of their own
    "boxes",
    # what a person makes, and what all errors and warnings are; germane.types and germane.errors have the others
    "Evaluator", "Labels", "Policy", "GermaneError", "GermaneWarning", "__version__",
]  # fmt: skip


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"germane.{name}")
    if name not in _LATER:
        if name == "read_signature":
            raise AttributeError("germane.read_signature is germane.types.Signature.read")
        raise AttributeError(f"module 'germane' has no attribute {name!r}{_say_where(name)}")
    exported: object = getattr(import_module(f"germane.{_LATER[name]}"), name)
    from germane.evaluation.choices import name_arguments

    if name != "Labels":
        exported = name_arguments(exported)
    globals()[name] = exported
    return exported


def _say_where(name: str) -> str:
    """Say in which module a type or an error is."""
    from germane import errors, types

    place = next((module for module in (types, errors) if name in dir(module)), None)
    return f"; it is {place.__name__}.{name}" if place and name[:1].isupper() else ""


def __dir__() -> list[str]:
    return __all__
