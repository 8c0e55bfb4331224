"""Pictures of curves and of values per query, with Matplotlib (``pip install 'germane[plot]'``).

A display holds finished values; ``plot(ax=…)`` draws them and keeps ``ax_`` and ``figure_``, as
scikit-learn's displays do. All have one style, and lines differ in their dashes as well as their colors.
"""

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from germane.errors import InputError
from germane.explanation.precision_recall import MeanPRCurve, PRCurve, Rule, check_rule
from germane.measures.averaging import QueryValues
from germane.measures.measure import Measure
from germane.output.pictures import AREA, EDGE, FAINT, INK, LINE, LINES, Display, label_axes
from germane.output.tables import make_visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AREAS: dict[Rule, str] = {11: "the mean of 11 levels", 101: "the mean of 101 levels"}
NAMED = 14  # terms written into their bars, up to so many
MARKED = 60  # relevant ranks marked one by one, up to so many


class PRCurveDisplay(Display):
    """The precision–recall curve of one list, and the area under it by one rule.

    >>> from germane.plot import PRCurveDisplay
    >>> curve = germane.pr_curve([0, 0, 1, 0, 1, 0, 0, 1, 0, 0], relevant=3)
    >>> PRCurveDisplay(curve).plot().ax_.get_xlabel()
    'Recall: share of the 3 relevant items found'

    With ``rule="step"`` the terms of AP are bars, one a relevant item, and the shaded area is AP;
    ``interpolated`` shades below the best precision from each recall on, ``trapezoid`` below the
    straight lines, and ``11`` and ``101`` mark the recall levels. The line from the curve's start to
    rank 1 is dotted, since the start is a convention.
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
            color=LINE if raw else FAINT,
            linewidth=1.6 if raw else 1.0,
            label="precision at every rank",
        )
        if lead is not None:
            ax.plot(*lead, ":", color=FAINT, linewidth=1.2, label=f"start at {curve.start}")
        recall, precision = curve.recall[curve.hits], curve.precision[curve.hits]
        if len(recall) <= MARKED:
            ax.plot(
                recall, precision, "o", color=LINE, markersize=5, clip_on=False,
                label="relevant ranks",
            )  # fmt: skip
        self._mark_missed(ax)
        about = "" if curve.query == "list" else f", query {_shorten(curve.query)}"
        area = AREAS.get(self.rule, "the shaded area")
        _set_title(
            ax,
            f"{_name_area(self.rule)} = {curve.area(self.rule):.4f}, {area}{about}\n"
            f"{_define_area(self.rule, curve.rel)}",
        )
        label_axes(ax, f"share of the {curve.relevant} relevant items found")
        ax.legend(loc="best" if len(curve.rank) <= 2000 else "upper right")

    def _shade(self, ax: "Axes") -> None:
        curve, fill = self.curve, {"color": AREA, "linewidth": 0.0}
        recall = curve.recall[curve.hits]
        before = np.append(0.0, recall[:-1])
        match self.rule:
            case "step":
                heights = curve.precision[curve.hits]
                edge = EDGE if len(recall) <= MARKED else AREA
                ax.bar(before, heights, recall - before, align="edge", color=AREA, edgecolor=edge)
                self._write_terms(ax, before, recall)
            case "trapezoid":
                ax.fill_between(*curve.drawn, **fill)
            case "interpolated":
                heights = curve.interpolated[curve.hits]
                ax.bar(before, heights, recall - before, align="edge", **fill)
                ax.stairs(
                    heights, np.append(0.0, recall), baseline=None, color=LINE, linewidth=2.0,
                    label="interpolated: the best from there on",
                )  # fmt: skip
            case points:
                levels, best = curve.levels(points)
                ax.vlines(levels, 0, best, color=EDGE, linewidth=1.0 if points == 11 else 0.6)
                size = 6 if points == 11 else 2.5
                label = f"interpolated precision at {points} levels"
                ax.plot(levels, best, "s", color=LINE, markersize=size, clip_on=False, label=label)

    def _write_terms(self, ax: "Axes", before: Any, recall: Any) -> None:
        """Write each term, as found/rank, at the foot of its bar."""
        curve = self.curve
        ranks = curve.rank[curve.hits].tolist()
        if len(ranks) > NAMED or curve.relevant > NAMED:
            return
        found = np.rint(recall * curve.relevant).astype(int).tolist()
        for middle, n, rank in zip((before + recall) / 2, found, ranks, strict=True):
            ax.text(middle, 0.02, f"{n}/{rank}", ha="center", va="bottom", fontsize=9)

    def _mark_missed(self, ax: "Axes") -> None:
        """Hatch the area beyond the end of the curve, where relevant items were not retrieved."""
        end = float(self.curve.recall[-1])
        missed = self.curve.relevant - round(end * self.curve.relevant)
        if not missed:
            return
        ax.axvspan(end, 1.0, facecolor="#f4f4f4", edgecolor="#dddddd", hatch="///", linewidth=0)
        ax.text(
            (1 + end) / 2, 0.5, f"{missed} not retrieved", ha="center", va="center", fontsize=9,
            rotation=90 if 1 - end < 0.2 else 0,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2},
        )  # fmt: skip


class PRCurvesDisplay(Display):
    """Several precision–recall curves: of one query each, or averaged with their bands.

    >>> from germane.plot import PRCurvesDisplay
    >>> curves = {"a": germane.pr_curve([1, 0, 1]), "b": germane.pr_curve([0, 1, 1])}
    >>> len(PRCurvesDisplay(curves).plot().ax_.lines)
    2
    """

    def __init__(self, curves: Mapping[str, PRCurve | MeanPRCurve], *, rule: Rule = "step") -> None:
        if not curves:
            raise InputError("there are no curves to draw.")
        self.curves = dict(curves)
        self.rule = check_rule(rule)

    def _draw(self, ax: "Axes") -> None:
        for (run, curve), (color, dashes) in zip(self.curves.items(), cycle(LINES), strict=False):
            label = f"{_shorten(run)}  {curve.area(self.rule):.4f}"
            if isinstance(curve, MeanPRCurve):
                ax.fill_between(curve.recall, curve.low, curve.high, color=color, alpha=0.15, lw=0)
                marker = "o" if len(curve.recall) <= 11 else ""
                x, y = curve.recall, curve.precision
            else:
                marker, (x, y) = "", _part_line(curve)[1]
            ax.plot(x, y, color=color, linestyle=dashes, marker=marker, markersize=4, label=label)
        one = next(iter(self.curves.values()))
        defined = f"{_name_area(self.rule)}: {_define_area(self.rule, one.rel)}"
        if isinstance(one, MeanPRCurve):
            queries = "query" if one.queries == 1 else "queries"
            title = (
                f"Interpolated precision, mean over {one.queries:,} {queries}\n"
                f"(0 where its list does not get so far); {one.confidence:.0%} bootstrap bands"
            )
            recall, legend = "share of a query's relevant items found", "mean "
        else:
            title = f"Precision and recall at every rank, query {_shorten(one.query)}"
            recall, legend = f"share of the {one.relevant} relevant items found", ""
        _set_title(ax, f"{title}\n{defined}")
        label_axes(ax, recall)
        lines = ax.get_lines()  # given with their labels, which may begin with an underscore
        legend += _name_area(self.rule)
        ax.legend(lines, [line.get_label() for line in lines], title=legend, alignment="left")


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
        kept = sorted(values.per_query.items(), key=lambda pair: -pair[1])
        heights = [value for _, value in kept]
        _draw_bars(ax, [query for query, _ in kept], heights)
        ax.axhline(values.mean, color=INK, linestyle="--", linewidth=1.2)
        ax.annotate(
            f"mean {values.mean:.4f}", (1, values.mean), xycoords=("axes fraction", "data"),
            ha="right", va="bottom", fontsize=9,
        )  # fmt: skip
        of = f" of {_shorten(self.name)}" if self.name else ""
        _set_title(ax, f"{measure}{of}, {len(kept):,} queries\n{measure.definition}")
        ax.set_ylabel(str(measure))


class DifferenceDisplay(Display):
    """The difference of two systems on every query that both were evaluated on, from gain to loss.

    >>> from germane.plot import DifferenceDisplay
    >>> runs = {"a": {"q": ["a"], "p": ["b"]}, "b": {"q": ["a"], "p": ["c"]}}
    >>> results = germane.evaluate_many({"q": ["a"], "p": ["b"]}, runs, "AP")
    >>> DifferenceDisplay(results["a"]["AP"], results["b"]["AP"]).plot().differences_
    {'p': 1.0, 'q': 0.0}

    The difference is ``first - second``. Raises InputError for different measures, and where no
    query is in both.
    """

    def __init__(
        self,
        first: QueryValues,
        second: QueryValues,
        *,
        names: tuple[str, str] = ("first", "second"),
    ) -> None:
        if first.measure != second.measure:
            raise InputError(
                f"a difference is of one measure; got {first.measure} and {second.measure}."
            )
        self.measure, self.names = first.measure, names
        one, two = first.per_query, second.per_query
        paired = {query: value - two[query] for query, value in one.items() if query in two}
        if not paired:
            raise InputError("the two results have no query in common.")
        self.differences_ = dict(sorted(paired.items(), key=lambda pair: -pair[1]))

    def _draw(self, ax: "Axes") -> None:
        differences = list(self.differences_.values())
        _draw_bars(ax, list(self.differences_), differences)
        ax.axhline(0, color=INK, linewidth=0.8)
        wins, losses = (sum(sign * d > 0 for d in differences) for sign in (1, -1))
        first, second = map(_shorten, self.names)
        _set_title(
            ax,
            f"{self.measure}: {first} - {second}, mean {np.mean(differences):+.4f}\n"
            f"{self.measure.definition}\n"
            f"{wins} queries better, {losses} worse, {len(differences) - wins - losses} the same",
        )
        ax.set_ylabel(f"difference of {self.measure}")


def _part_line(curve: PRCurve) -> tuple[Any, tuple[Any, Any]]:
    """Part a curve into the line from its start to its first rank, and the line from there on.

    The start is a convention and not a result, so it is drawn apart. A line along the axis is not drawn.
    """
    recall, precision = curve.drawn
    if curve.origin is None:
        return None, (recall, precision)
    lead = (recall[:2], precision[:2]) if recall[1] > 0 else None
    return lead, (recall[1:], precision[1:])


def _set_title(ax: "Axes", text: str) -> None:
    ax.set_title(text, parse_math=False)  # these axes may be older than the style


def _draw_bars(ax: "Axes", queries: list[Any], heights: list[float]) -> None:
    """Draw one bar a query, with the queries' ids where there is room for them."""
    few = len(queries) <= 25
    ax.bar(range(len(queries)), heights, width=0.8 if few else 1.0, color=EDGE)
    ax.grid(axis="x", visible=False)
    ax.set_xlim(-0.6, len(queries) - 0.4)
    if few:
        names = [_shorten(query, 12) for query in queries]
        ax.set_xticks(range(len(queries)), names, rotation=90, parse_math=False)
    ax.set_xlabel("query" if few else "queries, in this order")


def _name_area(rule: Rule) -> str:
    return "AP" if rule == "step" else f"AUPR(rule={rule})"


def _define_area(rule: Rule, rel: float) -> str:
    return Measure("AUPR", (("rule", rule), ("rel", rel))).definition


def _shorten(name: object, most: int = 30) -> str:
    text = make_visible(str(name))
    return text if len(text) <= most else text[: most - 1] + "…"
