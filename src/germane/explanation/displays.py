"""Displays: pictures of precision–recall curves, and of a measure's values per query."""

import math
from collections.abc import Mapping, Sequence
from itertools import cycle
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from germane.core.mean_intervals import Interval
from germane.core.ragged import Floats
from germane.errors import InputError
from germane.explanation.curves import MeanPRCurve, PRCurve, Rule, check_rule
from germane.measures import find_direction
from germane.measures.averaging import QueryValues
from germane.measures.measure import Measure
from germane.output.tables import write_count
from germane.presentation.pictures import Display, draw_bars, label_axes, set_title, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from germane.evaluation.result import Results

AREAS: dict[Rule, str] = {11: "the mean of 11 levels", 101: "the mean of 101 levels"}
NAMED = 14  # terms written into their bars, up to so many
MARKED = 60  # relevant ranks marked one by one, up to so many
FEW_CURVES = 6  # a legend has room between so many
STEPS = np.linspace(0.02, 0.98, 97)  # recall at which a name beside a curve may begin


class PRCurveDisplay(Display):
    """The precision–recall curve of one list, and the area under it by one rule.

    >>> from germane.plot import PRCurveDisplay
    >>> curve = germane.pr_curve([0, 0, 1, 0, 1, 0, 0, 1, 0, 0], relevant=3)
    >>> PRCurveDisplay(curve).plot().ax_.get_xlabel()
    'Recall: share of the 3 relevant items found'

    With ``rule="step"`` the terms of AP are bars, one a relevant item, and the shaded area is AP;
    ``interpolated`` shades below the best precision from each recall on, ``trapezoid`` below the
    straight lines, and ``11`` and ``101`` mark the recall levels. The line from the curve's start
    to rank 1 is dotted, since the start is a convention.
    """

    def __init__(self, curve: PRCurve, *, rule: Rule = "step") -> None:
        self.curve = curve
        self.rule = check_rule(rule)

    def _draw(self, ax: "Axes") -> None:
        curve = self.curve
        self._shade(ax)
        raw = self.rule in ("step", "trapezoid")
        lead, measured = _part_line(curve)
        ax.plot(
            *measured,
            color=self.colors.line if raw else self.colors.faint,
            linewidth=1.6 if raw else 1.0,
            label="precision at every rank",
        )
        if lead is not None:
            ax.plot(
                *lead, ":", color=self.colors.faint, linewidth=1.2, label=f"start at {curve.start}"
            )
        recall, precision = curve.recall[curve.hits], curve.precision[curve.hits]
        if len(recall) <= MARKED:
            ax.plot(
                recall, precision, "o", color=self.colors.line, markersize=5, clip_on=False,
                label="relevant ranks",
            )  # fmt: skip
        self._mark_missed(ax)
        about = "" if curve.query == "list" else f", query {shorten(curve.query)}"
        area = AREAS.get(self.rule, "the shaded area")
        set_title(
            ax,
            f"{_name_area(self.rule)} = {curve.area(self.rule):.4f}, {area}{about}\n"
            f"{_define_area(self.rule, curve.rel)}",
        )
        label_axes(ax, f"share of the {curve.relevant} relevant items found")
        ax.legend(loc="best" if len(curve.rank) <= 2000 else "upper right")

    def _shade(self, ax: "Axes") -> None:
        curve, fill = self.curve, {"color": self.colors.area, "linewidth": 0.0}
        recall = curve.recall[curve.hits]
        before = np.append(0.0, recall[:-1])
        match self.rule:
            case "step":
                heights = curve.precision[curve.hits]
                edge = self.colors.edge if len(recall) <= MARKED else self.colors.area
                ax.bar(
                    before,
                    heights,
                    recall - before,
                    align="edge",
                    color=self.colors.area,
                    edgecolor=edge,
                )
                self._write_terms(ax, before, recall)
            case "trapezoid":
                ax.fill_between(*curve.drawn, **fill)
            case "interpolated":
                heights = curve.interpolated[curve.hits]
                ax.bar(before, heights, recall - before, align="edge", **fill)
                ax.stairs(
                    heights, np.append(0.0, recall), baseline=None, color=self.colors.line,
                    linewidth=2.0,
                    label="interpolated: the best from there on",
                )  # fmt: skip
            case points:
                levels, best = curve.levels(points)
                ax.vlines(
                    levels, 0, best, color=self.colors.edge, linewidth=1.0 if points == 11 else 0.6
                )
                size = 6 if points == 11 else 2.5
                label = f"interpolated precision at {points} levels"
                ax.plot(
                    levels,
                    best,
                    "s",
                    color=self.colors.line,
                    markersize=size,
                    clip_on=False,
                    label=label,
                )

    def _write_terms(self, ax: "Axes", before: Any, recall: Any) -> None:
        """Write each term, as found/rank, at the foot of its bar."""
        curve = self.curve
        ranks = curve.rank[curve.hits].tolist()
        if len(ranks) > NAMED or curve.relevant > NAMED:
            return
        counts = np.rint(recall * curve.relevant).astype(int).tolist()
        for middle, n, rank in zip((before + recall) / 2, counts, ranks, strict=True):
            ax.text(middle, 0.02, f"{n}/{rank}", ha="center", va="bottom", fontsize=9)

    def _mark_missed(self, ax: "Axes") -> None:
        """Hatch the area beyond the end of the curve, where relevant items were not retrieved."""
        end = float(self.curve.recall[-1])
        missed = self.curve.relevant - round(end * self.curve.relevant)
        if not missed:
            return
        face, hatching = self.colors.missing
        ax.axvspan(end, 1.0, facecolor=face, edgecolor=hatching, hatch="///", linewidth=0)
        ax.text(
            (1 + end) / 2, 0.5, f"{missed} not retrieved", ha="center", va="center", fontsize=9,
            rotation=90 if 1 - end < 0.2 else 0,
            bbox={"facecolor": self.colors.paper, "edgecolor": "none", "alpha": 0.85, "pad": 2},
        )  # fmt: skip


