"""The types of results: what the functions of germane return.

>>> from germane.types import Result
>>> isinstance(germane.evaluate({"q": ["d"]}, {"q": ["d"]}, "AP"), Result)
True
"""

from germane.comparison.compare import Gate
from germane.comparison.comparison import Comparison, Stability
from germane.comparison.pair import Pair
from germane.comparison.query_differences import QueryDifferences
from germane.core.finding import Finding
from germane.core.qrels import Qrels
from germane.core.ranking import Ranking
from germane.dialects.dialect import Dialect
from germane.evaluation.checkup import Checkup
from germane.evaluation.layout import Groups
from germane.evaluation.result import Result, Results
from germane.evaluation.signature_line import Signature
from germane.explanation.curves import MeanPRCurve, PRCurve
from germane.explanation.explanation import Explanation
from germane.forensics.audit import Audit, Contradiction
from germane.forensics.identify import Identification
from germane.forensics.reconcile import Reconciliation
from germane.forensics.spread import Spread
from germane.forensics.table_answer import TableReconciliation
from germane.judges.assessors import JudgeAgreement, JudgedByMany
from germane.judges.corrected import CorrectedMean, Trust, Trusts
from germane.judges.selection import Selection
from germane.measures.averaging import MeasureResult
from germane.measures.measure import Measure
from germane.records.verification import Verification
from germane.reports.report import Report

__all__ = [
    "Audit",
    "Checkup",
    "Comparison",
    "Contradiction",
    "CorrectedMean",
    "Dialect",
    "Explanation",
    "Finding",
    "Gate",
    "Groups",
    "Identification",
    "JudgeAgreement",
    "JudgedByMany",
    "MeanPRCurve",
    "Measure",
    "MeasureResult",
    "PRCurve",
    "Pair",
    "Qrels",
    "QueryDifferences",
    "Ranking",
    "Reconciliation",
    "Report",
    "Result",
    "Results",
    "Selection",
    "Signature",
    "Spread",
    "Stability",
    "TableReconciliation",
    "Trust",
    "Trusts",
    "Verification",
]


def __dir__() -> list[str]:
    return __all__
