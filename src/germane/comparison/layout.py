"""Layout: the tables of a comparison, and the notes that say what their numbers are."""

from collections.abc import Iterator, Mapping, Sequence

from germane.comparison.pair import QUANTITIES, Pair, Verdict, format_p_number
from germane.comparison.sample import Sample
from germane.comparison.settings import CORRECTIONS, Settings
from germane.comparison.significance import MANY, TESTS
from germane.core.dispersion import FEW, POWER
from germane.measures.measure import Measure
from germane.output.formatting import format_number
from germane.output.tables import LETTERS, Table


def make_leaderboard(
    samples: Sequence[Sample], pairs: Sequence[Pair], settings: Settings, digits: int | None
) -> Table:
    """One row a system, one column a measure; the best in bold, letters for those it beats."""
    systems = samples[0].systems
    label = dict(zip(systems, _make_labels(len(systems)), strict=True))
    columns = [
        (measure, dict(zip(systems, sample.means[m].tolist(), strict=True)))
        for sample in samples
        for m, measure in enumerate(sample.measures)
    ]
    rows = [
        (label[system], system, *(format_number(means[system], digits) for _, means in columns))
        for system in systems
    ]
    beaten = _find_beaten(pairs)
    strong, marks = set(), {}
    for c, (measure, means) in enumerate(columns, start=2):
        for r, system in enumerate(systems):
            if means[system] == max(means.values()) and measure.name not in QUANTITIES:
                strong.add((r, c))
            if worse := beaten.get((measure, system)):
                marks[r, c] = _join_labels([label[one] for one in systems if one in worse])
    names = ("", "run", *(str(measure) for measure, _ in columns))
    notes = (*_explain_marks(marks, settings), *write_notes(samples, pairs, settings))
    return Table(names, tuple(rows), notes, (1,), frozenset(strong), marks)


def make_pair_table(
    samples: Sequence[Sample], pairs: Sequence[Pair], settings: Settings, digits: int | None
) -> Table:
    """One row a measure and pair."""
    columns = (
        "measure", "system", "baseline", "queries", "difference", "low", "high", "level", "d_z",
        "better", "wins", "losses", "ties", "p", "p adjusted", "verdict", "detectable",
    )  # fmt: skip
    tested = settings.equivalence is not None
    rows = [
        (*_write_cells(pair, digits), *(_write_equivalence(pair, digits) if tested else ()))
        for pair in pairs
    ]
    notes = (*_note_columns(), *write_notes(samples, pairs, settings))
    return Table((*columns, *(["p TOST"] if tested else [])), tuple(rows), notes, (1, 2, 15))


def _write_cells(pair: Pair, digits: int | None) -> tuple[str, ...]:
    interval = pair.interval
    ends = (interval.low, interval.high) if interval else (None, None)
    level = interval.level if interval else ""
    if interval and digits is None:
        level = repr(interval.confidence)
    return (
        str(pair.measure), pair.system, pair.baseline, str(pair.queries),
        *(format_number(number, digits) for number in (pair.difference, *ends)), level,
        *(format_number(number, digits) for number in (pair.d_z, pair.improvement)),
        *map(str, (pair.wins, pair.losses, pair.ties)),
        *(_write_p_value(p, digits) for p in (pair.p, pair.p_adjusted)), pair.verdict,
        format_number(pair.detectable, digits),
    )  # fmt: skip


def _write_equivalence(pair: Pair, digits: int | None) -> tuple[str]:
    return (_write_p_value(pair.equivalence.p, digits) if pair.equivalence else "",)


def _write_p_value(p: float, digits: int | None) -> str:
    return repr(p) if digits is None else format_p_number(p, digits)