class PRCurvesDisplay(Display):
    """Several precision–recall curves: of one query each, or averaged with their bands.

    >>> from germane.plot import PRCurvesDisplay
    >>> curves = {"a": germane.pr_curve([1, 0, 1]), "b": germane.pr_curve([0, 1, 1])}
    >>> len(PRCurvesDisplay(curves).plot().ax_.lines)
    2

    The legend begins with the largest area. A curve is named where the name touches no other curve.
    """

    def __init__(self, curves: Mapping[str, PRCurve | MeanPRCurve], *, rule: Rule = "step") -> None:
        if not curves:
            raise InputError("there are no curves to draw.")
        self.curves = dict(curves)
        self.rule = check_rule(rule)

    @property
    def _is_crowded(self) -> bool:
        """Do the curves leave no room for a legend between them?"""
        return len(self.curves) > FEW_CURVES

    def _size(self) -> tuple[float, float]:
        return (9.2, 5.2) if self._is_crowded else super()._size()

    def _draw(self, ax: "Axes") -> None:
        areas = {run: curve.area(self.rule) for run, curve in self.curves.items()}
        drawn: dict[str, tuple[Line2D, Floats, Floats]] = {}
        for (run, curve), (color, dashes) in zip(
            self.curves.items(), cycle(self.colors.lines), strict=False
        ):
            if isinstance(curve, MeanPRCurve):
                alpha = 0.06 if self._is_crowded else 0.15
                ax.fill_between(curve.recall, curve.low, curve.high, color=color, alpha=alpha, lw=0)
                marker = "o" if len(curve.recall) <= 11 else ""
                x, y = curve.recall, curve.precision
            else:
                marker, (x, y) = "", _part_line(curve)[1]
            label = f"{shorten(run)}  {areas[run]:.4f}"
            (line,) = ax.plot(
                x, y, color=color, linestyle=dashes, marker=marker, markersize=4, label=label
            )
            drawn[run] = line, x, y
        first = next(iter(self.curves.values()))
        defined = f"{_name_area(self.rule)}: {_define_area(self.rule, first.rel)}"
        if isinstance(first, MeanPRCurve):
            title = (
                f"Interpolated precision, mean over {write_count(first.queries, 'query')}\n(0 where"
                " its list does not get that far)"
                + (f"; bands: {first.confidence:.0%} intervals" if first.has_band else "")
            )
            recall, legend = "share of a query's relevant items found", "mean "
        else:
            title = f"Precision and recall at every rank, query {shorten(first.query)}"
            recall, legend = f"share of the {first.relevant} relevant items found", ""
        set_title(ax, f"{title}\n{defined}")
        label_axes(ax, recall)
        best_first = sorted(drawn, key=lambda run: (math.isnan(areas[run]), -areas[run]))
        self._write_names(ax, {run: drawn[run] for run in best_first})
        lines = [drawn[run][0] for run in best_first]
        place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1)} if self._is_crowded else {}
        ax.legend(
            lines, [line.get_label() for line in lines],  # a label may begin with an underscore
            title=legend + _name_area(self.rule), alignment="left", handlelength=3.2, **place,
        )  # fmt: skip

    def _write_names(self, ax: "Axes", drawn: "dict[str, tuple[Line2D, Floats, Floats]]") -> None:
        """Write each run's name beside its curve, where it touches no curve and no other name."""
        if len(drawn) < 2:
            return
        from matplotlib.patheffects import withStroke

        box = ax.get_window_extent()
        point = 72 / ax.figure.dpi
        unit = 1.005 / (box.width * point), 1.04 / (box.height * point)  # of a typographic point
        heights = [np.interp(STEPS, x, y, math.nan, math.nan) for _, x, y in drawn.values()]
        taken: list[Box] = []
        for number, (run, (line, _, _)) in enumerate(drawn.items()):
            name = shorten(run, 18)
            width, height = 5.2 * len(name) * unit[0], 9.5 * unit[1]
            spot = _find_room(heights, number, (width, height), 3 * unit[1], taken)
            if spot is None:
                continue
            taken.append(spot)
            ax.text(
                spot.left, spot.bottom, name, color=line.get_color(), fontsize=8, va="bottom",
                path_effects=[withStroke(linewidth=2.5, foreground=self.colors.paper)],
            )  # fmt: skip


