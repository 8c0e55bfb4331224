"""Pictures: colors, elements of SVG and HTML, and the style of drawings with Matplotlib."""

import io
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias

from germane.errors import InputError, check_choice, list_choices, make_visible
from germane.output.tables import escape_html
from germane.presentation import writing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Paper: TypeAlias = Literal["light", "dark"]
PAPERS: tuple[Paper, Paper] = ("light", "dark")

# On light and on dark paper. A hit differs in lightness as well, for readers and printers without
# color.
COLORS: dict[str, tuple[str, str]] = {
    "paper": ("#ffffff", "#14171c"),
    "ink": ("#1a1d21", "#e9ebee"),
    "muted": ("#5c6670", "#a2acb7"),
    "grid": ("#e3e7eb", "#2b313a"),
    "axis": ("#9aa4ae", "#66717d"),
    "band": ("#e2edfb", "#20324a"),
    "track": ("#eef1f4", "#232932"),
    "hit": ("#0a58b8", "#7ab5ff"),
}


def write_element(name: str, attributes: Mapping[str, object], *content: str) -> str:
    """Write an element of SVG or HTML.

    >>> from germane.presentation.pictures import write_element
    >>> from germane.output.tables import escape_html
    >>> write_element("text", {"x": 2.5, "class": "a&b", "rx": None}, escape_html("1 < 2"))
    '<text x="2.5" class="a&amp;b">1 &lt; 2</text>'

    Floats are written as coordinates. Attributes are escaped; those that are None are left out.
    Content is not escaped, since it is markup; several pieces stand on a line each.
    """
    written = "".join(
        f' {key}="{_write_attribute(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if not content:
        return f"<{name}{written}/>"
    inside = content[0] if len(content) == 1 else "\n".join(["", *content, ""])
    return f"<{name}{written}>{inside}</{name}>"


def write_points(points: Iterable[tuple[float, float]]) -> str:
    """Write points as the attribute of a line or a polygon."""
    return " ".join(f"{format_coordinate(x)},{format_coordinate(y)}" for x, y in points)


def format_coordinate(value: float) -> str:
    """Write a coordinate with five digits: no screen shows more."""
    return f"{value:.5g}"


def define_colors(paper: Paper, colors: Mapping[str, tuple[str, str]] = COLORS) -> str:
    """Define the colors of light or of dark paper as variables of CSS."""
    return "".join(f"--{name}:{shades[PAPERS.index(paper)]};" for name, shades in colors.items())


def write_content_policy(script: str, sources: str = "") -> str:
    """Write a page's content security policy: only this script runs, and nothing is loaded.

    ``sources`` allows images that the page itself holds, or scripts of its own folder.
    """
    import base64
    import hashlib

    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'{sources}"


def _write_attribute(value: object) -> str:
    if isinstance(value, float):
        return format_coordinate(value)
    return escape_html(str(value)).replace('"', "&quot;")


# --- Pictures: the style, the colors and the display that all drawings with Matplotlib share ------

FORMATS = ("svg", "png", "pdf")
TIGHT = (0, (5, 1, 1, 1, 1, 1))  # two dots between dashes
DOTS, LONG = (0, (1, 1.2)), (0, (7, 2))


class Palette(NamedTuple):
    """The colors of a picture, on light or on dark paper."""

    paper: str
    ink: str
    line: str
    area: str
    edge: str
    faint: str
    grid: str
    frame: str
    missing: tuple[str, str]  # an area and its hatching
    ramp: tuple[tuple[float, float, float], tuple[float, float, float]]  # red, green, blue
    lines: tuple[tuple[str, Any], ...]  # color and dashes; equal dashes differ in lightness


_SHADES: dict[str, tuple[Any, Any]] = {  # on light and on dark paper
    "paper": ("#ffffff", "#14171c"),
    "ink": ("#222222", "#e9ebee"),
    "line": ("#1f3b73", "#8ab4f8"),
    "area": ("#cfdcf0", "#24364f"),
    "edge": ("#6f8fc0", "#5f83b8"),
    "faint": ("#9a9a9a", "#7d8792"),
    "grid": ("#e6e6e6", "#2b313a"),
    "frame": ("#888888", "#66717d"),
    "missing": (("#f4f4f4", "#dddddd"), ("#1d2127", "#39414c")),
    "ramp": (((0.66, 0.75, 0.88), (0.07, 0.14, 0.30)), ((0.27, 0.36, 0.52), (0.80, 0.89, 1.0))),
    "lines": (
        (("#1f3b73", "-"), ("#d1682b", "--"), ("#4f9d69", "-."), ("#8a3b7d", DOTS),
         ("#b8a13a", TIGHT), ("#6e6e6e", LONG), ("#4aa3df", "-"), ("#8f1d2c", "--"),
         ("#0b4a3f", "-."), ("#e07ab0", DOTS)),
        (("#a9c8ff", "-"), ("#f0a068", "--"), ("#7fd6a0", "-."), ("#dd8fd0", DOTS),
         ("#e3cf6b", TIGHT), ("#b5bcc6", LONG), ("#3f80dd", "-"), ("#d0475c", "--"),
         ("#2f8f74", "-."), ("#8f52a8", DOTS)),
    ),
}  # fmt: skip
PALETTES: dict[Paper, Palette] = {
    paper: Palette(**{name: shades[place] for name, shades in _SHADES.items()})
    for place, paper in enumerate(PAPERS)
}


def _make_style(colors: Palette) -> dict[str, Any]:
    return {
        "axes.edgecolor": colors.frame,
        "axes.facecolor": colors.paper,
        "axes.grid": True,
        "axes.labelcolor": colors.ink,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.axisbelow": True,
        "axes.titlelocation": "left",
        "axes.titlesize": 10,
        "figure.dpi": 120,
        "figure.facecolor": colors.paper,
        "font.size": 10,
        "font.family": ["DejaVu Sans", "sans-serif"],
        "grid.color": colors.grid,
        "legend.frameon": False,
        "legend.fontsize": 9,
        "lines.linewidth": 1.8,
        "savefig.dpi": 160,
        "svg.fonttype": "none",
        "svg.hashsalt": "germane",
        "text.color": colors.ink,
        "text.parse_math": False,  # a dollar sign in an id starts no formula
        "xtick.color": colors.ink,
        "ytick.color": colors.ink,
    }


@contextmanager
def apply_style(paper: Paper = "light") -> Iterator[None]:
    """Draw with Matplotlib in germane's style. Raises InputError where it is not installed."""
    check_choice("paper", paper, PAPERS)
    library = import_matplotlib()
    with library.rc_context(_make_style(PALETTES[paper])), warnings.catch_warnings():
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
    """A picture that can be drawn into axes or saved, on light or on dark paper."""

    ax_: "Axes"
    figure_: "Figure"
    colors: Palette

    def plot(self, ax: "Axes | None" = None, *, paper: Paper = "light") -> Self:
        """Draw into ``ax``, or a new figure of pyplot; keep both as ``ax_`` and ``figure_``."""
        with apply_style(paper):
            if ax is None:
                from matplotlib import pyplot

                ax = pyplot.subplots(figsize=self._size(), layout="constrained")[1]
            self.ax_, self.figure_ = ax, ax.get_figure(root=True)
            self.colors = PALETTES[paper]
            self._draw(ax)
        return self

    def save(self, path: str | os.PathLike[str], *, paper: Paper | None = None) -> None:
        """Draw a new figure and write it, whole or not at all; the suffix chooses the format.

        Without ``paper``, an SVG is dark where the reader's screen is, and other files are light.
        Raises InputError where the suffix is not svg, png or pdf, or the file cannot be written,
        and PolicyError for another paper than light and dark.
        """
        suffix = check_suffix(path)
        writing.replace(os.fspath(path), self.picture(suffix, paper=paper))

    def picture(self, suffix: str, *, paper: Paper | None = None) -> bytes:
        """Draw a new figure as the bytes of a file: svg, png or pdf. The bytes are reproducible."""
        if paper is None and suffix == "svg":
            return join_papers(*(self.picture(suffix, paper=each) for each in PAPERS))
        paper = "light" if paper is None else paper
        with apply_style(paper):
            from matplotlib.figure import Figure

            figure = Figure(figsize=self._size(), layout="constrained")
            self.plot(figure.add_subplot(), paper=paper)
            out = io.BytesIO()
            stamp = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(suffix)
            figure.savefig(out, format=suffix, metadata=stamp)
        return _name_picture(out.getvalue(), figure) if suffix == "svg" else out.getvalue()

    def _size(self) -> tuple[float, float]:
        return (4.8, 4.2)  # inches: narrow enough to be read on a phone

    def _draw(self, ax: "Axes") -> None:
        raise NotImplementedError


def _name_picture(svg: bytes, figure: "Figure") -> bytes:
    """Name an SVG of Matplotlib by the first line of its title, for those who do not see it."""
    titles = (figure.get_suptitle(), *(ax.get_title(loc="left") for ax in figure.axes))
    name = next(filter(None, titles), "A chart").partition("\n")[0]
    label = _write_attribute(name)
    named = f'<svg role="img" aria-label="{label}" ', f">\n <title>{escape_html(name)}</title>"
    start, end = map(str.encode, named)
    return re.sub(rb"<svg ([^>]*)>", lambda tag: start + tag[1] + end, svg, count=1)


_STYLED = re.compile(rb' style="([^"]*)"')
_FILLED = re.compile(rb' fill="(#\w+)"')  # of hatches


def join_papers(light: bytes, dark: bytes) -> bytes:
    """Join two SVGs that differ in colors alone into one that is dark where the screen is.

    Each element keeps its light style, which every viewer reads. What is dark about it stands in a
    rule of CSS, whose class the element gets. If the two have other elements, the light one stays.
    """
    light, dark = (_FILLED.sub(rb' style="fill: \1"', each) for each in (light, dark))
    styles = _STYLED.findall(dark)
    if len(styles) != len(_STYLED.findall(light)):
        return light
    dark_styles = iter(styles)
    classes: dict[bytes, bytes] = {}

    def add_class(match: re.Match[bytes]) -> bytes:
        own, dark_style = match[1].split(b"; "), next(dark_styles).split(b"; ")
        changed = [part + b" !important" for part in dark_style if part not in own]
        if not changed:
            return match[0]
        name = classes.setdefault(b"; ".join(changed), b"d%d" % len(classes))
        return b' class="%s"%s' % (name, match[0])

    joined = _STYLED.sub(add_class, light)
    rules = b"".join(b".%s{%s}" % (name, style) for style, name in classes.items())
    media = b"@media (prefers-color-scheme: dark){%s}</style>" % rules
    return joined.replace(b"</style>", media, 1)


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


def set_title(ax: "Axes", text: str) -> None:
    ax.set_title(text, parse_math=False)  # these axes may be older than the style


def shorten(name: object, limit: int = 30) -> str:
    """Cut a name for a picture; control characters are made visible."""
    text = make_visible(str(name))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def draw_bars(ax: "Axes", queries: Sequence[object], heights: list[float], color: str) -> None:
    """Draw one bar a query, with the queries' ids where there is room for them."""
    has_room = len(queries) <= 25
    ax.bar(range(len(queries)), heights, width=0.8 if has_room else 1.0, color=color)
    ax.grid(axis="x", visible=False)
    ax.set_xlim(-0.6, len(queries) - 0.4)
    if has_room:
        names = [shorten(query, 12) for query in queries]
        ax.set_xticks(range(len(queries)), names, rotation=90, parse_math=False)
    ax.set_xlabel("query" if has_room else "queries, in this order")


def format_short(value: float) -> str:
    """Write a number whole where it is whole, and with four decimals otherwise."""
    return f"{value:.0f}" if value == round(value) else f"{value:.4f}"
