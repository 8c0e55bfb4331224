"""Segments: systems compared in each group of queries or users, corrected for their number."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from numpy.random import Generator

from germane.comparison.comparison import Comparison
from germane.comparison.comparison_tables import (
    describe_significance,
    list_pair_columns,
    write_ends,
)
from germane.comparison.pair import Pair, compare_parts, format_p_number
from germane.comparison.samples import (
    Runs,
    Sample,
    SharedQueries,
    find_shared_queries,
    match_samples,
)
from germane.comparison.sequential import choose_test
from germane.comparison.significance import CORRECTIONS, Settings
from germane.errors import list_some
from germane.evaluation.layout import (
    find_categories,
    name_measures,
    sort_categories,
    write_definition,
)
from germane.measures.measure import Measure
from germane.output.documents import make_document
from germane.output.named_columns import Named, Tabular, make_ids
from germane.output.tables import Table, format_number, write_count


class Segments(Named[Comparison], Tabular):
    """The comparison of the same systems in each segment: a ``Comparison`` by its name.

    >>> qrels = {f"u{n}": ["d"] for n in range(20)}
    >>> runs = {"a": {u: ["x", "d"] for u in qrels}, "b": {u: ["d"] for u in qrels}}
    >>> ages = {user: "new" if user < "u15" else "old" for user in qrels}
    >>> segments = germane.compare(qrels, runs, "RR", by=ages).segments
    >>> {name: segment.means["RR"] for name, segment in segments.items()}
    {'new': {'a': 0.5, 'b': 1.0}, 'old': {'a': 0.5, 'b': 1.0}}
    >>> segments["old"].between("b", "a", "RR").verdict
    'significant'

    Segments are sorted. P-values and the levels of intervals are corrected for all pairs in all
    segments together. As a frame it has a row for each segment, measure and pair.
    """

    _noun, _nouns, _unit = "segment", "segments", "queries"
    remarks: tuple[str, ...] = ()
    """what else a table says"""

    @property
    def counts(self) -> dict[Hashable, int]:
        """Segment → how many queries, or users, were compared."""
        return {name: segment.count for name, segment in self._held.items()}

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures that were compared in the first segment."""
        return next(iter(self._held.values())).measures

    @property
    def pairs(self) -> tuple[tuple[Hashable, Pair], ...]:
        """The pairs of all segments, each with the name of its segment."""
        return tuple((name, pair) for name, segment in self._held.items() for pair in segment.pairs)

    def _list_columns(self) -> dict[str, Any]:
        names, pairs = zip(*self.pairs, strict=True)
        return {self._noun: make_ids(names), **list_pair_columns(pairs)}

    def table(self, *, digits: int | None = 4, rename: Mapping[str, str] | None = None) -> Table:
        """One row a measure, pair and segment: counts, means, difference, interval and p-value."""
        first = next(iter(self._held.values()))
        names = name_measures(first.measures, rename)
        rows = []
        for measure, system, baseline in dict.fromkeys(
            (pair.measure, pair.system, pair.baseline) for _, pair in self.pairs
        ):
            for segment, pair in self.pairs:
                if (pair.measure, pair.system, pair.baseline) != (measure, system, baseline):
                    continue
                means = self._held[segment].means[str(measure)]
                level = pair.interval.level if pair.interval else ""
                rows.append(
                    (
                        names.get(measure, str(measure)), system, baseline, str(segment),
                        str(pair.queries),
                        *(format_number(means[name], digits) for name in (baseline, system)),
                        format_number(pair.difference, digits, sign="+"),
                        *write_ends(pair.interval, digits, "+"), level,
                        format_p_number(pair.p_adjusted, digits), pair.verdict,
                    )
                )  # fmt: skip
        columns = (
            "measure", "system", "baseline", self._noun, self._unit, "baseline mean", "mean",
            "difference", "low", "high", "level", "p adjusted", "verdict",
        )  # fmt: skip
        return Table(columns, tuple(rows), tuple(self._write_notes(names)), (1, 2, 3, 12))

    def _write_notes(self, names: Mapping[Measure, str]) -> Iterator[str]:
        for measure, name in names.items():
            yield f"{name}: {write_definition(measure, name)}"
        first = next(iter(self._held.values()))
        counted = write_count(len(self), self._noun, self._nouns)
        yield f"{counted}; difference: mean of the system less mean of the baseline"
        yield from self.remarks
        yield self.describe_correction()
        yield f"significant: {describe_significance(first.settings.alpha)}"
        if any(sample.users for segment in self._held.values() for sample in segment.samples):
            yield (
                "numbers of all lists, such as Coverage, grow with the users of a segment: compare"
                " runs in a segment, and not segments with each other"
            )

    def describe_correction(self) -> str:
        """Describe the test of the segments, and over how many comparisons it is corrected."""
        first = next(iter(self._held.values()))
        test, family = choose_test(first.settings), first.settings.family
        counts = {sum(pair.measure == m for _, pair in self.pairs) for m in first.measures}
        count = len(self.pairs) if family == "all" else max(counts)
        title = f"{CORRECTIONS[first.settings.correction or 'none'].title} over the {count:,}"
        if test.corrects:
            counted = write_count(len(self), self._noun, self._nouns)
            title = f"Bonferroni over the {counted}, of the {count:,}"
        elif first.settings.correction == "none":
            title = f"uncorrected, though there are {count:,}"
        of = "of all measures" if family == "all" else "of each measure"
        return (
            f"p in {self._nouns}: {test.title}, {title} comparisons {of} in all {self._nouns};"
            " intervals are at the level of their corrected p-values"
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {list_some(list(self._held))}>"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema."""
        return make_document({self._nouns: self.list_documents()})

    def list_documents(self) -> list[dict[str, Any]]:
        """List what JSON has of each segment."""
        return [
            {self._noun: str(name), self._unit: of.count, "means": of.means, "pairs": of.pairs}
            for name, of in self._held.items()
        ]


def compare_segments(
    datasets: Mapping[str, Runs],
    measures: tuple[Measure, ...],
    by: Any,
    settings: Settings,
    rng: Generator,
) -> Segments:
    """Compare the systems in each segment of the queries. Raises NotFoundError for no segment."""
    samples = match_segments(datasets, measures, by)
    every = compare_parts([*samples.values()], settings, rng)
    return Segments(
        {
            name: Comparison(datasets, of_segment, pairs, settings, int(rng.integers(2**63)))
            for (name, of_segment), pairs in zip(samples.items(), every, strict=True)
        }
    )


def match_segments(
    datasets: Mapping[str, Runs], measures: tuple[Measure, ...], by: Any
) -> dict[Hashable, Sequence[Sample]]:
    """Make the samples of each segment. A measure without a value there is left out."""
    shared = find_shared_queries(datasets, measures)
    queries = dict.fromkeys(
        query for of_sets in shared.values() for of_set in of_sets for query in of_set
    )
    names = dict(zip(queries, find_categories([*queries], by), strict=True))
    split: dict[Hashable, dict[Measure, tuple[tuple[Hashable, ...], ...]]] = {}
    for name in sort_categories(names.values()):
        split[name] = {
            measure: tuple(tuple(q for q in of_set if names[q] == name) for of_set in of_sets)
            for measure, of_sets in shared.items()
        }
    return {
        name: samples
        for name, of_segment in split.items()
        if (samples := _match(datasets, of_segment))
    }


def _match(datasets: Mapping[str, Runs], shared: SharedQueries) -> Sequence[Sample]:
    """Make the samples of a segment, in which some data sets may have no query."""
    groups: dict[tuple[bool, ...], dict[Measure, tuple[tuple[Hashable, ...], ...]]] = {}
    for measure, of_sets in shared.items():
        groups.setdefault(tuple(map(bool, of_sets)), {})[measure] = of_sets
    samples: list[Sample] = []
    for present, of_group in groups.items():
        if any(present):
            some = {
                name: runs
                for (name, runs), has in zip(datasets.items(), present, strict=True)
                if has
            }
            queries = {m: tuple(filter(None, of_sets)) for m, of_sets in of_group.items()}
            samples += match_samples(some, tuple(queries), queries)
    return samples
