"""The verb simulate: one property of rankings is varied, and the measures respond."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from germane._version import VERSION
from germane.core.calls import Progress, Seed, make_generator, make_progress
from germane.core.ragged import Ints
from germane.dialects.names import parse
from germane.errors import InputError, NotFoundError, clip, offer, suggest
from germane.evaluation.evaluate import evaluate_many, score
from germane.explanation.curves import PRCurve
from germane.explanation.explain import pr_curve
from germane.output import writing
from germane.output.documents import make_document, name_values
from germane.output.named_columns import Tabular
from germane.output.pictures import Paper
from germane.output.tables import Table, format_number
from germane.teaching.experiment_figures import ExperimentDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "simulate",
]


Grades = tuple[int, ...]


class Design(NamedTuple):
    """The description of an experiment, and the function that makes it from random numbers."""

    name: str
    title: str
    line: str  # a description in one line
    swept: str  # the quantity that is varied, as a heading and as the label of an axis
    make: "Callable[[Design, np.random.Generator], Experiment]"


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
    list in rank order, with ``relevant`` relevant items in all, or to a run
    ``{query: {item: score}}`` with its ``qrels``. ``curves`` maps each setting to the curve of its
    list, and is empty for runs. ``columns`` hold the measures' values, one a setting, and
    ``claims`` are sentences with numbers from them.
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

    def save(self, path: str | os.PathLike[str], *, paper: Paper = "light") -> None:
        """Write the picture of ``plot`` to a file: svg, png or pdf."""
        ExperimentDisplay(self).save(path, paper=paper)

    def table(self, *, digits: int | None = 4) -> Table:
        """Return one row a setting; the claims and the columns' definitions as notes."""
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
# All but the last vary the ranks or the number of the relevant items of one list of 1,000 items,
# 500 of them relevant. The last rounds scores, so that more and more of them are equal.

LENGTH, RELEVANT = 1000, 500
FRONT, LAST = 250, 750  # the first ranks end at FRONT, the last begin after LAST
EARLY = (50, 100, 150, 200, 250)
LATE = (0, 50, 100, 150, 200, 250)
FOUND = (100, 200, 300, 400, 500)
KEPT = (500, 400, 300, 200, 100, 50, 10)


def vary_early_precision(design: Design, rng: np.random.Generator, first: int) -> Experiment:
    """Move relevant items to the front, behind so many first ranks that always have one."""
    always = np.arange(1, first + 1)
    front = np.append(always, rng.permutation(np.arange(first + 1, FRONT + 1)))
    behind = rng.permutation(np.arange(FRONT + 1, LENGTH + 1))
    lists = {n: _make_list(front[:n], behind[: RELEVANT - n]) for n in EARLY}
    curves = _make_curves(lists)
    columns = (_measure(f"R@{FRONT}", lists), *_measure_areas(lists))
    claims = (
        *_claim_early(first, columns[1].values, curves[EARLY[0]]),
        _describe_ends(curves),
        _compare_areas(lists, columns[1:]),
    )
    return Experiment(design, EARLY, lists, columns, claims, curves, RELEVANT)


def _claim_early(first: int, ap: Sequence[float], fewest: PRCurve) -> Iterator[str]:
    yield (
        f"AP rises from {ap[0]:.4f} to {ap[-1]:.4f} as the relevant items in the first {FRONT}"
        f" ranks go from {EARLY[0]} to {EARLY[-1]} of {RELEVANT}:"
        f" {(ap[-1] - ap[0]) / (EARLY[-1] - EARLY[0]):.4f} for each item moved to the front."
    )
    lowest = int(fewest.precision.argmin())
    yield (
        f"With {EARLY[0]} there, precision falls from {fewest.precision[first - 1]:.4g} at rank "
        f"{first} to {fewest.precision[lowest]:.4f} at rank {fewest.rank[lowest]}."
    )


