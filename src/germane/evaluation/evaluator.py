"""Evaluator: a run that arrives in batches, from one process or from many."""

import contextlib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from threading import Lock
from typing import Any, Literal, Self, TypeAlias, Unpack

import numpy as np

from germane.checks.evaluated import check_batch
from germane.core.calls import Progress, make_progress
from germane.core.policy import Policy
from germane.core.qrels import Qrels
from germane.errors import (
    EmptyError,
    GermaneError,
    InputError,
    PolicyError,
    check_choice,
    clip,
    write_option,
)
from germane.evaluation.batches import TWICE, Read, Reduced, Tally, Terms, Twice, Way, find_way
from germane.evaluation.choices import DEFAULT, Choices, Judgments, Plan, Run
from germane.evaluation.collection import refuse_places, retrieve
from germane.evaluation.evaluate import finish_result
from germane.evaluation.fingerprints import (
    KeptFingerprint,
    OptionFingerprints,
    check_same,
    hash_run,
    make_fingerprint,
)
from germane.evaluation.judging import judge
from germane.evaluation.opening import Inputs, open_data
from germane.evaluation.result import Result
from germane.evaluation.signature_line import Signature
from germane.evaluation.whole_lists import (
    Counted,
    Tallies,
    collect_batches,
    count_batch,
    merge_batch,
    refuse_copies,
)
from germane.kernel.content import Content
from germane.measures.measure import Measure, Measures
from germane.readers import RunInput, is_path
from germane.readers.objects.frame_qrels import join_judgments

Sign: TypeAlias = Literal["qrels", "run"]
SIGNS: tuple[Sign, ...] = ("qrels", "run")