def _make_labels(count: int) -> list[str]:
    """Letters for systems: a, b, … z, aa, ab, …"""
    size = len(LETTERS)
    return [LETTERS[i // size - 1] * (i >= size) + LETTERS[i % size] for i in range(count)]


def _join_labels(labels: list[str]) -> str:
    return ("" if all(len(label) == 1 for label in labels) else " ").join(labels)


def _find_beaten(pairs: Sequence[Pair]) -> Mapping[tuple[Measure, str], set[str]]:
    """The systems that each system is significantly better than, by measure."""
    beaten: dict[tuple[Measure, str], set[str]] = {}
    for pair in pairs:
        if pair.significant:
            better, worse = pair.system, pair.baseline
            if pair.difference < 0:
                better, worse = worse, better
            beaten.setdefault((pair.measure, better), set()).add(worse)
    return beaten


def _explain_marks(marks: Mapping[tuple[int, int], str], settings: Settings) -> Iterator[str]:
    if marks:
        yield f"Superscripts mark the runs that this one significantly beats (p < {settings.alpha:g})"


def _note_columns() -> Iterator[str]:
    yield "difference: mean of the system less mean of the baseline"
    yield "d_z: the mean difference in standard deviations of one query's difference"
    yield "better: the probability that the system does better on a query, ties counted half"
    yield (
        "detectable: the smallest true difference that so many queries show with a probability of "
        f"{POWER:g}, in a t-test at the level of the interval"
    )


def write_notes(
    samples: Sequence[Sample], pairs: Sequence[Pair], settings: Settings
) -> Iterator[str]:
    """Definitions, queries, test, correction and interval: what a caption must say."""
    for sample in samples:
        for measure in sample.measures:
            yield f"{measure}: {measure.definition}"
    yield ""
    yield from _note_queries(samples)
    yield f"p: {_test_note(samples, pairs, settings)}"
    yield f"intervals: BCa bootstrap of the queries, {_describe_levels(pairs, settings)}"
    yield from _write_warnings(samples, pairs, settings)


def _describe_levels(pairs: Sequence[Pair], settings: Settings) -> str:
    """The confidence of the intervals, and of which of them together."""
    known = sorted({pair.interval for pair in pairs if pair.interval}, key=lambda i: i.confidence)
    levels = list(dict.fromkeys(interval.level for interval in known))
    if not levels or levels == [f"{100 * settings.confidence:g}%"]:
        return f"{100 * settings.confidence:g}%"
    between = levels[0] if len(levels) == 1 else f"{levels[0]} to {levels[-1]}"
    return f"each at the level of its corrected p-value: {between}"


def _note_queries(samples: Sequence[Sample]) -> Iterator[str]:
    for sample in samples:
        for_some = f" ({', '.join(map(str, sample.measures))})" if len(samples) > 1 else ""
        left = f"; {sample.left_out:,} left out" if sample.left_out else ""
        yield f"{_write_count(len(sample), 'query', 'queries')} with a value for every run{left}{for_some}"
    if len(samples[0].datasets) > 1:
        names = ", ".join(samples[0].datasets)
        yield f"data sets {names}: means of their means; resampled within each"


def _test_note(samples: Sequence[Sample], pairs: Sequence[Pair], settings: Settings) -> str:
    test = TESTS[settings.test]
    how = f", {settings.resamples:,} resamples" if test.resamples else ""
    said = f"{test.title}, two-sided{how}"
    measures = sum(len(sample.measures) for sample in samples)
    each = len(pairs) // measures
    of_each = (
        f"the {_write_count(each, 'pair', 'pairs')} of {'each' if measures > 1 else 'the'} measure"
    )
    if test.corrects:
        return f"{said}, over {of_each}"
    if settings.correction == "none":
        return f"{said}, uncorrected"
    over = of_each if settings.family == "measure" else f"all {len(pairs)} comparisons"
    if (each if settings.family == "measure" else len(pairs)) == 1:
        return said
    return f"{said}, {CORRECTIONS[settings.correction or 'none'].title} over {over}"


def _write_warnings(
    samples: Sequence[Sample], pairs: Sequence[Pair], settings: Settings
) -> Iterator[str]:
    fewest, most = min(map(len, samples)), max(map(len, samples))
    if limited := [pair for pair in pairs if pair.verdict == "inconclusive"]:
        yield (
            f"Inconclusive: {len(limited):,} of {_write_count(len(pairs), 'comparison', 'comparisons')}, where "
            f"this test cannot reach p < {settings.alpha:g}. {_write_advice(limited)}"
        )
    if fewest < FEW:
        yield (
            f"Few queries ({fewest}): intervals are rough, and only large differences can be shown."
        )
    if settings.test == "wilcoxon" and most > MANY:
        yield (
            f"Wilcoxon's test asks whether differences lie symmetrically around 0, not whether their "
            f"mean is 0; with {most:,} queries it rejects almost everything. "
            "test=randomization asks for the mean."
        )


def _write_count(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _write_advice(limited: Sequence[Pair]) -> str:
    """Name the ways to make inconclusive comparisons conclusive."""
    ways = []
    limits = [pair.limit for pair in limited if pair.limit]
    if any(limit.cause == "queries" for limit in limits):
        ways.append("more queries on which the runs differ")
    if any(limit.cause == "resamples" for limit in limits):
        ways.append("more resamples")
    if any(limit.corrected for limit in limits):
        ways.append("fewer comparisons")
    return f"It takes {' or '.join(ways)}."


def count_verdicts(pairs: Sequence[Pair]) -> str:
    """How many comparisons have which verdict."""
    verdicts = [pair.verdict for pair in pairs]
    words: tuple[Verdict, ...] = ("significant", "not significant", "inconclusive")
    several = (f"{verdicts.count(word):,} {word}" for word in words if word in verdicts)
    return f"{_write_count(len(pairs), 'comparison', 'comparisons')}: {', '.join(several)}"
