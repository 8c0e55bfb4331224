"""Check: find problems that can distort the numbers of runs, before there are numbers."""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack, overload

import numpy as np

from germane.checks.data import Data, put_side_by_side
from germane.checks.faulty_rows import Side, read_qrels, read_run
from germane.checks.removals import (
    attach_candidates,
    count_unreachable,
    explain_unmatched,
    select_ranked,
)
from germane.checks.table import TABLE
from germane.checks.unmatched import Corpus
from germane.core.calls import Progress, make_progress
from germane.core.finding import SEVERITIES, Finding, Severity, sort_by_severity
from germane.core.policy import Policy
from germane.core.qrels import Qrels
from germane.errors import GermaneError, make_visible
from germane.evaluation.choices import DEFAULT, Choices, Judgments, Run, Texts
from germane.evaluation.collection import find_needs
from germane.evaluation.evaluate import evaluate
from germane.evaluation.opening import Inputs, open_data
from germane.measures.measure import Measure, Measures
from germane.output.documents import Document
from germane.output.named_columns import Tabular, make_texts
from germane.output.tables import Sheet, Table
from germane.readers import (
    QrelsInput,
    RunInput,
    find_candidates,
    is_path,
    open_inputs,
    open_pairs,
    open_qrels,
)
from germane.readers.objects import numbers
from germane.readers.objects.mappings import is_column
from germane.readers.options.texts import open_texts

__all__ = ["Checkup", "check"]


class Checkup(Tabular, Document):
    """Findings, the serious ones first: a list, and a frame with one row per finding.

    >>> found = germane.check({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}}, "AP")
    >>> found.serious[0].what
    'missing queries'
    """

    _json = "runs findings=_findings"

    def __init__(
        self, findings: Sequence[Finding], runs: Sequence[str], checks: int = len(TABLE)
    ) -> None:
        self._findings, self.runs = sort_by_severity(findings), tuple(runs)
        self._checks = checks

    @overload
    def __getitem__(self, row: int) -> Finding: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Finding]: ...
    def __getitem__(self, at: int | slice) -> Finding | Sequence[Finding]:
        return self._findings[at]

    def __len__(self) -> int:
        return len(self._findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._findings)

    def __contains__(self, finding: object) -> bool:
        return finding in self._findings

    def __reversed__(self) -> Iterator[Finding]:
        return reversed(self._findings)

    def of(self, severity: Severity) -> tuple[Finding, ...]:
        """Select the findings of one severity."""
        return tuple(finding for finding in self if finding.severity == severity)

    @property
    def serious(self) -> tuple[Finding, ...]:
        """The findings that make a number probably not the one you want."""
        return self.of("serious")

    def __str__(self) -> str:
        return Sheet(*self._lines()).text()

    def __repr__(self) -> str:
        return make_visible(f"<Checkup of {', '.join(self.runs)}: {self.summary}>")

    @property
    def summary(self) -> str:
        """The number of findings of each severity."""
        counts = [(len(self.of(severity)), severity) for severity in SEVERITIES]
        parts = [
            f"{count} {severity}{'s' * (severity == 'note' and count > 1)}"
            for count, severity in counts
            if count
        ]
        return ", ".join(parts) or f"nothing found in {self._checks} checks"

    def _lines(self) -> Iterator[str]:
        yield self.summary
        for finding in self:
            where = f"{finding.where}: " if finding.where else ""
            yield from ("", f"{finding.severity}: {finding.what}", f"  {where}{finding.says}.")
            yield from (f"    {example}" for example in finding.examples)
            if finding.examples and finding.count > len(finding.examples):
                yield "    …"
            yield f"  {finding.advice}"

    def _list_columns(self) -> dict[str, Any]:
        def list_texts(name: str) -> Any:
            return make_texts(getattr(finding, name) for finding in self)

        counts = np.array([finding.count for finding in self], np.int64)
        return {
            "severity": list_texts("severity"), "finding": list_texts("what"),
            "where": list_texts("where"), "count": counts, "says": list_texts("says"),
            "examples": make_texts("\n".join(finding.examples) for finding in self),
            "advice": list_texts("advice"),
        }  # fmt: skip

    def table(self) -> Table:
        """One row per finding."""
        rows = tuple((finding.severity, finding.what, str(finding)) for finding in self)
        return Table(
            ("severity", "finding", "what, where, and what to do"), rows, (self.summary,), (1, 2)
        )


