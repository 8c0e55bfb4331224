"""The figure of each experiment: its curves, and the values of the measures."""

from collections.abc import Callable
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from germane.explanation.curves import PRCurve
from germane.presentation.pictures import Display, label_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from germane.teaching.experiments import Experiment, Setup


class Line(NamedTuple):
    """One column of numbers over the settings."""

    column: str
    label: str  # with {} for the value at its setting
    labeled: int  # the setting that has the label, counted from either end
    place: tuple[float, float]  # of the label, in points from the value
    numbers: float | None = None  # each value is written so many points above the line


class Drawn(NamedTuple):
    """The lines to draw of an experiment, and their words."""

    title: str
    over: str  # the axis of the settings
    height: str  # the axis of the numbers
    lines: tuple[Line, ...]
    marked: str = ""  # the meaning of the dot on each curve
    mark: "Callable[[PRCurve, Setup], int]" = lambda curve, setup: -1  # the point that has the dot
    place: tuple[float, float] = (6, 0)  # of the dot's label, in points from there
    band: tuple[str, str] | None = None  # columns between which the area is shaded
    bars: tuple[str, str, str] = ("", "", "")  # a column in place of the curves, its title and axis
    top: float | None = 1.04  # of the axis of the numbers


def _find_last_hit(curve: PRCurve, setup: "Setup") -> int:
    return int(np.flatnonzero(curve.hits)[-1])


EARLY = Drawn(
    "AP is the area under the curve by the step rule,\nΣ P@i·rel(i) ÷ R, and not the"
    " interpolated one",
    "Relevant items in ranks 1–{front}, of {relevant}",
    "Area under the curve",
    (
        Line("AP", "AP", 2, (20, -2), -4),
        Line("AUPR(rule=interpolated)", "area under the\ninterpolated curve", 0, (1, 6)),
    ),
    "rank {front}, with the relevant items up to it",
    lambda curve, setup: setup.front - 1,
    (-3, -5),
)
DRAWN = {
    "early_precision": EARLY,
    "early_precision_50": EARLY,
    "late_precision": Drawn(
        "AP = Σ P@i·rel(i) ÷ R, and what is left of it\nif the late items, or as many early ones,"
        " are missed",
        "Relevant items in ranks {behind}–{ranks}, of {relevant}",
        "AP",
        (
            Line("AP", "AP", -1, (8, 0), 7),
            Line("last missed", "AP without the\nlate items", -1, (8, 3)),
            Line("first missed", "AP without as\nmany early ones", -1, (8, 1), -4),
        ),
        "rank {last}, with the relevant items after it",
        lambda curve, setup: setup.last - 1,
        (0, 4),
    ),
    "recall": Drawn(
        "AP = Σ P@i·rel(i) ÷ R, with the recall\nand precision of the whole list",
        "Relevant items retrieved, of {relevant}",
        "AP, recall, precision",
        (
            Line("AP", "AP", -1, (8, 0), 4),
            Line("R", "recall, found ÷ R", -2, (-8, 6)),
            Line("P", "precision, found ÷ N", -2, (-8, 5)),
        ),
        "the end of the list, with the relevant items retrieved",
    ),
    "cheating": Drawn(
        "AP@{ranks} under each norm: Σ P@i·rel(i), i ≤ k = {ranks},\ndivided by …",
        "Relevant items the system keeps, of {relevant}",
        "AP@{ranks}",
        (
            Line("AP(norm=found)@{ranks}", "relevant items found", 2, (-12, 14), 7),
            Line("AP(norm=R)@{ranks}", "R, as min(R,k) here", 2, (10, 4)),
            Line("AP(norm=k)@{ranks}", "k", 2, (-2, -5)),
        ),
        "the last relevant item kept, and how many are",
        _find_last_hit,
        (5, 4),
    ),
    "relevant_items": Drawn(
        "Means over users whose lists are in random order:\nMeanP@10 = Σ P@i ÷ 10, AP@10 ="
        " Σ P@i·rel(i) ÷ min(R,10) or k",
        "Relevant items of each user",
        "Mean over the users",
        (
            Line("MeanP@10", "MeanP@10: {:.3f}", -1, (8, 0)),
            Line("AP@10", "AP@10: {:.3f}", -1, (8, 0)),
            Line("AP(norm=k)@10", "AP(norm=k)@10: {:.3f}", -1, (8, 0)),
        ),
        bars=(
            "R@10",
            "Share of the user's relevant items in the\nfirst 10 ranks: by chance, equal for all",
            "R@10",
        ),
        top=None,
    ),
    "ties": Drawn(
        "Mean AP over the queries, by the order of\nequal scores; AP = Σ P@i·rel(i) ÷ R",
        "Number of digits of the rounded scores",
        "Mean AP",
        (
            Line("expected", "random order: {:.2f}", -1, (8, 0)),
            Line("best", "best order: {:.2f}", -1, (8, 0)),
            Line("worst", "worst order: {:.2f}", -1, (8, 0)),
        ),
        band=("worst", "best"),
        bars=(
            "tied",
            "Share of the judged items whose score\nanother item of the query has too",
            "Tied items",
        ),
        top=None,
    ),
}


