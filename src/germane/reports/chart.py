"""Chart: mean precision–recall curves as inline SVG."""

from collections.abc import Iterator, Mapping

import numpy as np

from germane.explanation.animation.svg import clean
from germane.explanation.precision_recall import MeanPRCurve

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 420, 62, 14, 12, 52
BANDED = 3  # curves above which bands would hide each other

# On light and on dark paper; with the dashes, 40 runs look different.
COLORS = (
    ("#0a58b8", "#7ab5ff"), ("#c2410c", "#fb923c"), ("#15803d", "#6ee79a"), ("#7c3aed", "#c4a7ff"),
    ("#a16207", "#e3c14b"), ("#be185d", "#f78bc0"), ("#0f766e", "#5eead4"), ("#57606a", "#b6c0ca"),
)  # fmt: skip
DASHES = ("none", "9 4", "3 3", "10 3 3 3", "14 5")


def dash(run: int) -> str:
    """The pattern of a run's line."""
    return DASHES[run % len(DASHES)]


def chart(curves: Mapping[str, MeanPRCurve]) -> str:
    """The curves with their bands, over axes from 0 to 1."""
    drawn = {name: curve for name, curve in curves.items() if not np.isnan(curve.precision).any()}
    areas = "; ".join(f"{name}: {_words(curve)}" for name, curve in drawn.items())
    label = f"Mean interpolated precision over recall. {areas}"
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" class="chart"><title>{clean(label)}</title>',
        *_axes(),
    ]
    order = {name: i for i, name in enumerate(curves)}
    if len(drawn) <= BANDED:
        parts += (_band(order[name], curve) for name, curve in drawn.items())
    parts += (_line(order[name], curve) for name, curve in drawn.items())
    return "\n".join([*parts, "</svg>"])


def swatch(run: int) -> str:
    """A short piece of a run's line, for legends."""
    return (
        f'<svg class="swatch r{run % len(COLORS)}" width="30" height="10" aria-hidden="true">'
        f'<path d="M1 5H29" stroke-dasharray="{dash(run)}"/></svg>'
    )


def _axes() -> Iterator[str]:
    for i in range(0, 11, 2):
        x, y = _x(i / 10), _y(i / 10)
        yield f'<path class="grid" d="M{x:g} {TOP}V{_y(0):g}M{LEFT} {y:g}H{WIDTH - RIGHT}"/>'
        yield f'<text x="{x:g}" y="{_y(0) + 18:g}" text-anchor="middle">{i / 10:g}</text>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:g}" text-anchor="end">{i / 10:g}</text>'
    middle = (TOP + _y(0)) / 2
    yield f'<text x="{_x(0.5):g}" y="{HEIGHT - 8}" text-anchor="middle">recall</text>'
    yield (
        f'<text transform="translate(13 {middle:g}) rotate(-90)" text-anchor="middle">'
        "mean interpolated precision</text>"
    )


def _band(run: int, curve: MeanPRCurve) -> str:
    upper = zip(curve.recall.tolist(), curve.high.tolist(), strict=True)
    lower = zip(curve.recall.tolist()[::-1], curve.low.tolist()[::-1], strict=True)
    return f'<polygon class="band r{run % len(COLORS)}" points="{_points((*upper, *lower))}"/>'


def _line(run: int, curve: MeanPRCurve) -> str:
    points = tuple(zip(curve.recall.tolist(), curve.precision.tolist(), strict=True))
    return (
        f'<polyline class="line r{run % len(COLORS)}" stroke-dasharray="{dash(run)}" '
        f'points="{_points(points)}"/>'
    )


def _points(points: tuple[tuple[float, float], ...]) -> str:
    return " ".join(f"{_x(recall):.1f},{_y(precision):.1f}" for recall, precision in points)


def _words(curve: MeanPRCurve) -> str:
    precision = curve.precision
    return f"{precision[0]:.2f} at recall 0, {precision[5]:.2f} at 0.5, {precision[10]:.2f} at 1"


def _x(recall: float) -> float:
    return LEFT + recall * (WIDTH - LEFT - RIGHT)


def _y(precision: float) -> float:
    return HEIGHT - BOTTOM - precision * (HEIGHT - TOP - BOTTOM)
