"""Picture of curves of classes: precision over recall, and P, R and F1 over confidence."""

from typing import TYPE_CHECKING

import numpy as np

from germane.boxes.box_curves import RECALLS, trace_means
from germane.core.ragged import Floats
from germane.presentation.pictures import Display, set_title, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from germane.boxes.box_curves import Curves

COLORED = 8  # classes that have colors of their own; of more, all are gray
_TITLES = ("precision over recall", "F1", "precision; without detections 0", "recall")


class CurvesDisplay(Display):
    """Four panels; the best F1 of each class, and of all, is marked."""

    def __init__(self, curves: "Curves") -> None:
        self.curves = curves

    def _size(self) -> tuple[float, float]:
        return (7.2, 6.4)

    def _draw(self, ax: "Axes") -> None:
        ax.set_axis_off()
        place, figure = ax.get_subplotspec(), self.figure_
        grid = place.subgridspec(2, 2) if place is not None else figure.add_gridspec(2, 2)
        panels = [figure.add_subplot(cell) for cell in grid]
        self.panels_ = panels
        for panel, title in zip(panels, _TITLES, strict=True):
            set_title(panel, title)
            panel.set(xlim=(0, 1.02), ylim=(0, 1.04))
        panels[0].set(xlabel="recall", ylabel="precision")
        for panel in panels[1:]:
            panel.set(xlabel="confidence")
        self._draw_classes()
        self._draw_all()
        set_title(panels[0], f"{shorten(self.curves.name)}, {self.curves.title}\n{_TITLES[0]}")
        panels[0].legend(loc="lower left", fontsize=8)

    def _draw_classes(self) -> None:
        colored = len(self.curves.sweeps) <= COLORED
        for place, (name, swept) in enumerate(self.curves.sweeps.items()):
            color, dashes = self.colors.lines[place] if colored else (self.colors.faint, "-")
            style = {"color": color, "linestyle": dashes, "linewidth": 1.3 if colored else 0.7}
            label = shorten(name, 18) if colored else "each class" if place == 0 else None
            levels = self.curves.precision_at[place]
            self.panels_[0].plot(RECALLS, levels, drawstyle="steps-pre", label=label, **style)
            scores, means = trace_means(swept)
            for panel, values in zip(self.panels_[1:], (means[2], *means[:2]), strict=True):
                panel.plot(*_make_steps(scores, values), **style)
            point = self.curves.best[name]
            if colored and len(scores):
                self.panels_[1].plot([point.confidence], [point.f1], "o", color=color, markersize=4)

    def _draw_all(self) -> None:
        curves = self.curves
        if not len(curves.classes):
            return
        style = {"color": self.colors.ink, "linewidth": 2.2}
        mean = curves.precision_at.mean(axis=0)
        label = f"all: {curves.value:.3f}"
        self.panels_[0].plot(RECALLS, mean, drawstyle="steps-pre", label=label, **style)
        scores, means = trace_means(curves.sweep)
        point = curves.best_of_all
        marked = (point.f1, point.precision, point.recall)
        columns = (means[2], *means[:2])
        for panel, values, number in zip(self.panels_[1:], columns, marked, strict=True):
            panel.plot(*_make_steps(scores, values), **style)
            if len(scores):
                panel.plot([point.confidence], [number], "o", color=self.colors.ink, markersize=6)
                panel.annotate(
                    f"{number:.3f} at {point.confidence:g}", (point.confidence, number),
                    xytext=(6, 6), textcoords="offset points", fontsize=9,
                    bbox={"facecolor": self.colors.paper, "linewidth": 0, "pad": 1, "alpha": 0.8},
                )  # fmt: skip


def _make_steps(scores: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Make the line of values that hold from a score down to the next one."""
    x = np.concatenate((np.repeat(scores, 2)[1:], np.minimum(scores[-1:], 0)))
    return x, np.repeat(values, 2)
