"""germane evaluates ranked lists, and never lets a number travel without its definition.

>>> import germane
>>> round(germane.score([0, 0, 1, 0, 1, 0, 0, 1, 0, 0], "AP@10", relevant=3), 3)
0.369
"""

from typing import TYPE_CHECKING

from germane._version import VERSION as __version__
from germane.core.finding import Finding
from germane.core.policy import Policy
from germane.core.qrels import Qrels
from germane.core.ranking import Ranking
from germane.dialects import dialects
from germane.dialects.parsing import parse
from germane.errors import (
    CoverageError,
    DefinitionError,
    DuplicateError,
    EmptyError,
    FormatError,
    GermaneError,
    GermaneWarning,
    GradeError,
    InputError,
    MeasureError,
    NotFoundError,
    PolicyError,
    RegressionError,
    ScoreError,
)
from germane.evaluation.api import measures
from germane.evaluation.result import Result, Results
from germane.measures.averaging import MeasureResult
from germane.measures.measure import Measure

if TYPE_CHECKING:  # imported when first asked for: together they take longer than all of the above
    from germane import boxes
    from germane.comparison.agreement import kendall_tau, rbo, tau_ap
    from germane.comparison.api import compare
    from germane.comparison.comparison import Comparison, Stability
    from germane.comparison.judges.agreement import JudgeAgreement
    from germane.comparison.judges.api import compare_judges, trust, trust_many
    from germane.comparison.judges.assessors import JudgedByMany, evaluate_judges
    from germane.comparison.judges.selection import Selection, choose_judgments
    from germane.comparison.judges.trust import CorrectedMean, Trust, Trusts
    from germane.comparison.pair import Pair
    from germane.comparison.quality_gate import Gate, assert_no_regression, gate
    from germane.comparison.queries import QueryDifferences
    from germane.dialects.dialect import Dialect
    from germane.evaluation.api import evaluate, evaluate_many, read_qrels, read_run, score
    from germane.evaluation.checkup import Checkup, check
    from germane.evaluation.chunks import collapse
    from germane.evaluation.embeddings import evaluate_embeddings
    from germane.evaluation.evaluator import Evaluator
    from germane.evaluation.query_groups import Groups
    from germane.evaluation.signature_line import Signature, read_signature
    from germane.evaluation.storage import read_results
    from germane.evaluation.verification import Verification, verify
    from germane.explanation.animation.api import animate
    from germane.explanation.api import explain
    from germane.explanation.curves import mean_pr_curve, pr_curve
    from germane.explanation.explanation import Explanation
    from germane.explanation.precision_recall import MeanPRCurve, PRCurve
    from germane.explanation.simulation.api import simulate
    from germane.exploration.api import explorer
    from germane.identification.api import Identification, assert_computes, identify
    from germane.readers.labels import Labels
    from germane.reconciliation.api import Reconciliation, reconcile
    from germane.reconciliation.auditing import audit
    from germane.reconciliation.contradictions import Audit, Contradiction
    from germane.reconciliation.spread import Spread, spread
    from germane.reconciliation.table_api import reconcile_table
    from germane.reconciliation.table_reconciliation import TableReconciliation
    from germane.reports.api import Report, report

