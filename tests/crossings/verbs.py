"""The verbs: how each is called, and what it says of a case."""

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import germane

from crossings.case import Case
from crossings.options import LISTS

CLASS_NAMES = re.compile(
    r"object at 0x|<germane|\b(TypeError|AttributeError|KeyError|RunInput|ScoredMapping|ScoredLists?|RankedLists|"
    r"NamedArray|ScoreArray|TopIds|Grouped|Embeddings|TrecFile|QrelsInput|NoneType)\b"
)


def _list_findings(findings: Iterable[germane.types.Finding]) -> list[tuple[str, str, int]]:
    return sorted((one.severity, one.what, one.count) for one in findings)


def _round(value: float) -> float:
    return float(f"{value:.10g}")


def _describe(result: germane.types.Result, case: Case) -> Any:
    """All that a result says: values, counts and findings."""
    values = {
        name: (
            _round(one.mean),
            sorted((str(case.name_query(q)), _round(value)) for q, value in one.per_query.items()),
        )
        for name, one in result.items()
    }
    counts = vars(result.counts) if hasattr(result.counts, "__dict__") else result.counts._asdict()
    return values, dict(counts), _list_findings(result.findings)


def _evaluate(case: Case) -> Any:
    return _describe(_run(case, case.run), case)


def _run(case: Case, run: Any, name: str = "run") -> germane.types.Result:
    """Evaluate a run; vectors have a verb of their own."""
    if "similarity" in case.options:
        return germane.evaluate_embeddings(
            *run, case.measures, qrels=case.qrels, name=name, **case.options
        )
    return germane.evaluate(case.qrels, run, case.measures, name=name, **case.options)


def _evaluate_many(case: Case) -> Any:
    found = germane.evaluate_many(case.qrels, _name(case), case.measures, **case.options)
    return {name: _describe(one, case) for name, one in found.items()}


def _name(case: Case) -> dict[str, Any]:
    return {"one": case.run, "other": case.other}


def _compare(case: Case) -> Any:
    if "similarity" in case.options:
        found = germane.compare([_run(case, run, name) for name, run in _name(case).items()])
    else:
        found = germane.compare(case.qrels, _name(case), case.measures, **case.options)
    return [(str(one.measure), _round(one.difference), one.p, one.wins) for one in found.pairs]


def _explain(case: Case) -> Any:
    """Items, grades and terms rank by rank."""
    found = []
    for query in ("q0", "q2"):
        made = germane.explain(
            case.qrels, case.run, case.measures, query=case.find_query(query), **case.options
        )
        by_grade = case.options.get("ties") in (
            "best",
            "worst",
        )  # which leave equal grades in any order
        rows = [
            (
                row.rank,
                "" if by_grade and row.tied else str(case.name_item(row.item)),
                row.relevance, row.hit, row.tied,
            )
            for row in made.rows
        ]  # fmt: skip
        missed = sorted((str(case.name_item(item)), grade) for item, grade in made.missed)
        found.append((rows, missed, [_round(one.value) for one in made.readings]))
    return found


def _check(case: Case) -> Any:
    return _list_findings(germane.check(case.qrels, case.run, case.measures, **case.options))


def _spread(case: Case) -> Any:
    measure = "Coverage@2" if case.measures == LISTS else "nDCG@3"
    found = germane.spread(case.qrels, case.run, measure, **case.options)
    return {(one.dialect, _round(one.value)) for one in found if one.value == one.value}


def _reconcile(case: Case) -> Any:
    measure = "Coverage@2" if case.measures == LISTS else "AP@3"
    found = germane.reconcile(case.qrels, case.run, measure=measure, reported=0.123, **case.options)
    return {(str(one.candidate.measure), _round(one.value)) for one in found.tried}


def _report(case: Case) -> Any:
    report = germane.report(case.qrels, _name(case), case.measures, **case.options)
    assert not CLASS_NAMES.search(report.html)
    shown = re.sub(r"(?s)<(style|script).*?</\1>", "", report.html)
    return re.findall(r"\d\.\d{3,}", shown)[:9]  # the means and their intervals


def _gate(case: Case) -> Any:
    found = germane.gate(case.qrels, case.run, case.measures, baseline=case.other, **case.options)
    return [
        (str(one.measure), _round(one.difference)) for one in found.comparison.pairs
    ], found.verdicts


def _choose_judgments(case: Case) -> Any:
    found = germane.choose_judgments(case.qrels, _name(case), "nDCG@3", **case.options)
    pairs = [
        (str(case.name_query(one.query)), str(case.name_item(one.item)), _round(one.weight))
        for one in found
    ]
    return sorted(pairs), {name: _round(share) for name, share in found.open_before.items()}


def _trust(case: Case) -> Any:
    found = germane.trust(
        case.run, people=case.people, model=case.qrels, measures=case.measures, **case.options
    )
    return {str(name): (_round(one.naive_mean), _round(one.mean)) for name, one in found.items()}


def _evaluate_judges(case: Case) -> Any:
    judges = {"ann": case.qrels, "bob": case.people}
    found = germane.evaluate_judges(case.run, judges, case.measures, **case.options)
    return {name: _describe(one, case) for name, one in found.results.items()}


def _pr_curve(case: Case) -> Any:
    found = germane.pr_curve(case.qrels, case.run, query=case.find_query("q0"), **case.options)
    return [_round(one) for one in (*found.precision, *found.recall)]


def _mean_pr_curve(case: Case) -> Any:
    found = germane.mean_pr_curve(case.qrels, case.run, **case.options)
    return [_round(one) for one in found.precision]


def _add_batches(case: Case) -> Any:
    evaluator = germane.Evaluator(case.qrels, case.measures, **case.options)
    evaluator.update(case.run)
    return _describe(evaluator.result(), case)


def _bound(case: Case) -> Any:
    found = germane.evaluate(case.qrels, case.run, "P@2", **case.options).bounds("P@2")
    return _round(found.low), _round(found.high), _round(found.judged)


def _plan(case: Case) -> Any:
    found = germane.plan(case.qrels, case.run, case.measures, baseline=case.other, **case.options)
    return [
        (
            str(one.measure),
            one.queries,
            one.differing,
            one.smallest_p,
            str(one.least),
            _round(one.detectable or 0),
        )
        for one in found.resolutions
    ]


class Verb(NamedTuple):
    """A verb: how it is called, and if it takes measures of whole lists."""

    call: Callable[[Case], Any]
    of_lists: bool = True
    of_dialects: bool = False  # does it try other orders of ties, which arrays do not have?


VERBS: dict[str, Verb] = {
    "evaluate": Verb(_evaluate),
    "evaluate_many": Verb(_evaluate_many),
    "Evaluator": Verb(_add_batches),
    "compare": Verb(_compare),
    "gate": Verb(_gate),
    "explain": Verb(_explain),
    "pr_curve": Verb(_pr_curve, of_lists=False),
    "mean_pr_curve": Verb(_mean_pr_curve, of_lists=False),
    "check": Verb(_check),
    "spread": Verb(_spread, of_dialects=True),
    "reconcile": Verb(_reconcile, of_dialects=True),
    "report": Verb(_report),
    "bounds": Verb(_bound, of_lists=False),
    "choose_judgments": Verb(_choose_judgments, of_lists=False),
    "trust": Verb(_trust),
    "evaluate_judges": Verb(_evaluate_judges),
    "plan": Verb(_plan, of_lists=False),
}
OF_VECTORS = ("evaluate", "compare")
"""Verbs of vectors: ``evaluate_embeddings``, and ``compare`` with its results."""