def vary_late_precision(design: Design, rng: np.random.Generator) -> Experiment:
    """Move more and more relevant items to the last ranks."""
    front = rng.permutation(np.arange(1, LAST + 1))
    behind = rng.permutation(np.arange(LAST + 1, LENGTH + 1))
    lists = {n: _make_list(front[: RELEVANT - n], behind[:n]) for n in LATE}
    without_last = {n: _keep(grades, 0, RELEVANT - n) for n, grades in lists.items()}
    without_first = {n: _keep(grades, n, RELEVANT) for n, grades in lists.items()}
    last = f"AP if the relevant items after rank {LAST} are not retrieved"
    first = "AP if as many from the first one on are not retrieved instead"
    columns = (
        _measure("AP", lists),
        _measure("AP", without_last, "last missed", last),
        _measure("AP", without_first, "first missed", first),
    )
    claims = tuple(_claim_late(*(column.values for column in columns)))
    return Experiment(design, LATE, lists, columns, claims, _make_curves(lists), RELEVANT)


def _claim_late(
    ap: Sequence[float], without_last: Sequence[float], without_first: Sequence[float]
) -> Iterator[str]:
    yield (
        f"AP falls from {ap[0]:.4f} to {ap[-1]:.4f} as {LATE[-1]} of {RELEVANT} relevant items move"
        f" from the first {LAST} ranks to the last {LENGTH - LAST}:"
        f" {(ap[0] - ap[-1]) / LATE[-1]:.4f} for each item moved."
    )
    last, first = ap[1] - without_last[1], ap[1] - without_first[1]
    yield (
        f"Missing the {LATE[1]} in the last ranks costs {last:.4f} of an AP of {ap[1]:.4f}; missing"
        f" the first {LATE[1]} instead costs {first:.4f}, {first / last:.1f} times as much: an"
        " early item also raises the precision at every relevant item after it."
    )


def vary_recall(design: Design, rng: np.random.Generator) -> Experiment:
    """Retrieve more and more of the relevant items."""
    ranks = rng.permutation(np.arange(1, LENGTH + 1))
    lists = {n: _make_list(ranks[:n]) for n in FOUND}
    curves = _make_curves(lists)
    columns = (_measure("R", lists), _measure("P", lists), *_measure_areas(lists))
    claims = (*_claim_recall(*(c.values for c in columns[:3])), _compare_areas(lists, columns[2:]))
    return Experiment(design, FOUND, lists, columns, claims, curves, RELEVANT)


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
        f" the precision at those found, to {precision[0]:g} at the end of the list in place of"
        f" {precision[-1]:g}."
    )


def vary_cheating(design: Design, rng: np.random.Generator) -> Experiment:
    """Let one system keep fewer and fewer of its relevant items."""
    front = np.append(np.arange(1, 11), rng.permutation(np.arange(11, FRONT + 1))[:190])
    full_list = _make_list(front, rng.permutation(np.arange(FRONT + 1, LENGTH + 1))[:300])
    lists = {n: _keep(full_list, 0, n) for n in KEPT}
    norms = ("found", "R", "min", "k")
    columns = tuple(_measure(f"AP(norm={norm})@{LENGTH}", lists) for norm in norms)
    claims = tuple(_claim_cheating(*columns[:2]))
    return Experiment(design, KEPT, lists, columns, claims, _make_curves(lists), RELEVANT)


def _claim_cheating(column: Column, textbook: Column) -> Iterator[str]:
    yield (
        f"A system that keeps only the first {KEPT[-1]} of its {KEPT[0]} relevant items raises its"
        f" {column.name} from {column.values[0]:.4f} to {column.values[-1]:.4f}: the items that it"
        " drops leave the divisor as well."
    )
    yield (
        f"Its {textbook.name} falls from {textbook.values[0]:.4f} to {textbook.values[-1]:.4f},"
        " since R stays the same."
    )
    yield (
        "While everything is found, both numbers are equal. min(R,k) is always R, since "
        f"R = {RELEVANT} is less than k = {LENGTH}."
    )


