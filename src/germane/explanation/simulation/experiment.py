"""Experiment: the settings of one quantity, a ranking for each, and the values of the measures."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from germane._version import VERSION
from germane.errors import NotFoundError, clip, offer
from germane.explanation.precision_recall import PRCurve
from germane.explanation.simulation.figures import ExperimentDisplay
from germane.output.formatting import add_schema, format_number
from germane.output.frames import Tabular
from germane.output.markup import Paper
from germane.output.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        lists = self.rankings if self.relevant is not None else {}
        return add_schema(
            {
                "germane": VERSION,
                "name": self.name,
                "title": self.title,
                "design": self.design.line,
                "swept": self.design.swept,
                "settings": list(self.settings),
                "relevant": self.relevant,
                "relevant_ranks": {
                    str(setting): [rank for rank, grade in enumerate(grades, 1) if grade]
                    for setting, grades in lists.items()
                },
                "columns": [
                    {**column._asdict(), "values": list(column.values)} for column in self.columns
                ],
                "shows": list(self.claims),
            }
        )
