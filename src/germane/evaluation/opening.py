"""Inputs: the data of a call, opened once with its options. Every verb opens its data here."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from germane.core.calls import Progress
from germane.core.policy import Policy
from germane.core.qrels import Qrels
from germane.dialects.names import parse
from germane.errors import (
    CoverageError,
    EmptyError,
    InputError,
    NotFoundError,
    PolicyError,
    clip,
    write_option,
)
from germane.evaluation.choices import Plan, make_plan, make_policy
from germane.evaluation.collection import (
    Collection,
    find_all_needs,
    find_needs,
    read_graded,
    refuse_places,
    retrieve,
)
from germane.evaluation.judging import JudgedRun, judge, judge_empty
from germane.measures.measure import Measure, Measures
from germane.readers import (
    NOTHING_SAID,
    Needs,
    QrelsInput,
    ReadOptions,
    RunInput,
    accept_comments,
    is_path,
    open_inputs,
    open_judges,
    open_qrels,
    rank_labels,
)

if TYPE_CHECKING:
    from germane.dialects.dialect import Dialect

NO_NEEDS = Needs()
READING = tuple(field.name for field in fields(ReadOptions) if field.name != "lowest")
CATALOGUE = ("catalogue", "seen", "distance")


@dataclass(frozen=True, eq=False)
class Options:
    """The keyword arguments of a call: how its data are read, and its conventions."""

    reading: ReadOptions = NOTHING_SAID
    asked: Mapping[str, Any] = field(default_factory=dict)
    dialect: "Dialect | None" = None
    recorded: Mapping[str, Any] = field(default_factory=dict)  # conventions of an earlier result

    @property
    def usual(self) -> Mapping[str, Any]:
        """The conventions that the dialect or the earlier result has for every measure."""
        return self.recorded if self.dialect is None else self.dialect.choices

    @cached_property
    def held(self) -> ReadOptions:
        """The options for reading, with groups, candidates, catalogues and weights read once."""
        return hold(self.reading)

    def hold(self) -> "Options":
        """Keep what was read, and not what it was read from."""
        return replace(self, reading=self.held)

    @property
    def choices(self) -> dict[str, Any]:
        """The keyword arguments of another call with these options, which reads no file again."""
        reading = {name: getattr(self.held, name) for name in READING}
        reading["dialect"] = self.dialect
        return {
            **{name: value for name, value in reading.items() if value is not None},
            **self.asked,
        }

    def make_policy(self, ties: str | None = None, is_scored: bool = True) -> Policy:
        """Make the policy of a run whose own order of ties is given. Raises PolicyError.

        A tool may take results of a score of 0 for misses where there are scores; who asks for that
        needs them.
        """
        own_choices = {} if ties is None else {"ties": ties}
        policy = make_policy(**{**own_choices, **self.usual, **self.asked})
        if not is_scored and self.asked.get("nonpositive") == "miss":
            raise PolicyError("nonpositive=miss is for scores, but the run has only ranks.")
        return policy

    def read_measures(self, measures: Measures) -> tuple[Measure, ...]:
        """Read names of measures: the dialect's, or germane's and those that tools share."""
        return tuple(self.make_plan(measures, self.make_policy()).policies)

    def read_measure(self, measure: str | Measure) -> Measure:
        """Read the name of one measure, as ``read_measures`` does."""
        if self.dialect is None:
            return parse(measure)
        from germane.dialects.names import resolve_measure

        return resolve_measure(measure, self.dialect).measure

    def make_plan(self, measures: Measures, conventions: Policy) -> Plan:
        """Find the conventions of each measure. Raises InputError for ``seen`` without a use."""
        plan = make_plan(measures, self.dialect, conventions, self.asked)
        if self.reading.seen is not None:
            _refuse_unused(plan.policies)
        return plan

    def leave_attached(self) -> "Options":
        """Leave out what judgments have once they are read: candidates and weights."""
        reading = replace(self.held.leave_candidates(), subtopic_weights=None)
        return replace(self, reading=reading)


def _refuse_unused(measures: Iterable[Measure]) -> None:
    """Refuse ``seen`` for measures that do not look at it: who gives it may mean ``exclude``."""
    if not any(measure.row.of_catalogue for measure in measures):
        raise InputError(
            f"{write_option('seen')} is for measures of the catalogue, such as Novelty@10, and none"
            f" is asked for. {write_option('exclude')} removes the items that users have seen from"
            " their lists."
        )


NO_OPTIONS = Options()


class Held:
    """A run that was opened with the options of a call, and can be read again."""

    def __init__(self, run: RunInput) -> None:
        self.run, self.name = run, run.name


class Inputs:
    """The judgments of a call with its options, and what opens its runs beside them.

    A verb that calls another one gives it in the place of the judgments.
    """

    def __init__(self, qrels: Any, options: Options, *, signs: bool = False) -> None:
        self.qrels, reading = rank_labels(qrels, options.reading)
        self.options = options
        if reading is not options.reading:
            self.options = replace(options, reading=reading)
        self.signs = signs  # are the fingerprints of runs wanted?
        self._judged: QrelsInput | None = None

    @property
    def judged(self) -> QrelsInput:
        """The judgments, which are read once."""
        if self._judged is None:
            self._judged = _remember(open_qrels(self.qrels, self.options.held))
        return self._judged

    @property
    def conventions(self) -> Policy:
        """The policy of all runs, but for the order of ties, which a run may decide."""
        return self.options.make_policy()

    def open_run(self, run: Any) -> tuple[RunInput, Policy]:
        """Recognize a run, and find the policy for it.

        A run has an order of ties of its own where none is asked for. Raises InputError for columns
        that are missing or ambiguous, and PolicyError for a choice that does not exist.
        """
        if isinstance(run, Held):
            opened = run.run
        else:
            reading = self.options.held
            judged, opened = open_inputs(self.qrels, run, reading, self._judged)
            self._judged = self._judged or _remember(judged)
        policy = self.options.make_policy(opened.ties, opened.has_scores)
        refuse_places(opened, policy)
        return opened, policy

    def open_runs(self, runs: Mapping[str, Any]) -> dict[str, Held]:
        """Open runs that are evaluated several times; those of streams are read into memory."""
        check_runs(runs)
        opened = {name: self.open_run(run)[0] for name, run in runs.items()}
        return {
            name: Held(run if is_path(runs[name]) else run.hold()) for name, run in opened.items()
        }

    def read(
        self,
        needs: Needs = NO_NEEDS,
        runs: Iterable[RunInput] = (),
        progress: Progress | None = None,
    ) -> Qrels:
        """Read the judgments, with grades as the policy takes them.

        Lines that begin with ``#`` are data if one of the runs has their query.
        """
        read = read_graded(self.judged, self.conventions, needs, progress)
        for run in runs:
            read = accept_comments(read, run)
        return read

    def read_all(self, why: str, runs: Iterable[RunInput] = ()) -> Qrels:
        """Read the items judged not relevant, too, whatever the measures; ``why`` says what for."""
        return self.read(Needs(complete=why), runs)

    def read_judge(self, needs: Needs = NO_NEEDS, runs: Iterable[RunInput] = ()) -> Qrels:
        """Read all judgments of a judge, of the queries that have some."""
        read = self.read(needs._replace(complete="the agreement of judges"), runs)
        judged = np.diff(read.offsets) > 0
        judged_part = read if judged.all() else read.some(np.flatnonzero(judged))
        return replace(judged_part, source=replace(judged_part.source, width=None))

    def collect(
        self,
        run: RunInput | None,
        measures: Iterable[Measure],
        policies: Iterable[Policy] | None = None,
        progress: Progress | None = None,
    ) -> Collection:
        """Put the judgments together with a run that was opened beside them.

        They are read for these measures under the policies, or without any under all policies.
        """
        measures = tuple(measures)
        needs = find_all_needs(measures) if policies is None else find_needs(measures, policies)
        return Collection(self.judged, run, needs, progress)

    def judge_query(
        self,
        run: RunInput,
        query: Hashable | None,
        measures: Iterable[Measure],
        policy: Policy,
        progress: Progress | None = None,
    ) -> tuple[JudgedRun, RunInput | None]:
        """Judge one query of a run, and select its rows; an empty list where the run lacks it.

        Only the rows of the query are read. Raises NotFoundError for a query without judgments, and
        where none of several is chosen; and CoverageError for one that the run lacks, unless it
        counts under the policy. Where no other query is judged, the run answers none of the qrels,
        and nothing is counted.
        """
        judgments = self.read(find_needs(measures, (policy,)), [run])
        has_others = len(judgments) > 1
        if query is None and has_others:
            raise NotFoundError(
                f"{len(judgments)} queries are judged; choose one with query=… (--query)."
            )
        if query is not None:
            judgments = judgments.only(query)
        selected = run.select(judgments, policy.duplicates, progress)
        if selected is not None:
            retrieved = retrieve(judgments, selected, policy)
            lists = retrieved.retrieved if policy.empty == "missing" else retrieved.answered
            if lists.any():
                return judge(judgments, retrieved, policy), selected
        lacks = f"the run has no results for query {clip(judgments.queries[0])}"
        if policy.missing == "skip":
            raise CoverageError(
                f"{lacks}, and {write_option('missing', 'skip')} leaves it out;"
                f" {write_option('missing', 'zero')} counts it as empty."
            )
        if policy.missing == "error" or not has_others:
            raise CoverageError(f"{lacks}.")
        return judge_empty(judgments, policy), None

    def split_judges(self) -> dict[Any, "Inputs"]:
        """Make inputs of each judge: judgments by name, or with a column that names the judge.

        Judgments that are read from them have no candidates and no weights.
        """
        judges = self.qrels
        if not isinstance(judges, Mapping):
            judges = open_judges(judges, self.options.held)
        return {name: self.judge_by(judgments) for name, judgments in judges.items()}

    def judge(self, judged: QrelsInput) -> "Inputs":
        """Make inputs of judgments that were recognized without candidates."""
        return Inputs(judged, self.options)

    def judge_by(self, qrels: Any) -> "Inputs":
        """Make inputs with other judgments, which have candidates and weights already."""
        return Inputs(qrels, self.options.leave_attached())


def open_options(choices: Mapping[str, Any]) -> Options:
    """Sort the keyword arguments of a call. Raises InputError for those that do not go together."""
    if not choices:
        return NO_OPTIONS
    if choices.get("policy") is not None:
        choices = unpack_policy(choices)
    dialect = None
    if choices.get("dialect") is not None:
        from germane.dialects import resolve_dialect

        dialect = resolve_dialect(choices["dialect"])
    reading_choices = {name: choice for name, choice in choices.items() if name in READING}
    not_conventions = (*READING, "dialect", "policy")
    conventions = {name: word for name, word in choices.items() if name not in not_conventions}
    usual = {} if dialect is None else dialect.choices
    scores = conventions.get("scores", usual.get("scores"))
    lowest = isinstance(scores, str) and scores == "distances"
    reading = (
        ReadOptions(**reading_choices, lowest=lowest) if reading_choices or lowest else NOTHING_SAID
    )
    return Options(reading, conventions, dialect)


def unpack_policy(choices: Mapping[str, Any]) -> dict[str, Any]:
    """Write a policy as the conventions in which it differs from germane's own.

    Raises PolicyError for what is no policy, and for a convention that is chosen twice.
    """
    policy = choices["policy"]
    if not isinstance(policy, Policy):
        raise PolicyError(
            f"policy= takes a germane.Policy; got {clip(policy)}. A single convention is an"
            " argument of its own: ties='best'."
        )
    chosen = {name: getattr(policy, name) for name in Policy.DEFAULTS}
    chosen = {name: word for name, word in chosen.items() if word != Policy.DEFAULTS[name]}
    stated = {name: word for name, word in choices.items() if name != "policy"}
    for name in chosen.keys() & stated.keys():
        if chosen[name] != stated[name]:
            raise PolicyError(
                f"{name} is chosen twice: {clip(stated[name])}, and {clip(chosen[name])} in policy="
            )
    return {**chosen, **stated}


def open_data(qrels: Any, choices: Mapping[str, Any], *, signs: bool = False) -> Inputs:
    """Open the data of a call; inputs that another verb opened stay as they are.

    ``signs``: the fingerprints of runs are wanted.
    """
    if isinstance(qrels, Inputs):
        return qrels
    return Inputs(qrels, open_options(choices), signs=signs)


def check_runs(runs: Any) -> None:
    """Refuse runs that are not a mapping of name to run. Raises InputError and EmptyError."""
    if not isinstance(runs, Mapping):
        raise InputError(f"runs are a mapping of name to run; got {clip(runs)}")
    if not runs:
        raise EmptyError("there are no runs to evaluate.")
    if wrong := [name for name in runs if not isinstance(name, str)]:
        raise InputError(f"runs are named by text; got {clip(wrong[0])}")


def hold(reading: ReadOptions) -> ReadOptions:
    """Read groups, candidates, catalogues and weights of subtopics, so that they are read once."""
    if reading is NOTHING_SAID:
        return reading
    if any(getattr(reading, name) is not None for name in CATALOGUE):
        from germane.readers.options.catalogues import read_options

        options = read_options(reading)
        reading = replace(reading, catalogue=options, seen=None, distance=None)
    if reading.subtopic_weights is not None:
        from germane.readers.options.pairs import open_weights

        reading = replace(reading, subtopic_weights=open_weights(reading))
    if reading.collapse is not None:
        from germane.readers.options.item_groups import open_groups

        reading = replace(reading, collapse=open_groups(reading.collapse))
    if not reading.has_candidates:
        return reading
    from germane.readers.options.pairs import hold_candidates

    return hold_candidates(reading)


def _remember(judged: QrelsInput) -> QrelsInput:
    """Read judgments once for each way of reading them."""
    read_before: dict[tuple[str, Needs], Qrels] = {}

    def read(duplicates: str, progress: Progress | None, needs: Needs) -> Qrels:
        way = duplicates, needs
        if way not in read_before:
            read_before[way] = judged.read(duplicates, progress, needs)
        return read_before[way]

    return replace(judged, read=read)
