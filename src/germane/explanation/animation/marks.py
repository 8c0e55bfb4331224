"""Marks: the shapes a drawing is made of, each with the frames in which it is seen."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from germane.errors import make_visible
from germane.output.tables import measure_width

ADVANCE = 0.61  # width of a character of monospaced fonts, as a share of the font size


@dataclass(frozen=True)
class Mark:
    """A shape seen from frame ``first`` to frame ``last``, both included."""

    style: str
    first: int = field(default=0, kw_only=True)
    last: int | None = field(default=None, kw_only=True)  # None: to the end

    def is_seen(self, frame: int) -> bool:
        """Is the mark seen in this frame?"""
        return self.first <= frame and (self.last is None or frame <= self.last)


@dataclass(frozen=True)
class Text(Mark):
    """A line of text; ``anchor`` says which of its ends is at x."""

    x: float
    y: float
    text: str
    size: float
    anchor: str = "start"
    turn: float = 0.0  # degrees, counterclockwise


@dataclass(frozen=True)
class Path(Mark):
    """Straight lines from point to point."""

    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Disc(Mark):
    """A circle."""

    x: float
    y: float
    radius: float


@dataclass(frozen=True)
class Box(Mark):
    """A rectangle with rounded corners."""

    x: float
    y: float
    width: float
    height: float
    radius: float = 0.0


@dataclass(frozen=True)
class Panel:
    """Marks in a rectangle of their own."""

    width: float
    height: float
    marks: tuple[Mark, ...]


def shift(marks: Iterable[Mark], dx: float, dy: float) -> list[Mark]:
    """Move marks by ``dx`` and ``dy``."""
    out: list[Mark] = []
    for mark in marks:
        match mark:
            case Text() | Disc() | Box():
                out.append(replace(mark, x=mark.x + dx, y=mark.y + dy))
            case Path():
                out.append(replace(mark, points=tuple((x + dx, y + dy) for x, y in mark.points)))
    return out


def shorten(text: str, size: float, room: float) -> str:
    """Make control characters visible, and leave out the middle of text wider than ``room``."""
    limit = _count_characters(size, room)
    text = make_visible(text[: 8 * limit] + text[8 * limit :][-limit:])
    if measure_width(text) <= limit:
        return text
    start = _take(text, limit * 2 // 3)
    end = _take(text[::-1], limit - 1 - measure_width(start))[::-1]
    return f"{start}…{end}"


def wrap(text: str, size: float, room: float) -> list[str]:
    """Break text into lines at its blanks; a word wider than ``room`` loses its middle."""
    limit = _count_characters(size, room)
    lines: list[str] = []
    for word in make_visible(text).split(" "):
        if lines and measure_width(lines[-1]) + 1 + measure_width(word) <= limit:
            lines[-1] += f" {word}"
        else:
            lines.append(shorten(word, size, room))
    return lines


def _count_characters(size: float, room: float) -> int:
    """Count the characters that there is room for, at least three."""
    return max(int(room / (ADVANCE * size)), 3)


def _take(text: str, columns: int) -> str:
    """Take as much from the start of a text as so many columns hold."""
    taken = 0
    for i, character in enumerate(text):
        taken += measure_width(character)
        if taken > columns:
            return text[:i]
    return text


# --- Styles -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Style:
    """The paint of a mark; colors are names of output.markup.COLORS."""

    fill: str | None = None
    stroke: str | None = None
    thick: float = 0.0
    dots: str = ""  # lengths of dash and gap
    font: str = "sans"
    weight: str = "normal"


STYLES: dict[str, Style] = {
    "paper": Style("paper"),
    "title": Style("ink", weight="bold"),
    "ink": Style("ink"),
    "muted": Style("muted"),
    "head": Style("muted", weight="bold"),
    "number": Style("ink", font="mono"),
    "quiet": Style("muted", font="mono"),
    "term": Style("hit", font="mono", weight="bold"),
    "value": Style("hit", font="mono", weight="bold"),
    "grid": Style(stroke="grid", thick=1),
    "axis": Style(stroke="axis", thick=1.2),
    "guide": Style(stroke="muted", thick=1, dots="2 3"),
    "curve": Style(stroke="hit", thick=2.2),
    "ring": Style("paper", "axis", 1.5),
    "disc": Style("hit", "hit", 1.5),
    "halo": Style(stroke="hit", thick=1.6),
    "band": Style("band"),
    "arrow": Style("hit"),
    "track": Style("track", "axis", 1),
    "block": Style("hit"),
}
