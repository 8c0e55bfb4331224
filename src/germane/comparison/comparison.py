"""Comparison: the outcome of comparing systems, and how stable their order is."""

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from germane._version import VERSION
from germane.comparison.comparison_tables import (
    count_verdicts,
    list_pair_columns,
    make_leaderboard,
    make_pair_table,
    write_notes,
)
from germane.comparison.pair import Pair
from germane.comparison.query_differences import (
    ForestDisplay,
    QueryDifference,
    QueryDifferences,
    find_moves,
)
from germane.comparison.samples import Runs, Sample, resample_sums
from germane.comparison.significance import Settings
from germane.core.ragged import ROUNDING, Floats, subtract_values, unite_equal
from germane.errors import MeasureError, NotFoundError, clip, make_visible, offer
from germane.evaluation.layout import name_measures
from germane.evaluation.result import Result
from germane.measures import find_direction
from germane.measures.measure import Measure, is_name
from germane.output.documents import Plain, make_document
from germane.output.named_columns import Columnar, Tabular
from germane.output.tables import Reader, Sheet, Table, escape_html, format_number
from germane.presentation.pictures import Paper

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from germane.comparison.segments import Segments
    from germane.evaluation.result import Result, Results


@dataclass(frozen=True)
class Standing:
    """A system's place on the leaderboard of one measure, and on those of resampled queries."""

    system: str
    mean: float
    rank: int  # 1 is the best; equal means share the first of their ranks
    low: int  # the range of its ranks in resampled queries, at the comparison's confidence
    high: int
    first: float  # how often it is the best, alone or together with others


@dataclass(frozen=True)
class Stability(Tabular, Plain):
    """How often the order of systems on one measure survives bootstrapping the queries.

    >>> runs = {"a": {"q": ["d"], "p": ["e"]}, "b": {"q": ["x", "d"], "p": ["x", "e"]}}
    >>> germane.compare({"q": ["d"], "p": ["e"]}, runs, "RR").stability("RR").whole
    1.0
    """

    _json = "measure whole tau neighbors standings"

    measure: Measure
    standings: tuple[Standing, ...]  # best first
    whole: float
    """how often no two systems change places"""
    neighbors: tuple[float, ...]
    """how often each system stays ahead of the next one"""
    tau: float
    """the mean Kendall τ between the leaderboard and those of resampled queries"""
    resamples: int
    confidence: float

    def table(self, *, digits: int | None = 4) -> Table:
        """One row per system, best first."""
        number = partial(format_number, digits=digits)
        ahead = (*map(number, self.neighbors), "")
        rows = tuple(
            (s.system, number(s.mean), str(s.rank), f"{s.low}–{s.high}", number(s.first), stays)
            for s, stays in zip(self.standings, ahead, strict=True)
        )
        share = f"kept whole in {self.whole:.1%} of {self.resamples:,} bootstrap samples"
        notes = (
            f"{self.measure}: {self.measure.definition}",
            f"order: {share} of the queries; mean Kendall τ {self.tau:.3f}",
            f"likely ranks: the middle {100 * self.confidence:g}% of the samples",
            "first: how often it is the best; ahead: how often it stays ahead of the next one",
        )
        columns = ("run", str(self.measure), "rank", "likely ranks", "first", "ahead")
        return Table(columns, rows, notes)


def _measure_stability(
    measure: Measure, systems: Sequence[str], means: Floats, drawn: Floats, confidence: float
) -> Stability:
    """Compare the means of S systems with their S × B means on resampled queries."""
    direction = -1.0 if find_direction(measure.name) < 0 else 1.0
    order = np.argsort(-direction * unite_equal(means), kind="stable")
    means, drawn = direction * means[order], direction * drawn[order]
    near = ROUNDING * float(np.abs(means).max())  # equal means of resamples may differ by rounding
    ranks, places = np.ones(drawn.shape, int), np.ones(len(means), int)
    in_order = np.ones(drawn.shape[1], bool)
    agree, untied, strict = np.zeros(drawn.shape[1]), np.zeros(drawn.shape[1]), 0
    for better, worse in combinations(range(len(means)), 2):
        lead = drawn[better] - drawn[worse]
        sign = (lead > near).astype(int) - (lead < -near)
        ranks[worse] += sign > 0
        ranks[better] += sign < 0
        untied += sign != 0
        if means[better] > means[worse] + near:
            places[worse] += 1
            strict += 1
            agree += sign
            in_order &= sign >= 0
    tail = (1 - confidence) / 2
    likely = np.quantile(ranks, (tail, 1 - tail), axis=1, method="nearest").astype(int)
    tau = agree / np.sqrt(np.maximum(strict * untied, 1))
    return Stability(
        measure=measure,
        standings=tuple(
            Standing(systems[s], float(direction * means[i]), int(places[i]), int(likely[0, i]),
                     int(likely[1, i]), float(np.mean(ranks[i] == 1)))
            for i, s in enumerate(order.tolist())
        ),
        whole=float(in_order.mean()),
        neighbors=tuple(
            float(np.mean(upper > lower + near)) for upper, lower in pairwise(drawn)
        ),
        tau=float(tau.mean()) if strict else 1.0,
        resamples=drawn.shape[1],
        confidence=confidence,
    )  # fmt: skip