class PerQueryDisplay(Display):
    """One measure's value for every query, from the highest to the lowest, with the mean.

    >>> from germane.plot import PerQueryDisplay
    >>> result = germane.evaluate({"q": ["a"], "p": ["b"]}, {"q": ["a"], "p": ["c"]}, "AP")
    >>> PerQueryDisplay(result["AP"]).plot().ax_.get_ylabel()
    'AP'
    """

    def __init__(self, values: QueryValues, *, name: str = "") -> None:
        self.values = values
        self.name = name

    def _draw(self, ax: "Axes") -> None:
        values, measure = self.values, self.values.measure
        ranked = sorted(values.per_query.items(), key=lambda pair: -pair[1])
        heights = [value for _, value in ranked]
        draw_bars(ax, [query for query, _ in ranked], heights, self.colors.edge)
        ax.axhline(values.mean, color=self.colors.ink, linestyle="--", linewidth=1.2)
        ax.annotate(
            f"mean {values.mean:.4f}", (1, values.mean), xycoords=("axes fraction", "data"),
            ha="right", va="bottom", fontsize=9,
        )  # fmt: skip
        of_run = f" of {shorten(self.name)}" if self.name else ""
        set_title(ax, f"{measure}{of_run}, {len(ranked):,} queries\n{measure.definition}")
        ax.set_ylabel(str(measure))