_LATER = {
    name: module
    for module, names in {
        "comparison.agreement": "kendall_tau rbo tau_ap",
        "comparison.api": "compare",
        "comparison.comparison": "Comparison Stability",
        "comparison.judges.agreement": "JudgeAgreement",
        "comparison.judges.api": "compare_judges trust trust_many",
        "comparison.judges.assessors": "JudgedByMany evaluate_judges",
        "comparison.judges.selection": "Selection choose_judgments",
        "comparison.judges.trust": "CorrectedMean Trust Trusts",
        "comparison.pair": "Pair",
        "comparison.quality_gate": "Gate assert_no_regression gate",
        "comparison.queries": "QueryDifferences",
        "dialects.dialect": "Dialect",
        "evaluation.api": "evaluate evaluate_many read_qrels read_run score",
        "evaluation.checkup": "Checkup check",
        "evaluation.chunks": "collapse",
        "evaluation.embeddings": "evaluate_embeddings",
        "evaluation.evaluator": "Evaluator",
        "evaluation.query_groups": "Groups",
        "evaluation.signature_line": "Signature read_signature",
        "evaluation.storage": "read_results",
        "evaluation.verification": "Verification verify",
        "explanation.animation.api": "animate",
        "explanation.api": "explain",
        "explanation.curves": "mean_pr_curve pr_curve",
        "explanation.explanation": "Explanation",
        "explanation.precision_recall": "MeanPRCurve PRCurve",
        "explanation.simulation.api": "simulate",
        "exploration.api": "explorer",
        "identification.api": "Identification assert_computes identify",
        "readers.labels": "Labels",
        "reconciliation.api": "Reconciliation reconcile",
        "reconciliation.auditing": "audit",
        "reconciliation.contradictions": "Audit Contradiction",
        "reconciliation.spread": "Spread spread",
        "reconciliation.table_api": "reconcile_table",
        "reconciliation.table_reconciliation": "TableReconciliation",
        "reports.api": "Report report",
    }.items()
    for name in names.split()
}

# Every measure, without parameters, in the order of the table.
(
    NumQ, NumRet, NumRel, NumRelRet, NumNonrelRet, Judged, Unjudged,
    P, R, F, Rprec, Success, SetAP, Utility, AP, MeanP, MeanR, AR, APR, YAAP, RR,
    DCG, IDCG, nDCG, nDCGrel, RnDCG, G, binG, ERR, RBP, RBPResidual,
    INSQ, INST, BPM, NERR8, NERR9, NERR10, NERR11, SDCG,
    IPrec, IAP, AUPR, bpref, infAP,
    FallOut, SetAccuracy, MCC, AUROC, RankingLoss, LastRank, RecallAtPrecision, Compat,
    StRecall, P_IA, AP_IA, alpha_DCG, alpha_nDCG, ERR_IA, nERR_IA, NRBP, nNRBP, Dsharp_nDCG,
) = measures()  # fmt: skip

__all__ = [  # noqa: RUF022  (in the order in which one meets them)
    # verbs
    "animate", "assert_computes", "assert_no_regression", "audit", "check", "choose_judgments", "collapse", "compare",
    "compare_judges", "dialects", "evaluate", "evaluate_embeddings", "evaluate_judges", "evaluate_many", "explain",
    "explorer", "gate", "identify", "kendall_tau", "mean_pr_curve",
    "measures", "parse", "pr_curve", "rbo", "read_qrels", "read_results", "read_run", "read_signature", "reconcile",
    "reconcile_table", "report", "score", "simulate", "spread", "tau_ap", "trust", "trust_many", "verify",
    # boxes of object detectors: the verbs above in a namespace of their own
    "boxes",
    # types
    "Audit", "Checkup", "Comparison", "Contradiction", "CorrectedMean", "Dialect", "Evaluator", "Explanation", "Finding", "Gate", "Groups", "Identification",
    "JudgeAgreement", "JudgedByMany", "Labels", "MeanPRCurve", "Measure", "MeasureResult", "PRCurve", "Pair", "Policy", "Qrels",
    "QueryDifferences", "Ranking", "Reconciliation", "Report", "Result", "Results", "Selection", "Signature", "Spread",
    "Stability", "TableReconciliation", "Trust", "Trusts", "Verification",
    # errors
    "NotFoundError", "CoverageError", "DefinitionError", "DuplicateError", "EmptyError", "FormatError", "GermaneError",
    "GradeError", "InputError", "MeasureError", "PolicyError", "RegressionError", "ScoreError",
    "GermaneWarning",
]  # fmt: skip
__all__ += [*(measure.name for measure in measures()), "__version__"]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "boxes":
        return import_module("germane.boxes")
    if name not in _LATER:
        raise AttributeError(f"module 'germane' has no attribute {name!r}")
    found: object = getattr(import_module(f"germane.{_LATER[name]}"), name)
    if name.islower() or name == "Evaluator":
        from germane.evaluation.signatures import name_arguments

        found = name_arguments(found)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
