"""The types of results and of arguments: what the functions of germane return, and what they take.

>>> from germane.types import Judgments, Result, Run
>>> def evaluate_both(qrels: Judgments, first: Run, second: Run) -> list[Result]:
...     return [germane.evaluate(qrels, run, "AP") for run in (first, second)]
>>> isinstance(evaluate_both({"q": ["d"]}, {"q": ["d"]}, {"q": ["e"]})[0], Result)
True
"""

from germane.comparison.comparison import Comparison, Stability
from germane.comparison.gate import Gate
from germane.comparison.pair import Pair
from germane.comparison.planning import QueryPlan, Resolution
from germane.comparison.query_differences import QueryDifferences
from germane.comparison.resolution import Claim
from germane.core.calls import Progress, Seed
from germane.core.finding import Finding, Severity
from germane.core.mean_intervals import Interval
from germane.core.qrels import Qrels
from germane.core.ranking import Ranking
from germane.dialects.dialect import Dialect
from germane.evaluation.bounds import BoundsOfRuns
from germane.evaluation.checkup import Checkup
from germane.evaluation.choices import (
    Baseline,
    Catalogue,
    Choices,
    Distance,
    Group,
    Ids,
    ItemGroups,
    Judges,
    Judgments,
    LabelList,
    OtherChoices,
    Pairs,
    Places,
    PublishedTable,
    Record,
    Reported,
    Run,
    Runs,
    Source,
    Texts,
    Values,
    Vectors,
    Weights,
)
from germane.evaluation.evaluator import Sign
from germane.evaluation.layout import Groups
from germane.evaluation.result import Counts, Result, Results
from germane.evaluation.signature_line import Signature
from germane.evaluation.whole_lists import CatalogueResult
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
from germane.measures.averaging import MeasureResult, QueryValues
from germane.measures.measure import Measure, Measures
from germane.measures.own import OwnMeasure
from germane.output.tables import Reader, Table
from germane.readers import InputFormat
from germane.records.verification import Verification
from germane.reports.report import Report

__all__ = [
    "Audit",
    "Baseline",
    "BoundsOfRuns",
    "Catalogue",
    "CatalogueResult",
    "Checkup",
    "Choices",
    "Claim",
    "Comparison",
    "Contradiction",
    "CorrectedMean",
    "Counts",
    "Dialect",
    "Distance",
    "Explanation",
    "Finding",
    "Gate",
    "Group",
    "Groups",
    "Identification",
    "Ids",
    "InputFormat",
    "Interval",
    "ItemGroups",
    "JudgeAgreement",
    "JudgedByMany",
    "Judges",
    "Judgments",
    "LabelList",
    "MeanPRCurve",
    "Measure",
    "MeasureResult",
    "Measures",
    "OtherChoices",
    "OwnMeasure",
    "PRCurve",
    "Pair",
    "Pairs",
    "Places",
    "Progress",
    "PublishedTable",
    "Qrels",
    "QueryDifferences",
    "QueryPlan",
    "QueryValues",
    "Ranking",
    "Reader",
    "Reconciliation",
    "Record",
    "Report",
    "Reported",
    "Resolution",
    "Result",
    "Results",
    "Run",
    "Runs",
    "Seed",
    "Selection",
    "Severity",
    "Sign",
    "Signature",
    "Source",
    "Spread",
    "Stability",
    "Table",
    "TableReconciliation",
    "Texts",
    "Trust",
    "Trusts",
    "Values",
    "Vectors",
    "Verification",
    "Weights",
]


def __dir__() -> list[str]:
    return __all__
