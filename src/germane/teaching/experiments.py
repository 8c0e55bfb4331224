"""The verb simulate: one property of rankings is varied, and the measures respond."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from germane._version import VERSION
from germane.core.calls import Progress, Seed, make_generator, make_progress, parse_whole
from germane.core.ragged import Ints
from germane.dialects.names import parse
from germane.errors import (
    InputError,
    NotFoundError,
    clip,
    list_choices,
    offer,
    suggest,
    write_option,
)
from germane.evaluation.evaluate import evaluate, evaluate_many, score
from germane.explanation.curves import PRCurve
from germane.explanation.explain import pr_curve
from germane.output.documents import make_document, name_values
from germane.output.named_columns import Tabular
from germane.output.tables import Table, format_number
from germane.presentation import writing
from germane.presentation.pictures import Paper
from germane.teaching.experiment_figures import ExperimentDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "simulate",
]


Grades = tuple[int, ...]


class Setup(NamedTuple):
    """The size of an experiment: the ranks of each list, and its relevant items."""

    ranks: int = 1000
    relevant: int = 500
    fixed: int = 0  # so many first ranks always have a relevant item

    @property
    def front(self) -> int:
        """The rank at which the first ranks end: a quarter of all."""
        return self.ranks // 4

    @property
    def last(self) -> int:
        """The rank after which the last ranks begin, as many as the first."""
        return self.ranks - self.front

    def share(self, *percents: int) -> tuple[int, ...]:
        """Return these percentages of the relevant items, in whole items."""
        return tuple(self.relevant * percent // 100 for percent in percents)

    def write(self, text: str) -> str:
        """Write a text with the numbers of this setup in their places."""
        tenth, half = self.share(10, 50)
        return text.format(
            **self._asdict(),
            front=self.front,
            last=self.last,
            behind=self.last + 1,
            tenth=tenth,
            half=half,
            fifth=self.relevant // 5,
            kept=", ".join(map(str, self.share(100, 80))),
            fewest=max(1, self.share(2)[0]),
        )


Bound = Callable[[Setup], Mapping[str, tuple[int, int]]]


def bound_lists(setup: Setup) -> Mapping[str, tuple[int, int]]:
    """Bound the numbers of experiments on one list, a quarter of which has half of the items."""
    return {
        "ranks": (40, 100_000),
        "relevant": (10, setup.ranks // 2),
        "fixed": (0, setup.relevant // 10),
    }


def bound_queries(setup: Setup) -> Mapping[str, tuple[int, int]]:
    """Bound the numbers of experiments on many queries."""
    return {"ranks": (10, 5000), "relevant": (1, min(setup.ranks, 50)), "fixed": (0, 0)}


def bound_scored(setup: Setup) -> Mapping[str, tuple[int, int]]:
    """Bound the numbers of experiments on queries whose items are relevant by chance."""
    return {**bound_queries(setup), "relevant": (0, 0)}


class Design(NamedTuple):
    """The description of an experiment, and the function that makes it from random numbers."""

    name: str
    title: str
    line: str  # a description in one line
    swept: str  # the quantity that is varied, as a heading and as the label of an axis
    make: "Callable[[Design, np.random.Generator], Experiment]"
    setup: Setup = Setup()
    takes: tuple[str, ...] = ("ranks", "relevant")  # the numbers of the setup that may be chosen
    bound: Bound = bound_lists

    def describe(self, setup: Setup) -> "Design":
        """Describe the experiment with the numbers of a setup."""
        line, swept = setup.write(self.line), setup.write(self.swept)
        return self._replace(line=line, swept=swept, setup=setup)


class Column(NamedTuple):
    """One number for every setting, with its definition."""

    name: str
    definition: str
    values: tuple[float, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Experiment(Tabular):
    """A quantity that is varied, with the measures' values at every setting.

    >>> experiment = germane.simulate("recall")
    >>> experiment.settings
    (100, 200, 300, 400, 500)
    >>> sum(experiment.rankings[300]), experiment.relevant
    (300, 500)
    >>> float(experiment.curves[300].recall[-1])
    0.6

    ``settings`` are the values of the quantity. ``rankings`` maps each setting to the grades of a
    list in rank order, with ``relevant`` relevant items in all; to the grades of many users' lists,
    a row each; or to a run ``{query: {item: score}}`` with its ``qrels``. ``curves`` maps each
    setting to the curve of its list, and is empty for many lists. ``columns`` hold the measures'
    values, one a setting, and ``claims`` are sentences with numbers from them.
    """

    _json = (
        "name title design=design.line swept=design.swept settings relevant"
        " relevant_ranks=_list_ranks columns shows=claims"
    )

    design: Design
    settings: tuple[int, ...]
    rankings: Mapping[int, Any]
    columns: tuple[Column, ...]
    claims: tuple[str, ...]
    curves: Mapping[int, PRCurve] = field(default_factory=dict)
    relevant: int | None = None
    qrels: Mapping[str, Mapping[str, int]] | None = None

    @property
    def name(self) -> str:
        """The name that ``simulate`` takes."""
        return self.design.name

    @property
    def title(self) -> str:
        """The subject of the experiment, in a few words."""
        return self.design.title

    @property
    def shows(self) -> str:
        """The claims of the experiment, with their numbers."""
        return " ".join(self.claims)

    def __getitem__(self, column: str) -> dict[int, float]:
        """Return the values of one column by setting."""
        by_name = {column.name: column.values for column in self.columns}
        if column not in by_name:
            raise NotFoundError(
                f"{self.name} has no column {clip(column)}.{offer(column, by_name)}"
            )
        return dict(zip(self.settings, by_name[column], strict=True))

    def _list_columns(self) -> dict[str, Any]:
        columns = {column.name: np.array(column.values) for column in self.columns}
        return {self.design.swept: np.array(self.settings), **columns}

    def plot(self, ax: "Axes | None" = None, *, paper: Paper = "light") -> ExperimentDisplay:
        """Draw the curves and the measures in the place of ``ax``, or into a new figure."""
        return ExperimentDisplay(self).plot(ax, paper=paper)

    def save(self, path: str | os.PathLike[str], *, paper: Paper | None = None) -> None:
        """Write the picture of ``plot`` to a file: svg, png or pdf."""
        ExperimentDisplay(self).save(path, paper=paper)

    def table(self, *, digits: int | None = 4) -> Table:
        """Return one row per setting; the claims and the columns' definitions as notes."""
        rows = [
            (str(setting), *(format_number(column.values[i], digits) for column in self.columns))
            for i, setting in enumerate(self.settings)
        ]
        widest = max(len(column.name) for column in self.columns)
        defined = (f"{column.name:<{widest}}  {column.definition}" for column in self.columns)
        heading = (self.design.swept, *(column.name for column in self.columns))
        return Table(heading, tuple(rows), (*self.claims, "", *defined))

    def __str__(self) -> str:
        return f"{self.title}\n{self.design.line}\n\n{self.table().text()}"

    def __repr__(self) -> str:
        return f"<Experiment {self.name}: {self.design.swept}, {len(self.settings)} settings>"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, in a versioned schema; lists as ranks of relevant items.

        Runs are left out: they are large, and the same seed makes them again.
        """
        return make_document({"germane": VERSION, **name_values(self)})

    def _list_ranks(self) -> dict[int, list[int]]:
        lists = self.rankings if self.relevant is not None else {}
        return {
            setting: [rank for rank, grade in enumerate(grades, 1) if grade]
            for setting, grades in lists.items()
        }


# --- The designs of the experiments: each varies one quantity and measures every setting ----------
#
# Most vary the ranks or the number of the relevant items of one list. The last two have many
# queries: one gives users more relevant items; one rounds scores, so that more of them are equal.


def vary_early_precision(design: Design, rng: np.random.Generator) -> Experiment:
    """Move relevant items to the front, behind the first ranks that always have one."""
    setup = design.setup
    early = setup.share(10, 20, 30, 40, 50)
    always = np.arange(1, setup.fixed + 1)
    front = np.append(always, rng.permutation(np.arange(setup.fixed + 1, setup.front + 1)))
    behind = rng.permutation(np.arange(setup.front + 1, setup.ranks + 1))
    lists = {n: _make_list(setup, front[:n], behind[: setup.relevant - n]) for n in early}
    curves = _make_curves(setup, lists)
    columns = (_measure(setup, f"R@{setup.front}", lists), *_measure_areas(setup, lists))
    claims = (
        *_claim_early(setup, early, columns[1].values, curves[early[0]]),
        _describe_ends(curves),
        _compare_areas(setup, lists, columns[1:]),
    )
    return Experiment(design, early, lists, columns, claims, curves, setup.relevant)


def _claim_early(
    setup: Setup, early: Sequence[int], ap: Sequence[float], fewest: PRCurve
) -> Iterator[str]:
    yield (
        f"AP rises from {ap[0]:.4f} to {ap[-1]:.4f} as the relevant items in the first"
        f" {setup.front} ranks go from {early[0]} to {early[-1]} of {setup.relevant}:"
        f" {(ap[-1] - ap[0]) / (early[-1] - early[0]):.4f} for each item moved to the front."
    )
    lowest = int(fewest.precision.argmin())
    if setup.fixed:
        yield (
            f"With {early[0]} there, precision falls from {fewest.precision[setup.fixed - 1]:.4g}"
            f" at rank {setup.fixed} to {fewest.precision[lowest]:.4f} at rank"
            f" {fewest.rank[lowest]}."
        )


def vary_late_precision(design: Design, rng: np.random.Generator) -> Experiment:
    """Move more and more relevant items to the last ranks."""
    setup = design.setup
    late = setup.share(0, 10, 20, 30, 40, 50)
    front = rng.permutation(np.arange(1, setup.last + 1))
    behind = rng.permutation(np.arange(setup.last + 1, setup.ranks + 1))
    lists = {n: _make_list(setup, front[: setup.relevant - n], behind[:n]) for n in late}
    without_last = {n: _keep(setup, grades, 0, setup.relevant - n) for n, grades in lists.items()}
    without_first = {n: _keep(setup, grades, n, setup.relevant) for n, grades in lists.items()}
    last = f"AP if the relevant items after rank {setup.last} are not retrieved"
    first = "AP if as many from the first one on are not retrieved instead"
    columns = (
        _measure(setup, "AP", lists),
        _measure(setup, "AP", without_last, "last missed", last),
        _measure(setup, "AP", without_first, "first missed", first),
    )
    claims = tuple(_claim_late(setup, late, *(column.values for column in columns)))
    curves = _make_curves(setup, lists)
    return Experiment(design, late, lists, columns, claims, curves, setup.relevant)


def _claim_late(
    setup: Setup,
    late: Sequence[int],
    ap: Sequence[float],
    without_last: Sequence[float],
    without_first: Sequence[float],
) -> Iterator[str]:
    yield (
        f"AP falls from {ap[0]:.4f} to {ap[-1]:.4f} as {late[-1]} of {setup.relevant} relevant"
        f" items move from the first {setup.last} ranks to the last {setup.front}:"
        f" {(ap[0] - ap[-1]) / late[-1]:.4f} for each item moved."
    )
    last, first = ap[1] - without_last[1], ap[1] - without_first[1]
    yield (
        f"Missing the {late[1]} in the last ranks costs {last:.4f} of an AP of {ap[1]:.4f}; missing"
        f" the first {late[1]} instead costs {first:.4f}, {first / last:.1f} times as much: an"
        " early item also raises the precision at every relevant item after it."
    )


def vary_recall(design: Design, rng: np.random.Generator) -> Experiment:
    """Retrieve more and more of the relevant items."""
    setup = design.setup
    retrieved = setup.share(20, 40, 60, 80, 100)
    ranks = rng.permutation(np.arange(1, setup.ranks + 1))
    lists = {n: _make_list(setup, ranks[:n]) for n in retrieved}
    curves = _make_curves(setup, lists)
    columns = (
        _measure(setup, "R", lists),
        _measure(setup, "P", lists),
        *_measure_areas(setup, lists),
    )
    claims = (
        *_claim_recall(*(column.values for column in columns[:3])),
        _compare_areas(setup, lists, columns[2:]),
    )
    return Experiment(design, retrieved, lists, columns, claims, curves, setup.relevant)


def _claim_recall(
    recall: Sequence[float], precision: Sequence[float], ap: Sequence[float]
) -> Iterator[str]:
    yield (
        f"The curves end at recall {', '.join(f'{end:g}' for end in recall)}: a curve does not"
        " reach items that are not retrieved."
    )
    yield (
        f"AP rises from {ap[0]:.4f} to {ap[-1]:.4f}: {ap[-1] / ap[0]:.0f} times as much for"
        f" {recall[-1] / recall[0]:.0f} times the recall, because items missed anywhere also lower"
        f" the precision at those found, to {precision[0]:g} at the end of the list instead of"
        f" {precision[-1]:g}."
    )


def vary_cheating(design: Design, rng: np.random.Generator) -> Experiment:
    """Let one system keep fewer and fewer of its relevant items."""
    setup = design.setup
    kept = tuple(dict.fromkeys(max(n, 1) for n in setup.share(100, 80, 60, 40, 20, 10, 2)))
    (in_front,) = setup.share(40)
    others = rng.permutation(np.arange(setup.fixed + 1, setup.front + 1))
    front = np.append(np.arange(1, setup.fixed + 1), others[: in_front - setup.fixed])
    behind = rng.permutation(np.arange(setup.front + 1, setup.ranks + 1))
    full_list = _make_list(setup, front, behind[: setup.relevant - in_front])
    lists = {n: _keep(setup, full_list, 0, n) for n in kept}
    norms = ("found", "R", "min", "k")
    columns = tuple(_measure(setup, f"AP(norm={norm})@{setup.ranks}", lists) for norm in norms)
    claims = tuple(_claim_cheating(setup, kept, *columns[:2]))
    curves = _make_curves(setup, lists)
    return Experiment(design, kept, lists, columns, claims, curves, setup.relevant)


def _claim_cheating(
    setup: Setup, kept: Sequence[int], column: Column, textbook: Column
) -> Iterator[str]:
    yield (
        f"A system that keeps only the first {kept[-1]} of its {kept[0]} relevant items raises its"
        f" {column.name} from {column.values[0]:.4f} to {column.values[-1]:.4f}: the items that it"
        " drops leave the divisor as well."
    )
    yield (
        f"Its {textbook.name} falls from {textbook.values[0]:.4f} to {textbook.values[-1]:.4f},"
        " since R stays the same."
    )
    yield (
        "While everything is found, both numbers are equal. min(R,k) is always R, since "
        f"R = {setup.relevant} is less than k = {setup.ranks}."
    )


def _make_list(setup: Setup, *ranks: Ints) -> Grades:
    """Make a list with relevant items at these ranks."""
    grades = np.zeros(setup.ranks + 1, int)
    grades[np.concatenate(ranks)] = 1
    return tuple(grades[1:].tolist())


def _keep(setup: Setup, grades: Grades, start: int, stop: int) -> Grades:
    """Keep the relevant items from ``start`` to ``stop``; make the others not relevant."""
    return _make_list(setup, (np.flatnonzero(grades) + 1)[start:stop])


def _make_curves(setup: Setup, lists: Mapping[int, Grades]) -> dict[int, PRCurve]:
    return {n: pr_curve(grades, relevant=setup.relevant) for n, grades in lists.items()}


def _measure(
    setup: Setup, measure: str, lists: Mapping[int, Grades], name: str = "", definition: str = ""
) -> Column:
    parsed = parse(measure)
    values = (score(grades, parsed, relevant=setup.relevant) for grades in lists.values())
    return Column(name or str(parsed), definition or parsed.definition, tuple(values))


def _measure_areas(setup: Setup, lists: Mapping[int, Grades]) -> tuple[Column, ...]:
    names = ("AP", "AUPR(rule=trapezoid)", "AUPR(rule=interpolated)")
    return tuple(_measure(setup, name, lists) for name in names)


def _describe_ends(curves: Mapping[int, PRCurve]) -> str:
    """Describe the one point where all curves end, since every list holds every relevant item."""
    ((recall, precision),) = {(c.recall[-1], c.precision[-1]) for c in curves.values()}
    return f"All {len(curves)} curves end at recall {recall:g}, precision {precision:g}."


def _compare_areas(setup: Setup, lists: Mapping[int, Grades], areas: tuple[Column, ...]) -> str:
    """Compare AP with the areas by other rules."""
    ap, trapezoid, interpolated = (np.array(column.values) for column in areas)
    step = np.array(_measure(setup, "AUPR(rule=step)", lists).values)
    return (
        f"AP is the area by the step rule (largest difference {np.abs(ap - step).max():g}), within "
        f"{np.abs(ap - trapezoid).max():.4f} of the trapezoids', and up to "
        f"{(interpolated - ap).max():.4f} below the area under the interpolated curve."
    )


QUERIES = 100
SHARE = 0.2  # of the items that are relevant
LEAD = 1.0  # by how much a relevant item scores higher, in standard deviations
DIGITS = (6, 5, 4, 3, 2, 1, 0)

Run = Mapping[str, Mapping[str, float]]


def vary_ties(design: Design, rng: np.random.Generator) -> Experiment:
    """Round the scores of many queries to fewer and fewer digits."""
    shape = (QUERIES, design.setup.ranks)
    grades = (rng.random(shape) < SHARE).astype(int)
    scores = LEAD * grades + rng.standard_normal(shape)
    runs = {digits: _group_by_query(scores.round(digits)) for digits in DIGITS}
    qrels = _group_by_query(grades)
    columns = _measure_ties(qrels, runs)
    claims = tuple(_claim_ties(*(column.values for column in columns)))
    return Experiment(design, DIGITS, runs, columns, claims, qrels=qrels)


def _group_by_query(values: Any) -> dict[str, dict[str, Any]]:
    items = [f"d{i:03}" for i in range(1, values.shape[1] + 1)]
    return {
        f"q{q:03}": dict(zip(items, row, strict=True)) for q, row in enumerate(values.tolist(), 1)
    }


def _measure_ties(
    qrels: Mapping[str, Mapping[str, int]], runs: Mapping[int, Run]
) -> tuple[Column, ...]:
    ap = parse("AP")
    named = {str(digits): run for digits, run in runs.items()}
    results = evaluate_many(qrels, named, ap).values()
    random = evaluate_many(qrels, named, ap, ties="expected").values()
    tied = "share of the judged items whose score another item of the query has too"
    mean = f"mean AP over {QUERIES} queries ({ap.definition}), equal scores"
    return (
        Column("tied", tied, tuple(result.counts.tied_share for result in results)),
        Column(
            "worst", f"{mean} in the worst order", tuple(result[ap].worst for result in results)
        ),
        Column("expected", f"{mean} in random order, exactly", tuple(r[ap].mean for r in random)),
        Column(
            "trec",
            f"{mean} by item id, from the last",
            tuple(result[ap].mean for result in results),
        ),
        Column("best", f"{mean} in the best order", tuple(result[ap].best for result in results)),
    )


def _claim_ties(
    tied: Sequence[float],
    worst: Sequence[float],
    expected: Sequence[float],
    trec: Sequence[float],
    best: Sequence[float],
) -> Iterator[str]:
    yield (
        f"With {DIGITS[0]} digits {tied[0]:.2%} of the items are tied, and AP is {expected[0]:.4f}"
        f" in any order (best − worst is {best[0] - worst[0]:.1g}); with {DIGITS[-1]} digits"
        f" {tied[-1]:.1%} are tied, and AP is between {worst[-1]:.4f} and {best[-1]:.4f},"
        " depending on the order of equal scores."
    )
    bands = ", ".join(f"{high - low:.4f}" for low, high in zip(worst, best, strict=True))
    yield f"From {DIGITS[0]} digits to {DIGITS[-1]}, best − worst is {bands}."
    yield (
        f"At {DIGITS[-1]} digits random order is expected to give {expected[-1]:.4f}, and order by"
        f" item id gives {trec[-1]:.4f}: here an id tells nothing about relevance."
    )


USERS = 2000


def vary_relevant_items(design: Design, rng: np.random.Generator) -> Experiment:
    """Give users more and more relevant items, in lists of random order."""
    setup = design.setup
    settings = tuple(range(1, setup.relevant + 1))
    shape = (USERS, setup.ranks)
    # Which item stands at each rank. The order is random, so that any items may be the relevant
    # ones: here the first of the catalogue.
    items = rng.permuted(np.broadcast_to(np.arange(setup.ranks), shape), axis=1)
    grades = {relevant: (items < relevant).astype(int) for relevant in settings}
    descending = np.broadcast_to(-np.arange(setup.ranks, dtype=float), shape)
    names = ("R@10", "MeanP@10", "AP@10", "AP(norm=found)@10", "AP(norm=k)@10")
    results = [evaluate(relevance, descending, names) for relevance in grades.values()]
    columns = tuple(
        Column(
            name,
            f"mean over {USERS:,} users of {parse(name).definition}",
            tuple(result[name].mean for result in results),
        )
        for name in names
    )
    claims = tuple(_claim_relevant_items(settings, columns))
    lists = {relevant: tuple(map(tuple, rows.tolist())) for relevant, rows in grades.items()}
    return Experiment(design, settings, lists, columns, claims)


def _claim_relevant_items(settings: Sequence[int], columns: Sequence[Column]) -> Iterator[str]:
    recall, mean_precision, truncated = (column.values for column in columns[:3])
    yield (
        f"Every list is in random order and finds about {sum(recall) / len(recall):.0%} of the"
        f" user's items in its first 10. From {settings[0]} to {settings[-1]} relevant items per"
        f" user, MeanP@10 goes from {mean_precision[0]:.3f} to {mean_precision[-1]:.3f}, and AP@10"
        f" from {truncated[0]:.3f} to {truncated[-1]:.3f}."
    )
    yield (
        "The mean of P@1 … P@10 is not AP: it rewards a system for users who have more relevant"
        " items. Dividing by min(R,k) makes up for their number."
    )


EXPERIMENTS = (  # in the order in which they are best read
    Design("early_precision", "Early precision",
           "{tenth} to {half} of {relevant} relevant items in the first {front} of {ranks:,} ranks,"
           " {fixed} of them first.",
           "relevant in ranks 1–{front}", vary_early_precision, Setup(fixed=10),
           ("ranks", "relevant", "fixed")),
    Design("early_precision_50", "Early precision, the first 50 relevant",
           "{tenth} to {half} of {relevant} relevant items in the first {front} of {ranks:,} ranks,"
           " {fixed} of them first.",
           "relevant in ranks 1–{front}", vary_early_precision, Setup(fixed=50)),
    Design("late_precision", "Late precision",
           "0 to {half} of {relevant} relevant items in the last {front} of {ranks:,} ranks, the"
           " others before.",
           "relevant in ranks {behind}–{ranks}", vary_late_precision),
    Design("recall", "Recall",
           "{fifth} to {relevant} of {relevant} relevant items retrieved, at random among {ranks:,}"
           " ranks.",
           "relevant retrieved", vary_recall),
    Design("cheating", "Cheating",
           "A system keeps only the first {kept}, … {fewest} of {relevant} relevant items among"
           " {ranks:,}.",
           "relevant kept", vary_cheating, Setup(fixed=10), ("ranks", "relevant", "fixed")),
    Design("relevant_items", "Number of relevant items",
           "Users with 1 to {relevant} relevant items, whose lists have {ranks:,} items in random"
           " order.",
           "relevant items", vary_relevant_items, Setup(100, 5), bound=bound_queries),
    Design("ties", "Ties",
           "100 queries of {ranks:,} scored items, the scores rounded to 6, 5, … 0 digits.",
           "digits", vary_ties, Setup(200, 0), ("ranks",), bound_scored),
)  # fmt: skip


# --- The verb simulate: experiments on the measures themselves ------------------------------------

ALL = "all"  # on the command line


def simulate(
    name: str,
    *,
    ranks: int | None = None,
    relevant: int | None = None,
    fixed: int | None = None,
    rng: Seed = 0,
) -> Experiment:
    """Run an experiment on the measures themselves.

    >>> cheating = germane.simulate("cheating")
    >>> found = cheating["AP(norm=found)@1000"]
    >>> found[500] < found[100] < found[10]
    True
    >>> germane.simulate("recall", ranks=100, relevant=20).settings
    (4, 8, 12, 16, 20)

    ``name`` is early_precision, early_precision_50, late_precision, recall, cheating,
    relevant_items or ties. ``ranks`` is the length of each list, and ``relevant`` the number of
    relevant items in it: by default 1,000 and 500, but 100 and 5 for relevant_items. ``fixed``, for
    early_precision and cheating, is how many of the first ranks always have a relevant item, by
    default 10. ``rng`` is a seed or a NumPy generator. Raises InputError for an unknown name,
    another seed, and numbers that the experiment does not take.
    """
    design = find_design(name)
    numbers = {"ranks": ranks, "relevant": relevant, "fixed": fixed}
    design = design.describe(_choose_setup(design, numbers))
    return design.make(design, make_generator(rng))


def _choose_setup(design: Design, numbers: Mapping[str, Any]) -> Setup:
    """Choose the numbers of an experiment. Raises InputError for those that do not fit together."""
    chosen = {name: number for name, number in numbers.items() if number is not None}
    if unknown := [name for name in chosen if name not in design.takes]:
        options = list_choices(map(write_option, design.takes), "and")
        raise InputError(
            f"{design.name} takes no {write_option(unknown[0])}; of the numbers it takes {options}."
        )
    setup = design.setup
    for name in setup._fields:  # each has bounds that the numbers before it set
        least, most = design.bound(setup)[name]
        number = chosen.get(name, min(getattr(setup, name), most))
        whole = parse_whole(number)
        if whole is None or not least <= whole <= most:
            raise InputError(
                f"{write_option(name)} takes a whole number from {least} to {most:,}; got"
                f" {clip(number)}."
            )
        setup = setup._replace(**{name: whole})
    return setup


def find_design(name: str) -> Design:
    """Find the design of that name. Raises InputError where there is none."""
    by_name = {design.name: design for design in EXPERIMENTS}
    key = name.strip().lower() if isinstance(name, str) else ""
    key = key.replace(" ", "_").replace("-", "_")
    if key == ALL:
        raise InputError(
            "simulate makes one experiment at a time. To make all of them: "
            f"{{name: germane.simulate(name) for name in {tuple(by_name)}}}. "
            "On the command line: germane simulate all"
        )
    if key not in by_name:
        near = suggest(key, (*by_name, ALL))
        raise InputError(f"no experiment {clip(name)}.{near}  There are: {', '.join(by_name)}")
    return by_name[key]


# --- A gallery: a folder with the figures of experiments, and a page that describes them ----------

INDEX = "index.md"


def write_gallery(
    folder: str,
    designs: Iterable[Design],
    numbers: Mapping[str, int] | None = None,
    *,
    progress: Progress | bool | None = None,
) -> None:
    """Make experiments, and write each one's figure, as SVG, and ``index.md`` about all of them.

    The folder is made if it does not exist, but not its parent. Files of these names are replaced,
    all of them or none. ``progress`` is called before each experiment with its name, the number of
    experiments that are done, and the number of all. ``numbers`` are arguments of ``simulate``.
    Raises InputError where the folder cannot be written.
    """
    progress = make_progress(progress)
    designs = tuple(designs)
    numbers = {"rng": 0, **(numbers or {})}
    options = " ".join(
        f"--{'seed' if name == 'rng' else name} {number}" for name, number in numbers.items()
    )
    pages = [_write_heading(folder, designs, options)]
    with _keep_all_or_nothing(
        folder, [INDEX, *(f"{design.name}.svg" for design in designs)]
    ) as place:
        for done, design in enumerate(designs):
            if progress is not None:
                progress(design.name, done, len(designs))
            experiment = simulate(design.name, **numbers)
            (place / f"{design.name}.svg").write_bytes(ExperimentDisplay(experiment).picture("svg"))
            pages.append(_write_page(experiment, options))
        (place / INDEX).write_bytes("\n".join(pages).encode())


def _write_heading(folder: str, designs: tuple[Design, ...], options: str) -> str:
    name = "all" if len(designs) > 1 else designs[0].name
    target = os.path.basename(os.path.realpath(folder))
    return (
        "# Experiments on the measures themselves\n\nEach experiment varies one quantity and shows"
        " how the measures respond. germane computes every number; an equal seed gives equal"
        f" numbers. Made with germane {VERSION}:\n\n```sh\ngermane simulate {name} {options} -o"
        f" {target}/\n```\n"
    )


def _write_page(experiment: Experiment, options: str) -> str:
    name, table = experiment.name, experiment.table()
    claims = "\n".join(f"- {claim}" for claim in experiment.claims)
    defined = "\n".join(f"- `{column.name}`: {column.definition}" for column in experiment.columns)
    return (
        f"## {experiment.title}\n\n{experiment.design.line}\n\n"
        f"![{experiment.title}: {experiment.design.line}]({name}.svg)\n\n{claims}\n\n"
        f"{Table(table.columns, table.rows).markdown()}\n{defined}\n\n"
        f"Made by `germane simulate {name} {options} -o {name}.svg`\n"
    )


@contextmanager
def _keep_all_or_nothing(folder: str, names: Iterable[str]) -> Iterator[Path]:
    """Make a place for files of these names, which get to the folder all together."""
    writing.check(folder)
    target = os.path.realpath(folder)
    is_folder = os.path.isdir(target)
    if os.path.exists(target) and not is_folder:
        raise InputError(f"{folder}: this is a file; the figures need a folder.")
    ends = {name: os.path.realpath(os.path.join(target, name)) for name in names}
    for name, end in ends.items():
        if os.path.isdir(end):
            raise InputError(
                f"{os.path.join(folder, name)}: this is a folder; it has to be a file."
            )
    beside = target if is_folder else os.path.dirname(target)
    place = Path(writing.make_part(beside))
    try:
        try:
            place.mkdir(0o700)
            yield place
            os.makedirs(target, exist_ok=True)
            for name, end in ends.items():
                os.replace(place / name, end)
        finally:
            shutil.rmtree(place, ignore_errors=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror}).") from None