def _make_list(*ranks: Ints) -> Grades:
    """Make a list with relevant items at these ranks."""
    grades = np.zeros(LENGTH + 1, int)
    grades[np.concatenate(ranks)] = 1
    return tuple(grades[1:].tolist())


def _keep(grades: Grades, start: int, stop: int) -> Grades:
    """Keep the relevant items from ``start`` to ``stop``; make the others not relevant."""
    return _make_list((np.flatnonzero(grades) + 1)[start:stop])


def _make_curves(lists: Mapping[int, Grades]) -> dict[int, PRCurve]:
    return {n: pr_curve(grades, relevant=RELEVANT) for n, grades in lists.items()}


def _measure(
    measure: str, lists: Mapping[int, Grades], name: str = "", definition: str = ""
) -> Column:
    parsed = parse(measure)
    values = (score(grades, parsed, relevant=RELEVANT) for grades in lists.values())
    return Column(name or str(parsed), definition or parsed.definition, tuple(values))


def _measure_areas(lists: Mapping[int, Grades]) -> tuple[Column, ...]:
    names = ("AP", "AUPR(rule=trapezoid)", "AUPR(rule=interpolated)")
    return tuple(_measure(name, lists) for name in names)


def _describe_ends(curves: Mapping[int, PRCurve]) -> str:
    """Describe the one point where all curves end, since every list holds every relevant item."""
    ((recall, precision),) = {(c.recall[-1], c.precision[-1]) for c in curves.values()}
    return f"All {len(curves)} curves end at recall {recall:g}, precision {precision:g}."


def _compare_areas(lists: Mapping[int, Grades], areas: tuple[Column, ...]) -> str:
    """Compare AP with the areas by other rules."""
    ap, trapezoid, interpolated = (np.array(column.values) for column in areas)
    step = np.array(_measure("AUPR(rule=step)", lists).values)
    return (
        f"AP is the area by the step rule (largest difference {np.abs(ap - step).max():g}), within "
        f"{np.abs(ap - trapezoid).max():.4f} of the trapezoids', and up to "
        f"{(interpolated - ap).max():.4f} below the area under the interpolated curve."
    )


QUERIES, ITEMS = 100, 200
SHARE = 0.2  # of the items that are relevant
LEAD = 1.0  # by how much a relevant item scores higher, in standard deviations
DIGITS = (6, 5, 4, 3, 2, 1, 0)

Run = Mapping[str, Mapping[str, float]]


def vary_ties(design: Design, rng: np.random.Generator) -> Experiment:
    """Round the scores of many queries to fewer and fewer digits."""
    grades = (rng.random((QUERIES, ITEMS)) < SHARE).astype(int)
    scores = LEAD * grades + rng.standard_normal((QUERIES, ITEMS))
    runs = {digits: _group_by_query(scores.round(digits)) for digits in DIGITS}
    qrels = _group_by_query(grades)
    columns = _measure_ties(qrels, runs)
    claims = tuple(_claim_ties(*(column.values for column in columns)))
    return Experiment(design, DIGITS, runs, columns, claims, qrels=qrels)


def _group_by_query(values: Any) -> dict[str, dict[str, Any]]:
    items = [f"d{i:03}" for i in range(1, ITEMS + 1)]
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
        f" {tied[-1]:.1%} are tied, and AP is between {worst[-1]:.4f} and {best[-1]:.4f}, as the"
        " order of equal scores decides."
    )
    bands = ", ".join(f"{high - low:.4f}" for low, high in zip(worst, best, strict=True))
    yield f"From {DIGITS[0]} digits to {DIGITS[-1]}, best − worst is {bands}."
    yield (
        f"At {DIGITS[-1]} digits random order is expected to give {expected[-1]:.4f}, and order by "
        f"item id gives {trec[-1]:.4f}: an id says nothing about relevance here."
    )


