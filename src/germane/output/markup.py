"""Markup: elements of SVG and HTML, coordinates, colors, and content policies."""

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from germane.output.tables import escape_html

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

    >>> from germane.output.markup import write_element
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
