"""The one style of all pictures, and Matplotlib in it."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from germane.errors import InputError

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
    "text.parse_math": False,  # a dollar sign in an id is a dollar sign
    "xtick.color": INK,
    "ytick.color": INK,
}


@contextmanager
def styled() -> Iterator[None]:
    """Matplotlib in germane's style. Raises InputError where it is not installed."""
    library = matplotlib()
    with library.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # an id in any script
        yield
        interactive = library.is_interactive()
    # A notebook's backend is loaded with the first figure and turns this on, for all that follow.
    library.interactive(interactive)


def matplotlib() -> Any:
    """The library. Raises InputError where it is not installed."""
    try:
        import matplotlib
    except ImportError:
        raise InputError("pictures need Matplotlib: pip install 'germane[plot]'") from None
    return matplotlib
