"""Comparison: what comparing systems gave, with everything needed to say what its numbers mean."""

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from germane._version import VERSION
from germane.comparison.layout import counts_of, leaderboard, notes_of, pair_table
from germane.comparison.pair import Pair
from germane.comparison.pairing import resampled_means
from germane.comparison.queries import QueryDifference, QueryDifferences, moves
from germane.comparison.sample import Runs, Sample
from germane.comparison.settings import Settings
from germane.comparison.stability import Stability, stability_of
from germane.core.ragged import Floats
from germane.errors import AbsentError, clip, suggestion
from germane.measures.measure import Measure, parse
from germane.output.formatting import add_schema
from germane.output.tables import Reader, Table, escape_html

FEW_RUNS = 3  # of which every pair is put in words


class Comparison:
    """Systems compared on the same queries.

    >>> runs = {"a": {"q": ["x", "d"], "p": ["e"]}, "b": {"q": ["d"], "p": ["e"]}}
    >>> comparison = germane.compare({"q": ["d"], "p": ["e"]}, runs, "RR")
    >>> comparison.means["RR"]
    {'a': 0.75, 'b': 1.0}
    >>> comparison.between("b", "a", "RR").difference
    0.25

    ``pairs`` holds one ``Pair`` a measure and pair of systems: estimate, interval, effect size,
    p-value, verdict, and a sentence. Prints as a leaderboard, with these sentences for up to three
    runs; ``leaderboard()`` and ``table()`` are tables. ``queries()`` looks at single queries, ``stability()`` at the order of
    the systems.
    """

    def __init__(
        self,
        datasets: Mapping[str, Runs],
        samples: Sequence[Sample],
        pairs: tuple[Pair, ...],
        settings: Settings,
        seed: int,
    ) -> None:
        self.datasets = datasets
        """Data set → run → Result; one data set has the name ''."""
        self.pairs = pairs
        self.settings = settings
        self._samples = tuple(samples)
        self._seed = seed

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the runs."""
        return self._samples[0].systems

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures compared."""
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
        """Definitions, queries, test, correction and intervals: a caption."""
        return tuple(notes_of(self._samples, self.pairs, self.settings))

    def between(self, system: str, baseline: str, measure: str | Measure) -> Pair:
        """The pair of two systems on a measure. Raises AbsentError where they were not compared."""
        self._known(system, baseline)
        key = self._measure(measure)
        for pair in self.pairs:
            if (pair.measure, pair.system, pair.baseline) == (key, system, baseline):
                return pair
        turned = any((pair.system, pair.baseline) == (baseline, system) for pair in self.pairs)
        hint = f"  There is ({baseline!r}, {system!r})." if turned else ""
        raise AbsentError(f"{clip(system)} was not compared with baseline {clip(baseline)}.{hint}")

    def leaderboard(self, *, digits: int | None = 4) -> Table:
        """One row a system, one column a measure: the best in bold, letters for those it beats."""
        return leaderboard(self._samples, self.pairs, self.settings, digits)

    def table(self, *, digits: int | None = 4) -> Table:
        """One row a measure and pair: difference, interval, effect sizes, counts and p-values."""
        return pair_table(self._samples, self.pairs, self.settings, digits)

    def queries(self, measure: str | Measure, system: str, baseline: str) -> QueryDifferences:
        """Two systems query by query, from the largest gain to the largest loss.

        Raises AbsentError for a run or a measure that was not compared.
        """
        self._known(system, baseline)
        sample, m = self._place(measure)
        at, before = sample.systems.index(system), sample.systems.index(baseline)
        rows = []
        for q, query in enumerate(sample.queries):
            dataset = sample.datasets[sample.strata[q]]
            runs = self.datasets[dataset]
            values = float(sample.values[m, before, q]), float(sample.values[m, at, q])
            moved = moves(runs[baseline].placement, runs[system].placement, query)
            rows.append(QueryDifference(dataset, query, *values, values[1] - values[0], moved))
        rows.sort(key=lambda row: -row.difference)
        return QueryDifferences(
            sample.measures[m], system, baseline, tuple(rows),
            self._only(system, baseline), self._only(baseline, system),
        )  # fmt: skip

    def stability(self, measure: str | Measure) -> Stability:
        """How often the order of the systems survives bootstrapping the queries."""
        sample, m = self._place(measure)
        drawn = self._resampled[self._samples.index(sample)][m]
        confidence = self.settings.confidence
        return stability_of(sample.measures[m], self.systems, sample.means[m], drawn, confidence)

    @cached_property
    def _resampled(self) -> tuple[Floats, ...]:
        """M × S × resamples for each sample."""
        draws = np.random.default_rng(self._seed)
        return tuple(resampled_means(sample, self.settings, draws) for sample in self._samples)

    def _only(self, one: str, other: str) -> tuple[Hashable, ...]:
        """The judged queries that one system answers and the other does not."""
        only: list[Hashable] = []
        for runs in self.datasets.values():
            mine, yours = runs[one].placement, runs[other].placement
            if mine and yours:
                only += sorted(mine.answered - yours.answered, key=str)
        return tuple(only)

    def _measure(self, measure: str | Measure) -> Measure:
        return measure if isinstance(measure, Measure) else parse(measure)

    def _place(self, measure: str | Measure) -> tuple[Sample, int]:
        key = self._measure(measure)
        for sample in self._samples:
            if key in sample.measures:
                return sample, sample.measures.index(key)
        names = list(map(str, self.measures))
        raise AbsentError(
            f"{key} was not compared.{suggestion(str(key), names)}  There are: {', '.join(names)}"
        )

    def _known(self, *systems: str) -> None:
        for system in systems:
            if system not in self.systems:
                near = suggestion(str(system), self.systems)
                raise AbsentError(
                    f"no run {clip(system)}.{near}  There are: {', '.join(self.systems)}"
                )

    def __str__(self) -> str:
        board, *notes = self.leaderboard().text().split("\n\n")
        return "\n\n".join([board, "\n".join(self._sentences()), *notes])

    def _sentences(self) -> tuple[str, ...]:
        """A sentence for each pair, or of many runs how many pairs differ."""
        if len(self.systems) <= FEW_RUNS:
            return tuple(pair.sentence for pair in self.pairs)
        return (f"{counts_of(self.pairs)}. Each with its interval: table(), --view pairs",)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.systems)}: {', '.join(map(str, self.measures))}>"

    def markdown(self) -> str:
        """The leaderboard as a GitHub table, with its caption."""
        return self.leaderboard().markdown()

    def latex(self) -> str:
        """The leaderboard as a LaTeX table with booktabs rules, superscripts and a caption."""
        return self.leaderboard().latex_float()

    def csv(self, *, reader: Reader = "program") -> str:
        """All pairs as comma-separated values, with all digits; ``reader`` is that of ``Table.csv``."""
        return self.table(digits=None).csv(reader=reader)

    def html(self) -> str:
        """Leaderboard and pairs as HTML."""
        return self.leaderboard().html() + self.table().html()

    def _repr_html_(self) -> str:
        """The leaderboard and the sentences that are printed, as HTML."""
        said = "".join(f"<li>{escape_html(sentence)}</li>" for sentence in self._sentences())
        return f"{self.leaderboard().html()}<ul>{said}</ul>"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema."""
        return add_schema(
            {
                "germane": VERSION,
                "systems": list(self.systems),
                "definitions": {str(measure): measure.definition for measure in self.measures},
                "settings": {**vars(self.settings), "alpha": self.settings.alpha},
                "means": self.means,
                "pairs": [pair.to_dict() for pair in self.pairs],
                "notes": [note for note in self.notes if note],
            }
        )