FEW_RUNS = 3  # up to which a comparison prints a sentence for every pair


class Comparison(Columnar):
    """Systems compared on the same queries.

    >>> runs = {"a": {"q": ["x", "d"], "p": ["e"]}, "b": {"q": ["d"], "p": ["e"]}}
    >>> comparison = germane.compare({"q": ["d"], "p": ["e"]}, runs, "RR")
    >>> comparison.means["RR"]
    {'a': 0.75, 'b': 1.0}
    >>> comparison.between("b", "a", "RR").difference
    0.25

    ``pairs`` holds one ``Pair`` for each measure and pair of systems: estimate, interval, effect
    size, p-value, verdict, and a sentence. A comparison prints as a leaderboard, with these
    sentences for up to three runs. ``leaderboard()`` and ``table()`` return tables, ``queries()``
    compares query by query, and ``stability()`` measures how stable the order of the systems is.
    ``plot()`` draws the differences with their intervals. As a frame
    (``pl.DataFrame(comparison)``), a comparison has one row per pair.
    """

    def __init__(
        self,
        datasets: Mapping[str, Runs],
        samples: Sequence[Sample],
        pairs: tuple[Pair, ...],
        settings: Settings,
        seed: int,
        segments: "Segments | None" = None,
    ) -> None:
        self.segments = segments
        """The comparison in each segment, where ``by=`` gives some."""
        self.datasets = datasets
        """Data set → run → Result; one data set has the name ''."""
        self.pairs = pairs
        self.settings = settings
        self._samples = tuple(samples)
        self._seed = seed

    @property
    def samples(self) -> tuple[Sample, ...]:
        """The values that were compared, of measures that have them for the same queries."""
        return self._samples

    @property
    def count(self) -> int:
        """How many queries, or users, were compared on the first measure."""
        return self._samples[0].users or len(self._samples[0])

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the runs."""
        return self._samples[0].systems

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures that were compared."""
        return tuple(measure for sample in self._samples for measure in sample.measures)

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """Measure → run → mean over the queries for which every run has a value."""
        return {
            str(measure): dict(zip(self.systems, sample.means[m].tolist(), strict=True))
            for sample in self._samples
            for m, measure in enumerate(sample.measures)
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """Definitions, queries, test, correction and intervals, as the caption of a table."""
        names = name_measures(self.measures)
        renamed = self._explain_names(names)
        return tuple(write_notes(self._samples, self.pairs, self.settings, names, renamed))

    def _explain_names(self, names: Mapping[Measure, str]) -> tuple[str, ...]:
        """Say which measures the names stand for that were asked for, unless they are shown."""
        results = (run for runs in self.datasets.values() for run in runs.values())
        of_lists = (run for run in results if isinstance(run, Result))
        sentences = (text for run in of_lists for text in run.explain_names(names.values()))
        return tuple(dict.fromkeys(sentences))

    @property
    def signatures(self) -> tuple[str, ...]:
        """One line for each mean that was compared, with fingerprints of its data."""
        lines: list[str] = []
        for dataset, runs in self.datasets.items():
            prefix = f"{dataset}: " if dataset else ""
            of_lists = {name: runs[name] for name in self.systems if isinstance(runs[name], Result)}
            lines += write_signatures(of_lists, self.measures, prefix)
        return tuple(lines)

    def between(self, system: str, baseline: str, measure: str | Measure) -> Pair:
        """Return the pair of two systems on a measure. Raises NotFoundError if there is none."""
        self._check_systems(system, baseline)
        key = self._samples[0].parse(measure) if is_name(measure) else measure
        for pair in self.pairs:
            if (pair.measure, pair.system, pair.baseline) == (key, system, baseline):
                return pair
        is_reversed = any((pair.system, pair.baseline) == (baseline, system) for pair in self.pairs)
        hint = f"  There is ({baseline!r}, {system!r})." if is_reversed else ""
        raise NotFoundError(
            f"{clip(system)} was not compared with the baseline {clip(baseline)}.{hint}"
        )

    def leaderboard(
        self, *, digits: int | None = 4, rename: Mapping[str, str] | None = None
    ) -> Table:
        """One row per system, one column per measure: the best in bold, letters for those it beats.

        ``rename`` gives measures other names, as in ``{"AP": "MAP"}``.
        """
        names = name_measures(self.measures, rename)
        renamed = self._explain_names(names)
        return make_leaderboard(self._samples, self.pairs, self.settings, digits, names, renamed)

    def table(self, *, digits: int | None = 4, rename: Mapping[str, str] | None = None) -> Table:
        """One row per measure and pair: difference, interval, effect sizes, counts and p-values.

        ``rename`` gives measures other names, as in ``{"AP": "MAP"}``.
        """
        names = name_measures(self.measures, rename)
        renamed = self._explain_names(names)
        return make_pair_table(self._samples, self.pairs, self.settings, digits, names, renamed)

    def _list_columns(self) -> dict[str, Any]:
        return list_pair_columns(self.pairs)

    def queries(self, measure: str | Measure, system: str, baseline: str) -> QueryDifferences:
        """Compare two systems query by query, from the largest gain to the largest loss.

        Raises NotFoundError for a run or a measure that was not compared.
        """
        self._check_systems(system, baseline)
        sample, m = self._find_measure(measure)
        if sample.users:
            raise MeasureError(
                f"{sample.measures[m]} is one number of all queries, which are not compared one by"
                " one."
            )
        after, before = sample.systems.index(system), sample.systems.index(baseline)
        old, new = sample.values[m, before], sample.values[m, after]
        differences, rows = subtract_values(new, old).tolist(), []
        for q, query in enumerate(sample.queries):
            dataset = sample.datasets[sample.strata[q]]
            runs = self.datasets[dataset]
            values = float(old[q]), float(new[q]), differences[q]
            moved = find_moves(runs[baseline].placement, runs[system].placement, query)
            rows.append(QueryDifference(dataset, query, *values, moved))
        better = find_direction(sample.measures[m].name) or 1
        rows.sort(key=lambda row: -better * row.difference)
        only_system, only_baseline = (
            self._find_answered_by_one(*pair) for pair in ((system, baseline), (baseline, system))
        )
        unit = sample.unit
        if unit == "query":  # which the data may call by another name
            names = next(iter(self.datasets.values()))[system].id_names
            unit = names.avoid(("data set", "baseline", "system", "difference", "moved")).query
        return QueryDifferences(
            sample.measures[m],
            system,
            baseline,
            tuple(rows),
            only_system,
            only_baseline,
            unit,
        )

    def stability(self, measure: str | Measure) -> Stability:
        """Measure how often the order of the systems survives bootstrapping the queries."""
        sample, m = self._find_measure(measure)
        drawn = self._resampled_means[self._samples.index(sample)][m]
        key, confidence = sample.measures[m], self.settings.confidence
        return _measure_stability(key, self.systems, sample.means[m], drawn, confidence)

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        measure: str | Measure | None = None,
        paper: Paper = "light",
    ) -> ForestDisplay:
        """Draw the differences of all pairs with their intervals into ``ax``, or into a new figure.

        ``measure`` is by default the first one. Raises NotFoundError for a measure that was not
        compared.
        """
        return self._make_display(measure).plot(ax, paper=paper)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        measure: str | Measure | None = None,
        paper: Paper | None = None,
    ) -> None:
        """Write the picture of ``plot`` to a file: svg, png or pdf."""
        self._make_display(measure).save(path, paper=paper)

    def _make_display(self, measure: str | Measure | None) -> ForestDisplay:
        sample, m = self._find_measure(self.measures[0] if measure is None else measure)
        return ForestDisplay([pair for pair in self.pairs if pair.measure == sample.measures[m]])

    @cached_property
    def _resampled_means(self) -> tuple[Floats, ...]:
        """M × S × resamples for each sample; all systems are measured on the same drawn queries."""
        rng = np.random.default_rng(self._seed)
        out = []
        for sample in self._samples:
            parts = sample.weighted.reshape(-1, len(sample))
            sums = resample_sums(parts, sample.strata, self.settings.resamples, rng)
            out.append(sums.reshape(*sample.means.shape, -1))
        return tuple(out)

    def _find_answered_by_one(self, system: str, baseline: str) -> tuple[Hashable, ...]:
        """Return the judged queries that one system answers and the other does not."""
        queries: list[Hashable] = []
        for runs in self.datasets.values():
            mine, theirs = runs[system].placement, runs[baseline].placement
            if mine and theirs:
                queries += sorted(mine.answered - theirs.answered, key=str)
        return tuple(queries)

    def _find_measure(self, measure: str | Measure) -> tuple[Sample, int]:
        """Return the sample that has a measure, and its place there."""
        key = self._samples[0].parse(measure) if is_name(measure) else measure
        for sample in self._samples:
            if key in sample.measures:
                return sample, sample.measures.index(key)
        raise NotFoundError(f"{key} was not compared.{offer(key, self.measures)}")

    def _check_systems(self, *systems: str) -> None:
        for system in systems:
            if system not in self.systems:
                raise NotFoundError(f"no run {clip(system)}.{offer(system, self.systems)}")

    def __str__(self) -> str:
        return self.text()

    def text(self, *, rename: Mapping[str, str] | None = None) -> str:
        """The leaderboard and a sentence for each pair, as ``print`` shows them."""
        board, *notes = self.leaderboard(rename=rename).text().split("\n\n")
        sentences = self._write_sentences(name_measures(self.measures, rename))
        parts = [board, Sheet(*sentences).text(), *notes]
        if self.segments is not None:
            table = self.segments.table(rename=rename)
            own_notes = tuple(note for note in table.notes if note not in "\n".join(notes))
            parts.append(replace(table, notes=own_notes).text())
        return "\n\n".join(parts)

    def _write_sentences(self, names: Mapping[Measure, str]) -> tuple[str, ...]:
        """Write a sentence for each pair; for many runs, one that counts the verdicts."""
        if len(self.systems) <= FEW_RUNS:
            return tuple(pair.write_sentence(names[pair.measure]) for pair in self.pairs)
        return (
            (
                f"{count_verdicts(self.pairs)}. table() and --view pairs show each of them with its"
                " interval"
            ),
        )

    def __repr__(self) -> str:
        systems = make_visible(", ".join(self.systems))
        return f"<Comparison of {systems}: {', '.join(map(str, self.measures))}>"

    def markdown(self) -> str:
        """The leaderboard as a GitHub table, with its caption."""
        return self.leaderboard().markdown()

    def latex(
        self,
        *,
        caption: str = "",
        label: str = Table.LABEL,
        rename: Mapping[str, str] | None = None,
    ) -> str:
        """The leaderboard for a paper, with booktabs, superscripts and notes.

        ``caption`` and ``label`` are those of ``Table.latex_float``, and ``rename`` gives measures
        other names.
        """
        return self.leaderboard(rename=rename).latex_float(caption=caption, label=label)

    def csv(self, *, reader: Reader = "program") -> str:
        """All pairs as comma-separated values with all digits; ``reader`` as in ``Table.csv``."""
        return self.table(digits=None).csv(reader=reader)

    def html(self) -> str:
        """The leaderboard and the pairs as HTML."""
        segments = "" if self.segments is None else self.segments.table().html()
        return self.leaderboard().html() + self.table().html() + segments

    def _repr_html_(self) -> str:
        """The leaderboard and the sentences that are printed, as HTML."""
        sentences = self._write_sentences(name_measures(self.measures))
        items = "".join(f"<li>{escape_html(sentence)}</li>" for sentence in sentences)
        return f"{self.leaderboard().html()}<ul>{items}</ul>"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema."""
        signatures = {"signatures": self.signatures} if self.signatures else {}
        plain: dict[str, Any] = {
            "germane": VERSION,
            "systems": self.systems,
            "definitions": {measure: measure.definition for measure in self.measures},
            "settings": self.settings,
            "means": self.means,
            "pairs": self.pairs,
            "notes": [note for note in self.notes if note],
            **({} if self.segments is None else {"segments": self.segments.list_documents()}),
            **signatures,
        }
        return make_document(plain)


def write_signatures(
    results: "Results | Mapping[str, Result]",
    measures: Iterable[Measure] | None = None,
    before: str = "",
) -> tuple[str, ...]:
    """Write the signature of each mean of several runs, after ``before`` and the run's name."""
    return tuple(
        f"{before}{f'{name}: ' if len(results) > 1 else ''}{result.signature(measure)}"
        for name, result in results.items()
        for measure in measures or result.measures
    )