class MeansDisplay(Display):
    """The mean of each run on one measure, with its confidence interval; the best run on top.

    >>> from germane.plot import MeansDisplay
    >>> liked = {user: ["a"] for user in range(9)}
    >>> runs = {"one": {user: ["a"] for user in liked}, "two": {user: ["b", "a"] for user in liked}}
    >>> MeansDisplay(germane.evaluate_many(liked, runs, "RR")).plot().means_
    {'one': 1.0, 'two': 0.5}

    ``measure`` is the first one unless it is given, and ``confidence`` is the level of the
    intervals. ``name`` is what the picture calls the measure. Raises NotFoundError for a measure
    that was not evaluated.
    """

    def __init__(
        self,
        results: "Results",
        *,
        measure: str | Measure | None = None,
        confidence: float = 0.95,
        name: str = "",
    ) -> None:
        Interval.check_confidence(confidence)
        first = next(iter(results.values()))
        self.measure = first[results.measures[0] if measure is None else measure].measure
        self.name, self.confidence = name or str(self.measure), confidence
        values = {run: result[self.measure] for run, result in results.items()}
        falls = find_direction(self.measure.name) < 0
        order = sorted(values, key=lambda run: values[run].mean, reverse=not falls)
        self.means_ = {run: values[run].mean for run in order}
        self.intervals_ = {
            run: values[run].interval(confidence=confidence) if values[run].has_interval else None
            for run in order
        }

    def _size(self) -> tuple[float, float]:
        return (6.4, 1.7 + 0.32 * len(self.means_))

    def _draw(self, ax: "Axes") -> None:
        for row, (run, mean) in enumerate(self.means_.items()):
            interval, text = self.intervals_[run], f"{mean:.3f}"
            if interval is not None:
                ends = (interval.low, interval.high)
                ax.plot(ends, (row, row), color=self.colors.line, linewidth=1.6)
                text += f"  [{interval.low:.3f}, {interval.high:.3f}]"
            ax.plot(mean, row, "o", color=self.colors.line, markersize=6)
            ax.annotate(
                text, (1.02, row), xycoords=("axes fraction", "data"), va="center", fontsize=8,
                annotation_clip=False,
            )  # fmt: skip
        names = [shorten(run) for run in self.means_]
        ax.set_yticks(range(len(names)), names, parse_math=False)
        ax.set_ylim(len(names) - 0.4, -0.6)
        ax.grid(axis="y", visible=False)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel(self.name, parse_math=False)
        level = f"{100 * self.confidence:g}%"
        set_title(
            ax, f"{self.name}: means with {level} intervals\n{fill(self.measure.definition, 60)}"
        )


def _part_line(curve: PRCurve) -> tuple[Any, tuple[Any, Any]]:
    """Part a curve into the line from its start to its first rank, and the line from there on.

    The start is a convention and not a result, so it is drawn apart. A line along the axis is not
    drawn.
    """
    recall, precision = curve.drawn
    if curve.origin is None:
        return None, (recall, precision)
    lead = (recall[:2], precision[:2]) if recall[1] > 0 else None
    return lead, (recall[1:], precision[1:])


class Box(NamedTuple):
    """The area that a name takes, in recall and precision."""

    left: float
    bottom: float
    right: float
    top: float


def _find_room(
    heights: "Sequence[Floats]",
    number: int,
    size: tuple[float, float],
    gap: float,
    taken: list[Box],
) -> Box | None:
    """Find the place beside a curve that is farthest from the others; None where none is free."""
    width, height = size
    best, room = 1.5 * gap, None
    for start, left in enumerate(STEPS):
        within = slice(start, int(np.searchsorted(STEPS, left + width)) + 1)
        curve = heights[number][within]
        if left + width > STEPS[-1] or np.isnan(curve).any() or np.ptp(curve) > height:
            continue
        for bottom in (float(curve.max()) + gap, float(curve.min()) - gap - height):
            box = Box(float(left), bottom, float(left) + width, bottom + height)
            if bottom < 0 or box.top > 1.03 or any(_overlap(box, taken_box) for taken_box in taken):
                continue
            free = min(
                (
                    _measure_distance(box, height[within])
                    for i, height in enumerate(heights)
                    if i != number
                ),
                default=math.inf,
            )
            if free > best:
                best, room = free, box
    return room


def _measure_distance(box: Box, heights: "Floats") -> float:
    """Measure how far a piece of a curve is above or below a box; 0 where it touches the box."""
    levels = heights[~np.isnan(heights)]
    if not len(levels):
        return 1.0
    return max(0.0, float(levels.min()) - box.top, box.bottom - float(levels.max()))


def _overlap(box: Box, second: Box) -> bool:
    across = box.left < second.right and second.left < box.right
    return across and box.bottom < second.top and second.bottom < box.top


def _name_area(rule: Rule) -> str:
    return "AP" if rule == "step" else f"AUPR(rule={rule})"


def _define_area(rule: Rule, rel: float) -> str:
    return Measure("AUPR", (("rule", rule), ("rel", rel))).definition