def check(
    qrels: Judgments,
    run: Run,
    measures: Measures = DEFAULT,
    *,
    train: Judgments | None = None,
    queries: Texts | None = None,
    items: Texts | None = None,
    progress: Progress | bool | None = None,
    **policy: Unpack[Choices],
) -> Checkup:
    """Check qrels and a run for problems that can distort your results.

    >>> run = {"q1": {"d1": 2.0, "d2": 1.0}, "Q2": {"d3": 1.0}}
    >>> print(germane.check({"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}, run, "AP")[0])
    run: 1 of 2 judged queries is missing from the run and counts as empty: 'q2'. The run has ...

    ``qrels``, ``run`` and the conventions are the same as for ``evaluate``: options such as
    ``collapse``, ``exclude`` and ``own`` select the results that are checked, and a convention such
    as ``missing="skip"`` settles a finding. To check several runs, pass ``{name: run}``.
    ``measures`` determine the cutoffs. ``train`` are the judgments that the system was trained on:
    queries and judgments that are also in ``qrels`` become findings, and so do results that a query
    or user has there. ``queries`` and ``items`` are
    texts by id, as in ``explain``: a query that has the text of an item becomes a finding. The
    check does not stop at the first fault: it counts the lines that cannot be read, and checks the
    others. Raises InputError for data that cannot be read at all, CoverageError if ``exclude`` or
    ``only`` are about other queries, and MeasureError.
    """
    progress = make_progress(progress)
    inputs = open_data(qrels, policy)
    qrels, reading, conventions = inputs.qrels, inputs.options.held, inputs.conventions
    runs: Any = run if _is_named(run) else {None: run}
    chosen = inputs.options.read_measures(measures)
    needs = find_needs(chosen, ())
    judgments: QrelsInput | None = None
    judged: Side | None = None
    learned: Side | None = None
    if train is not None:
        pairs = open_pairs(train, "train", reading.columns, reading.input_format)
        learned = read_qrels(pairs or open_qrels(train, reading), progress)
    corpus: Corpus | None = None
    if queries is not None or items is not None:
        corpus = Corpus(open_texts(queries, "queries"), open_texts(items, "items"))
    attached = find_candidates(qrels, reading)
    candidates: Qrels | None = None
    plain = reading.leave_candidates()
    findings: list[Finding] = []
    data: list[Data] = []
    names: list[str] = []
    for name, given in runs.items():
        judgments, opened = open_inputs(qrels, given, plain, judgments)
        if judged is None:
            judged = read_qrels(judgments, progress, needs.subtopics)
        side = read_run(opened, progress)
        if name is not None and side.where == "run":
            side = replace(side, where=name)
        if attached is not None and candidates is None:
            judged, candidates = attach_candidates(judged, attached)
        duplicates = opened.decide_duplicates(conventions.duplicates)
        ranked = select_ranked(side, duplicates, candidates, conventions)
        sides = put_side_by_side(judged, ranked.run, chosen, tuple(data), learned)
        sides.ties = inputs.options.make_policy(opened.ties).ties
        sides.has_distances = conventions.scores == "distances"
        sides.corpus, sides.candidates, sides.emptied = corpus, candidates, ranked.emptied
        sides.is_selected = ranked.is_selected
        sides.has_places = conventions.ranks == "places"
        if candidates is not None:
            sides.unreachable = count_unreachable(candidates, candidates.candidates)
            if not sides.is_selected:
                sides.unmatched = explain_unmatched(
                    candidates, candidates.candidates, ranked.run.items
                )
        of_run = [
            finding for finding in _find(sides, progress) if not _is_settled(finding, conventions)
        ]
        if not any(finding.what in REFUSED for finding in of_run) and not any(
            map(_is_pipe, (qrels, given))
        ):
            sides.refusal = _find_refusal(inputs.judge(judgments), opened, chosen)
            of_run += TABLE[-1].find(sides)
        findings += of_run
        data.append(sides)
        names.append(name or opened.name)
    return Checkup(list(dict.fromkeys(findings)), names)


def _is_named(run: Any) -> bool:
    """Is this ``{name: run}``? In ``{query: results}`` items have no further level."""
    if not isinstance(run, Mapping):
        return False
    first_results: Any = next(iter(run.values()), None)
    if isinstance(first_results, Mapping):
        inner = next(iter(first_results.values()), None)
        return isinstance(inner, (Mapping, list, tuple, set, frozenset)) or numbers.is_array(inner)
    if isinstance(first_results, (str, os.PathLike, RunInput)):
        return True
    frame = hasattr(first_results, "__arrow_c_stream__") and not is_column(first_results)
    return frame or (numbers.is_array(first_results) and len(first_results.shape) == 2)


_SETTLING = {
    "missing queries": ("missing", "skip"),
    "queries not judged": ("unknown", "zero"),
    "nothing relevant": ("no_relevant", "skip"),
}
"""Findings, and the word of a convention under which they are meant."""


def _is_settled(finding: Finding, policy: Policy) -> bool:
    """Is a finding meant, under the conventions of the caller?"""
    if finding.what == "repeated results":
        return policy.duplicates != "error"
    if finding.what == "repeated judgments":
        return policy.judged_twice != "error"
    name, word = _SETTLING.get(finding.what, ("ties", ""))
    return bool(getattr(policy, name) == word)


REFUSED = frozenset(row.name for row in TABLE if row.evaluate == "error")
"""Findings about data that evaluate refuses."""


def _is_pipe(raw: Any) -> bool:
    """Is this read once, and not again by evaluate?"""
    return is_path(raw) and not os.path.isfile(raw) and not os.path.isdir(raw)


def _find_refusal(inputs: Inputs, run: RunInput, measures: tuple[Measure, ...]) -> str:
    """Find why evaluate refuses the data; "" where it does not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the table has found the same
        try:
            evaluate(inputs, run, measures)
        except GermaneError as error:
            return str(error)
    return ""


def _find(data: Data, progress: Progress | None) -> Iterator[Finding]:
    """Run the checks of the table; if the files are swapped, report only that."""
    if swapped := list(TABLE[0].find(data)):
        yield from swapped
        return
    for place, row in enumerate(TABLE[1:-1]):
        if progress is not None:
            progress(f"{data.run.where} for {row.name}", place, len(TABLE))
        if row.side == "qrels" or not row.needs_judgments or len(data.qrels):
            yield from row.find(data)