EXPERIMENTS = (  # in the order in which they are best read
    Design("early_precision", "Early precision",
           "50 to 250 of 500 relevant items in the first 250 of 1,000 ranks, 10 of them first.",
           "relevant in ranks 1–250", partial(vary_early_precision, first=10)),
    Design("early_precision_50", "Early precision, the first 50 relevant",
           "50 to 250 of 500 relevant items in the first 250 of 1,000 ranks, 50 of them first.",
           "relevant in ranks 1–250", partial(vary_early_precision, first=50)),
    Design("late_precision", "Late precision",
           "0 to 250 of 500 relevant items in the last 250 of 1,000 ranks, the others before.",
           "relevant in ranks 751–1000", vary_late_precision),
    Design("recall", "Recall",
           "100 to 500 of 500 relevant items retrieved, at random among 1,000 ranks.",
           "relevant retrieved", vary_recall),
    Design("cheating", "Cheating",
           "A system keeps only the first 500, 400, … 10 of 500 relevant items among 1,000.",
           "relevant kept", vary_cheating),
    Design("ties", "Ties",
           "100 queries of 200 scored items, the scores rounded to 6, 5, … 0 digits.",
           "digits", vary_ties),
)  # fmt: skip


# --- The verb simulate: experiments on the measures themselves ------------------------------------

ALL = "all"  # on the command line


def simulate(name: str, *, rng: Seed = 0) -> Experiment:
    """Run one of the experiments on the measures themselves.

    >>> cheating = germane.simulate("cheating")
    >>> found = cheating["AP(norm=found)@1000"]
    >>> found[500] < found[100] < found[10]
    True

    ``name`` is early_precision, early_precision_50, late_precision, recall, cheating or ties.
    ``rng`` is a seed or a NumPy generator. Raises InputError for an unknown name or another seed.
    """
    design = find_design(name)
    return design.make(design, make_generator(rng))


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
    *,
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> None:
    """Make experiments, and write each one's figure, as SVG, and ``index.md`` about all of them.

    The folder is made if it does not exist, but not its parent. Files of these names are replaced,
    all of them or none. ``progress`` is called before each experiment with its name, the number of
    experiments that are done, and the number of all. Raises InputError where the folder cannot be
    written.
    """
    progress = make_progress(progress)
    designs = tuple(designs)
    pages = [_write_heading(folder, designs, seed)]
    with _keep_all_or_nothing(
        folder, [INDEX, *(f"{design.name}.svg" for design in designs)]
    ) as place:
        for done, design in enumerate(designs):
            if progress is not None:
                progress(design.name, done, len(designs))
            experiment = simulate(design.name, rng=seed)
            (place / f"{design.name}.svg").write_bytes(ExperimentDisplay(experiment).picture("svg"))
            pages.append(_write_page(experiment, seed))
        (place / INDEX).write_bytes("\n".join(pages).encode())


def _write_heading(folder: str, designs: tuple[Design, ...], seed: int) -> str:
    name = "all" if len(designs) > 1 else designs[0].name
    target = os.path.basename(os.path.realpath(folder))
    return (
        "# Experiments on the measures themselves\n\nEach experiment varies one quantity and shows"
        " how the measures respond. germane computes every number; an equal seed gives equal"
        f" numbers. Made with germane {VERSION}:\n\n```sh\ngermane simulate {name} --seed {seed} -o"
        f" {target}/\n```\n"
    )


def _write_page(experiment: Experiment, seed: int) -> str:
    name, table = experiment.name, experiment.table()
    claims = "\n".join(f"- {claim}" for claim in experiment.claims)
    defined = "\n".join(f"- `{column.name}`: {column.definition}" for column in experiment.columns)
    return (
        f"## {experiment.title}\n\n{experiment.design.line}\n\n"
        f"![{experiment.title}: {experiment.design.line}]({name}.svg)\n\n{claims}\n\n"
        f"{Table(table.columns, table.rows).markdown()}\n{defined}\n\n"
        f"Made by `germane simulate {name} --seed {seed} -o {name}.svg`\n"
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