class Evaluator:
    """Evaluates a run that arrives in batches of whole queries.

    >>> qrels = {"q1": {"d1": 1}, "q2": {"d3": 2}}
    >>> one, other = germane.Evaluator(qrels, "AP"), germane.Evaluator(qrels, "AP")
    >>> one.update({"q1": {"d1": 0.9, "d2": 0.8}})
    >>> other.update({"q2": {"d4": 0.7, "d3": 0.6}})
    >>> one.merge(other).result()["AP"].mean
    0.75

    The result equals that of ``evaluate`` on all batches at once, to the last bit, in whatever
    order they arrive. The arguments are the same as for ``evaluate``. ``sign="run"`` hashes the
    rows of every batch, so that the result has the fingerprint of the whole run. ``twice`` decides
    what happens if a query arrives again: ``error`` refuses it; ``same`` counts copies with the
    same ranks once, as distributed samplers produce them, and refuses copies that differ; ``first``
    counts the first one.

    An Evaluator keeps the judgments and the hits, but nothing else of a run, and can be pickled.
    For measures of the catalogue it also keeps the users and a count for each item; ``twice`` has
    to be ``error`` then. Several threads may call its methods. Raises what ``evaluate`` raises.
    """

    def __init__(
        self,
        qrels: Judgments,
        measures: Measures = DEFAULT,
        *,
        twice: Twice = "error",
        sign: Sign = "qrels",
        **policy: Unpack[Choices],
    ) -> None:
        check_choice("twice", twice, TWICE)
        check_choice("sign", sign, SIGNS, InputError)
        if sign == "run" and twice != "error":
            raise InputError(
                f"sign=run hashes all rows that arrive, but with twice={twice} some of them do not"
                " count. Leave out one of the two."
            )
        self._content = Content() if sign == "run" else None
        if policy.get("group") is not None:
            raise InputError(
                "group= is for a single flat array; pass batches as {query: {item: score}}."
            )
        data = open_data(qrels, policy)
        self._measures, self._twice, self._options = measures, twice, data.options.hold()
        plan = data.options.make_plan(measures, data.conventions)
        self._policies = plan.policies
        refuse_copies(self._policies, twice)
        read = data.collect(None, plan.policies, plan.groups)
        self._qrels = {_find_judging(group): read.read_qrels(group) for group in plan.groups}
        self._conventions: Policy | None = None  # those of the batches, once there is one
        self._tallies: dict[Way, Tally] = {}
        self._lists: Tallies = {}
        self._batches = self._empty = 0
        self.run_fingerprint: Callable[[], str | None] | None = None  # of a file of all batches
        self._lock = Lock()

    def __repr__(self) -> str:
        arrived = [*map(len, self._tallies.values()), 0][0]
        return f"<Evaluator: {self._batches:,} batches, {arrived:,} judged queries>"

    @property
    def qrels(self) -> Qrels:
        """The judgments."""
        return next(iter(self._qrels.values()))

    def update(
        self, batch: Run, *, name: str | None = None, progress: Progress | bool | None = None
    ) -> None:
        """Add a batch of whole queries: anything that ``evaluate`` takes as a run.

        ``name`` is what errors call it. A batch with an error in it is left out whole.
        """
        reduced = self.reduce(batch, name=name, progress=progress)
        with _name_batch(name or ("" if is_path(batch) else f"batch {self._batches + 1}")):
            self.add(reduced)

    def reduce(
        self, batch: Run, *, name: str | None = None, progress: Progress | bool | None = None
    ) -> Reduced | None:
        """Reduce a batch of whole queries to what ``add`` takes, without adding it.

        One process can reduce a batch and another add it: the reduced batch has less than 100 bytes
        for each judged item retrieved, and none of the judgments. It is None for a batch without
        rows.
        """
        progress = make_progress(progress)
        is_file = is_path(batch)
        with _name_batch(name or ("" if is_file else f"batch {self._batches + 1}")):
            data = Inputs(self.qrels, self._options.leave_attached())
            run, conventions = data.open_run(batch)
            if self._content is not None:
                run = run.sign()
            policies = self.find_policies(conventions, run)
            try:
                read = self._read(run, policies, progress)
                catalogue = self._options.held.catalogue
                lists = count_batch(run, catalogue, policies, self._judgments)
                content = None if self._content is None else hash_run(run, self.qrels)
                return Reduced(conventions, policies, read, self.terms, lists, content)
            except EmptyError:
                if is_file:
                    raise
                return None  # a part of a distributed run may be empty

    def add(self, reduced: Reduced | None) -> None:
        """Add a batch that ``reduce`` made, here or in a process with the same arguments."""
        if not isinstance(reduced, Reduced | None):
            raise InputError(f"add takes what reduce returned; got {clip(reduced)}")
        if reduced is None:
            with self._lock:
                self._empty += 1
        else:
            is_own = reduced.terms is self.terms
            mine, their_terms = ({}, {}) if is_own else (self.terms.words, reduced.terms.words)
            for term in sorted({*mine, *their_terms}):
                first, second = (terms.get(term, "germane's own") for terms in (mine, their_terms))
                if first != second:
                    raise PolicyError(
                        f"this was reduced by an Evaluator that differs in {term}: it has"
                        f" {clip(second)}, but the one that adds it has {clip(first)}."
                    )
            with self._lock:
                self._add(reduced.conventions, reduced.policies, reduced.read, reduced.lists)
                self._batches += 1
                if self._content is not None and reduced.content is not None:
                    self._content += reduced.content

    def merge(self, other: "Evaluator") -> Self:
        """Add the batches of another Evaluator with the same qrels, measures and conventions.

        Returns itself, so that ``functools.reduce(Evaluator.merge, evaluators)`` adds up many.
        """
        if not isinstance(other, Evaluator):
            raise InputError(f"merge takes an Evaluator; got {clip(other)}")
        self._check_alike(other)
        with other._lock:
            conventions, policies, batches = other._conventions, other._policies, other._batches
            empty, content = other._empty, other._content
            read = {way: tally.as_batch() for way, tally in other._tallies.items()}
            lists = collect_batches(other._lists)
        with self._lock:
            if conventions is not None:
                self._add(conventions, policies, read, lists)
                self._batches += batches
                if self._content is not None and content is not None:
                    self._content += content
            self._empty += empty
        return self

    def result(self, *, name: str = "run") -> Result:
        """The measures of all batches so far. Raises EmptyError where there are none."""
        with self._lock:
            if self._conventions is None:
                raise EmptyError(
                    "there is nothing to evaluate: all batches so far were empty"
                    f" ({self._empty:,})."
                    if self._empty
                    else "there is no batch yet; add one with update(batch)."
                )
            read = {way: tally.collect() for way, tally in self._tallies.items()}
            plan = Plan(self._conventions, self._policies)
            lists = {
                policy: partial(lambda value: value, batch)
                for policy, batch in collect_batches(self._lists).items()
            }
        judged = [
            replace(
                judge(self._judgments(group), read[find_way(group)], group), lists=lists.get(group)
            )
            for group in plan.groups
        ]
        signed = None if self._content is None else str(self._content)
        fingerprint = self.run_fingerprint or KeptFingerprint(signed)
        reading, dialect = self._options.held, self._options.dialect
        return finish_result(name, plan, judged, reading, dialect, run_fingerprint=fingerprint)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures."""
        return tuple(self._policies)

    def _judgments(self, policy: Policy) -> Qrels:
        return self._qrels[_find_judging(policy)]

    def find_policies(self, conventions: Policy, run: RunInput) -> dict[Measure, Policy]:
        """Find the conventions of each measure for a batch, which may have an order of ties."""
        if conventions == self._conventions:
            return self._policies
        plan = self._options.make_plan(self._measures, conventions)
        for group in plan.groups:
            refuse_places(run, group)
        return plan.policies

    def _read(
        self, run: RunInput, policies: Mapping[Measure, Policy], progress: Progress | None
    ) -> Read:
        """Match a batch with the judgments; only those of its own queries if it knows these."""
        read: Read = {}
        for policy in policies.values():
            way = find_way(policy)
            if way in read:
                continue
            qrels = run.prepare_qrels(self._judgments(policy))
            self._qrels[_find_judging(policy)] = qrels
            places = run.find_judged(qrels)
            if places is None:
                places = np.arange(len(qrels))
            elif len(places) < len(qrels):
                qrels = qrels.some(places)
            retrieved = retrieve(qrels, run, policy, progress)
            retrieved = replace(
                retrieved, sample=None, findings=check_batch(qrels, retrieved, policy)
            )
            read[way] = retrieved, places
        return read

    def _add(
        self,
        conventions: Policy,
        policies: dict[Measure, Policy],
        read: Read,
        lists: Counted,
    ) -> None:
        """Add what was read, all of it or nothing."""
        if self._conventions not in (None, conventions):
            raise PolicyError(
                f"this batch is ordered by ties={conventions.ties}, earlier ones by"
                f" ties={self._conventions.ties}, because some are ranked lists and others have"
                f" scores. Choose one for all with {write_option('ties', '…')}."
            )
        tallies = self._tallies or {
            find_way(policy): Tally(self._judgments(policy)) for policy in policies.values()
        }
        new = {way: tallies[way].select_new(*read[way], self._twice) for way in read}
        self._lists = merge_batch(self._lists, lists, self._options.held.catalogue, policies)
        for way, (retrieved, places) in read.items():
            tallies[way].add(retrieved, places, new[way])
        self._conventions, self._policies, self._tallies = conventions, policies, tallies

    @cached_property
    def terms(self) -> Terms:
        """The choices that another Evaluator must share for its batches to mean the same."""
        return Terms(self._describe_terms)

    def _describe_terms(self) -> dict[str, str]:
        """Describe the choices, the judgments and their order, which gives batches places."""
        qrels = self.qrels
        places = zlib.crc32("\0".join(map(str, qrels.queries)).encode("utf-8", "surrogatepass"))
        for column in (qrels.offsets, qrels.grades):
            places = zlib.crc32(np.ascontiguousarray(column).data, places)
        dialect = self._options.dialect
        choices = self._options.asked.items()
        chosen = {
            name: str(word) for name, word in choices if word != Policy.DEFAULTS.get(name, word)
        }
        fingerprint = Signature.shorten(make_fingerprint(qrels))
        return (
            chosen
            | self._selections
            | {
                "sign": "qrels" if self._content is None else "run",
                "measures": " ".join(map(str, self._policies)),
                "dialect": "none" if dialect is None else dialect.name,
                "qrels": f"{len(qrels)} queries, {fingerprint}, {places:x}",
            }
        )

    @cached_property
    def _selections(self) -> dict[str, str]:
        """The fingerprints of the groups, the candidates and the catalogue."""
        contents = OptionFingerprints(self.qrels, self._options.held)()
        return {
            name: Signature.shorten(content) or "a function" for name, content in contents.items()
        }

    def _check_alike(self, other: "Evaluator") -> None:
        """Raise PolicyError or InputError for an Evaluator that adds up to something else."""
        mine, their_selections = self._selections, other._selections
        selections = [
            (name, mine.get(name, "none"), their_selections.get(name, "none"))
            for name in sorted({*mine, *their_selections})
        ]
        for noun, first, two in (
            ("measures", list(map(str, self._policies)), list(map(str, other._policies))),
            ("dialect", self._options.dialect, other._options.dialect),
            ("twice", self._twice, other._twice),
            (
                "sign",
                *(("qrels", "run")[evaluator._content is not None] for evaluator in (self, other)),
            ),
            *_pair_conventions(self._options.asked, other._options.asked),
            *selections,
        ):
            if first != two:
                raise PolicyError(
                    f"the evaluators differ in {noun}: {clip(first)} and {clip(two)}."
                )
        for way, qrels in self._qrels.items():
            check_same(qrels, other._qrels[way])

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            left_out = {"_lock", "_selections"}
            if not self.terms.are_described:
                left_out.add("terms")
            state = {name: value for name, value in self.__dict__.items() if name not in left_out}
            state["_tallies"] = {way: tally.as_batch() for way, tally in self._tallies.items()}
            lists = collect_batches(self._lists)
            state["_lists"] = {policy: counted.send() for policy, counted in lists.items()}
        # columns of a file's text are made of it when they are needed, and twice as large
        state["_qrels"] = {
            way: replace(qrels, columns=None if qrels.ids == "text" else qrels.columns)
            for way, qrels in self._qrels.items()
        }
        return state

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = Lock()
        self._tallies, self._lists = {}, {}
        if self._conventions is not None:
            self._add(self._conventions, self._policies, state["_tallies"], state["_lists"])


def join_evaluators(parts: Sequence[Evaluator]) -> Evaluator:
    """Join several with judgments of different queries. Raises EmptyError for no judgment."""
    first = parts[0]
    joined = Evaluator.__new__(Evaluator)
    qrels = {way: join_judgments([part._qrels[way] for part in parts]) for way in first._qrels}
    count = sum(part._batches for part in parts)
    empty = sum(part._empty for part in parts)
    contents = [part._content for part in parts if part._content is not None]
    own_state = {
        "_qrels": qrels,
        "_content": sum(contents, Content()) if contents else None,
        "_conventions": None,
        "_tallies": {},
        "_lists": {},
        "_batches": count,
        "_empty": empty,
    }
    joined.__dict__.update(first.__dict__ | own_state, _lock=Lock())
    joined.__dict__.pop("terms", None)  # those of a part
    start = 0
    for part in parts:
        if part._conventions is not None:
            batches = {way: tally.as_batch() for way, tally in part._tallies.items()}
            read = {
                way: (retrieved, places + start) for way, (retrieved, places) in batches.items()
            }
            joined._add(part._conventions, part._policies, read, collect_batches(part._lists))
        start += len(next(iter(part._qrels.values())))
    return joined


def _find_judging(policy: Policy) -> tuple[str, str]:
    """Find the choices of a policy on which the judgments depend."""
    return policy.judged_twice, policy.grades


def _pair_conventions(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> Iterator[tuple[str, object, object]]:
    """Pair the conventions that were asked for; options for reading files are left out."""
    for name in sorted({*first, *second} & set(Policy.DEFAULTS)):
        usual = Policy.DEFAULTS[name]
        yield name, first.get(name, usual), second.get(name, usual)


@contextlib.contextmanager
def _name_batch(batch: str) -> Iterator[None]:
    """Name the batch in every error; errors of a file name the file already."""
    try:
        yield
    except GermaneError as error:
        if not batch:
            raise
        raise type(error)(f"{batch}: {error}") from None
