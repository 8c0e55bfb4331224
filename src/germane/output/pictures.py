"""Pictures: the style, the colors and the display that all drawings with Matplotlib share."""

import io
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from germane.errors import InputError, list_choices
from germane.output import writing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "png", "pdf")

INK, LINE, AREA, EDGE, FAINT = "#222222", "#1f3b73", "#cfdcf0", "#6f8fc0", "#9a9a9a"
LINES = (  # color and dashes: no two share a lightness and a pattern
    ("#1f3b73", "-"),
    ("#d1682b", "--"),
    ("#4f9d69", "-."),
    ("#8a3b7d", (0, (1, 1.2))),
    ("#b8a13a", (0, (5, 1, 1, 1, 1, 1))),
    ("#6e6e6e", (0, (7, 2))),
)
STYLE: dict[str, Any] = {
    "axes.edgecolor": "#888888",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "figure.dpi": 120,
    "font.size": 10,
    "font.family": ["DejaVu Sans", "sans-serif"],
    "grid.color": "#e6e6e6",
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.8,
    "savefig.dpi": 160,
    "svg.fonttype": "none",
    "svg.hashsalt": "germane",
    "text.color": INK,
    "text.parse_math": False,  # a dollar sign in an id starts no formula
    "xtick.color": INK,
    "ytick.color": INK,
}


@contextmanager
def apply_style() -> Iterator[None]:
    """Draw with Matplotlib in germane's style. Raises InputError where it is not installed."""
    library = import_matplotlib()
    with library.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # an id in any script
        yield
        interactive = library.is_interactive()
    # A notebook's backend, loaded with the first figure, turns this on for all later figures.
    library.interactive(interactive)


def import_matplotlib() -> Any:
    """Import Matplotlib. Raises InputError where it is not installed."""
    try:
        import matplotlib
    except ImportError:
        raise InputError("pictures need Matplotlib: pip install 'germane[plot]'") from None
    return matplotlib


class Display:
    """A picture that can be drawn into axes or saved."""

    ax_: "Axes"
    figure_: "Figure"

    def plot(self: "D", ax: "Axes | None" = None) -> "D":
        """Draw into ``ax``, or into a new figure of pyplot; keep both as ``ax_`` and ``figure_``."""
        with apply_style():
            if ax is None:
                from matplotlib import pyplot

                ax = pyplot.subplots(layout="constrained")[1]
            self.ax_, self.figure_ = ax, ax.get_figure(root=True)
            self._draw(ax)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Draw a new figure and write it, whole or not at all; the suffix chooses the format.

        Raises InputError where the suffix is not svg, png or pdf, or the file cannot be written.
        """
        suffix = check_suffix(path)
        writing.replace(os.fspath(path), self.picture(suffix))

    def picture(self, suffix: str) -> bytes:
        """Draw a new figure as the bytes of a file: svg, png or pdf. The bytes are reproducible."""
        with apply_style():
            from matplotlib.figure import Figure

            figure = Figure(figsize=self._size(), layout="constrained")
            self.plot(figure.add_subplot())
            out = io.BytesIO()
            stamp = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(suffix)
            figure.savefig(out, format=suffix, metadata=stamp)
        return out.getvalue()

    def _size(self) -> tuple[float, float]:
        return (6.4, 4.6)

    def _draw(self, ax: "Axes") -> None:
        raise NotImplementedError


D = TypeVar("D", bound=Display)


def check_suffix(path: str | os.PathLike[str]) -> str:
    """Find a picture's format by its suffix. Raises InputError where the format cannot be drawn."""
    import_matplotlib()
    suffix = os.path.splitext(os.fspath(path))[1].lower().lstrip(".")
    if suffix not in FORMATS:
        raise InputError(f"{os.fspath(path)}: a picture's name ends in {list_choices(FORMATS)}.")
    return suffix


def label_axes(ax: "Axes", recall: str) -> None:
    """Set the axes for precision over recall, both from 0 to 1."""
    ax.set(
        xlim=(0, 1.005),
        ylim=(0, 1.04),
        xlabel=f"Recall: {recall}",
        ylabel="Precision: share of relevant items so far",
    )