class ExperimentDisplay(Display):
    """An experiment's curves, and the values of its measures over the settings.

    >>> from germane.teaching.experiment_figures import ExperimentDisplay
    >>> display = ExperimentDisplay(germane.simulate("recall")).plot()
    >>> [ax.get_xlabel() for ax in display.axes_]
    ['Recall: share of the 500 relevant items found', 'Relevant items retrieved, of 500']

    ``axes_`` are the two panels, which take the place of ``ax``. For runs the left panel shows the
    share of tied items. With ``stacked=True`` the first panel is above the second, as a column
    of text or a phone has room for.
    """

    axes_: "tuple[Axes, Axes]"

    def __init__(self, experiment: "Experiment", *, stacked: bool = False) -> None:
        self.experiment = experiment
        self.setup = setup = experiment.design.setup
        drawn = DRAWN[experiment.name]
        self.drawn = drawn._replace(
            title=setup.write(drawn.title),
            over=setup.write(drawn.over),
            height=setup.write(drawn.height),
            marked=setup.write(drawn.marked),
            lines=tuple(line._replace(column=setup.write(line.column)) for line in drawn.lines),
        )
        self.stacked = stacked

    def _size(self) -> tuple[float, float]:
        return (4.8, 8.4) if self.stacked else (11.0, 4.9)

    def _draw(self, ax: "Axes") -> None:
        figure, place = ax.figure, ax.get_subplotspec()
        if place is None:
            box = ax.get_position()
            grid = figure.add_gridspec(1, 1, left=box.x0, right=box.x1, bottom=box.y0, top=box.y1)
            place = grid[0]
        ax.set_axis_off()
        halves = place.subgridspec(*((2, 1) if self.stacked else (1, 2)))
        left, right = (figure.add_subplot(half) for half in halves)
        self.axes_ = left, right
        if self.experiment.curves:
            self._draw_curves(left)
        else:
            self._draw_bars(left)
        self._draw_measures(right)
        if len(figure.axes) == 3:  # nothing else is in it
            title = f"{self.experiment.title}. {self.experiment.design.line}"
            title, size = (fill(title, 54), 11) if self.stacked else (title, 12)
            figure.suptitle(title, x=0.01, ha="left", fontsize=size)

    def _draw_curves(self, ax: "Axes") -> None:
        drawn, curves = self.drawn, self.experiment.curves
        colors = map(tuple, np.linspace(*self.colors.ramp, len(curves)))
        for color, (setting, curve) in zip(colors, curves.items(), strict=True):
            reached = curve.recall > 0  # up to the first relevant item, precision is 0
            if setting == self.experiment.settings[-1]:
                hits = curve.hits
                ax.fill_between(
                    np.append(0, curve.recall[hits]), np.append(curve.precision[hits][:1],
                    curve.precision[hits]), step="pre", color=self.colors.area, linewidth=0,
                )  # fmt: skip
            ax.plot(curve.recall[reached], curve.precision[reached], color=color, linewidth=1.7)
            point = drawn.mark(curve, self.setup)
            ax.plot(
                curve.recall[point], curve.precision[point], "o", color=color, clip_on=False, ms=5
            )
            self._write(ax, str(setting), curve.recall[point], curve.precision[point], drawn.place)
        last = list(curves)[-1]
        ax.set_title(
            f"Precision and recall at every rank; shaded: AP of {last}\n● {drawn.marked}",
            fontsize=10,
        )
        label_axes(ax, f"share of the {self.experiment.relevant} relevant items found")

    def _draw_bars(self, ax: "Axes") -> None:
        column, title, label = self.drawn.bars
        shares = self.experiment[column]
        ax.bar(
            list(shares),
            list(shares.values()),
            color=self.colors.area,
            edgecolor=self.colors.line,
            width=0.7,
        )
        for setting, share in shares.items():
            self._write(ax, f"{share:.1%}", setting, share, (0, 3))
        ax.set_title(title, fontsize=10)
        ax.set(xlabel=self.drawn.over, ylabel=label, ylim=(0, 1.08), xticks=list(shares))
        ax.grid(axis="x", visible=False)
        if self.experiment.settings[0] > self.experiment.settings[-1]:
            ax.invert_xaxis()

    def _draw_measures(self, ax: "Axes") -> None:
        drawn, experiment, settings = self.drawn, self.experiment, self.experiment.settings
        if drawn.band is not None:
            low, high = (list(experiment[name].values()) for name in drawn.band)
            ax.fill_between(settings, low, high, color=self.colors.area, linewidth=0)
        written: set[tuple[int, str]] = set()
        for line, (color, dashes) in zip(drawn.lines, self.colors.lines, strict=False):
            values = list(experiment[line.column].values())
            ax.plot(settings, values, color=color, linestyle=dashes, marker="o", markersize=4)
            label = line.label.format(values[line.labeled])
            self._write(ax, label, settings[line.labeled], values[line.labeled], line.place, color)
            for setting, value in zip(settings, values, strict=True):
                text = f"{value:.2f}"
                if line.numbers is not None and (setting, text) not in written:  # lines may meet
                    written.add((setting, text))
                    self._write(ax, text, setting, value, (0, line.numbers))
        ax.set_title(drawn.title, fontsize=10)
        ax.set(xlabel=drawn.over, ylabel=drawn.height, xticks=settings)
        if drawn.band is None:
            ax.set_ylim(0, drawn.top)
        if settings[0] > settings[-1]:
            ax.invert_xaxis()

    def _write(
        self,
        ax: "Axes",
        text: str,
        x: float,
        y: float,
        place: tuple[float, float],
        color: str | None = None,
    ) -> None:
        """Write a short text beside a point, at a distance to the right and above in points."""
        from matplotlib.patheffects import withStroke

        across, up = place
        side = "center" if across == 0 else "left" if across > 0 else "right"
        ax.annotate(
            text, (x, y), xytext=place, textcoords="offset points", fontsize=9,
            color=color or self.colors.ink, ha=side,
            va="center" if up == 0 else "bottom" if up > 0 else "top", annotation_clip=False,
            path_effects=[withStroke(linewidth=2.5, foreground=self.colors.paper)],
        )  # fmt: skip
