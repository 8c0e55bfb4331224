"""Scenes: an explanation cut into moments, and the shapes that a drawing is made of."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

from germane.errors import make_visible
from germane.evaluation.layout import format_value
from germane.explanation.explanation import Explanation, Rank, Reading
from germane.output.tables import measure_width, write_count
from germane.presentation.pictures import format_short

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
    """The paint of a mark; colors are names of presentation.pictures.COLORS."""

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


# --- Frames ---------------------------------------------------------------------------------------
#
# An explanation cut into moments, each with the line that is lit and the sums so far.
#
# Nothing is measured here. Precision, recall, terms, norm and value are those of the explanation.

LINES = 30  # of a list with more rows, neighbors are drawn as one line
ALONE = 20  # of a long list's lines, those at the top that stay single
POINTS = 12  # of the curve within one line
WIDTH = 44  # characters of a sum; a longer one has its middle left out


@dataclass(frozen=True)
class Line:
    """One line of the ranking: a row of the explanation, or neighboring rows together."""

    rank: int
    upto: int
    item: str | None  # None: not known, or several
    grade: str  # '–' not judged, '…' several
    hits: int
    curve: tuple[tuple[float, float], ...]  # (recall, precision) at its rows; the last is at upto
    tied: str
    terms: tuple[float, ...]  # one a measure
    written: tuple[str, ...]  # the terms as people write them; '' where there is nothing to add

    @property
    def span(self) -> str:
        """Its rank, or its first and last."""
        return str(self.rank) if self.rank == self.upto else f"{self.rank}–{self.upto}"

    @property
    def precision(self) -> float:
        """Precision at its last rank."""
        return self.curve[-1][1]


@dataclass(frozen=True)
class Sum:
    """One measure in one frame."""

    reading: Reading
    added: str  # the term that this frame adds, as people write it; '' for none
    terms: tuple[str, ...]  # all that is added so far
    total: float
    value: float | None  # the value of the measure, in the last frame only

    @property
    def expression(self) -> str:
        """The sum so far, as '1/3 + 2/5'; the middle of more than WIDTH characters is left out."""
        terms = _join_terms(self.terms)
        count = len(self.terms)
        while len(terms) > WIDTH and count > 2:
            count -= 1
            terms = _join_terms([*self.terms[: count - 1], "…", self.terms[-1]])
        return terms

    @property
    def relation(self) -> str:
        """'=' where the value is the sum divided by the norm, '→' for another function."""
        norm, value = self.reading.norm, self.reading.value
        return "=" if not norm or math.isclose(self.total, value * norm, abs_tol=1e-9) else "→"

    @property
    def result(self) -> str:
        """The value as tables print it."""
        return format_value(self.reading.value, self.reading.measure, 4)


@dataclass(frozen=True)
class Frame:
    """One moment: the start, a line of the list, the terms without a rank, or the result."""

    line: Line | None  # the line that is lit
    sums: tuple[Sum, ...]  # one a measure
    text: str
    seconds: float

    @property
    def last(self) -> bool:
        """Is this the frame with the values?"""
        return all(sum_.value is not None for sum_ in self.sums)


def cut_frames(explanation: Explanation) -> tuple[Frame, ...]:
    """Cut an explanation into frames, from the first to the last.

    >>> from germane.teaching.scenes import cut_frames
    >>> for frame in cut_frames(germane.explain([1, 0, 1], "AP@3", relevant=4)):
    ...     print(frame.sums[0].expression, "|", frame.text)
    0 | 3 results, read from the top; 4 relevant items exist.
    1 | Rank 1 is relevant: P@1 = 1/1 = 1.0000. AP@3 adds 1, so its sum is 1.0000.
    1 | Rank 2 is not relevant: P@2 = 1/2 = 0.5000.
    1 + 2/3 | Rank 3 is relevant: P@3 = 2/3 = 0.6667. AP@3 adds 2/3, so its sum is 1.6667.
    1 + 2/3 | AP@3 = (1 + 2/3) / min(4,3) = 0.5556

    Each line has a frame, and hits are shown longer. One frame follows for what measures add
    besides their ranks, and one for the result. Ranks beyond every cutoff have none. Neighboring
    rows of a long list are one line, so that there are never more than some thirty frames.
    """
    return tuple(_cut(explanation))


def _cut(explanation: Explanation) -> Iterator[Frame]:
    readings = explanation.readings
    sums = tuple(Sum(reading, "", (), 0.0, None) for reading in readings)
    yield Frame(None, sums, _describe_start(explanation), 1.2)
    lines = _group_lines(explanation)
    for i, line in enumerate(lines):
        seen = lines[: i + 1]
        sums = tuple(_add_line(sum_, seen, m) for m, sum_ in enumerate(sums))
        lit = line.hits or any(line.terms)
        seconds = 1.5 if lit else 0.6 if len(lines) <= 12 else 0.4
        yield Frame(line, sums, _describe_line(line, sums), seconds)
    if any(reading.rest for reading in readings):
        sums = tuple(_add_rest(sum_) for sum_ in sums)
        yield Frame(None, sums, f"Besides the terms at ranks, {_describe_added(sums)}", 1.5)
    sums = tuple(replace(sum_, added="", value=sum_.reading.value) for sum_ in sums)
    yield Frame(None, sums, _describe_result(sums), 5.0)


def _add_line(sum_: Sum, seen: Sequence[Line], m: int) -> Sum:
    added = seen[-1].written[m]
    terms = (*sum_.terms, added) if seen[-1].terms[m] else sum_.terms
    return replace(sum_, added=added, terms=terms, total=math.fsum(line.terms[m] for line in seen))


def _add_rest(sum_: Sum) -> Sum:
    rest = sum_.reading.rest
    if not rest:
        return replace(sum_, added="")
    written = f"{rest:.4g}"
    return replace(sum_, added=written, terms=(*sum_.terms, written), total=sum_.total + rest)


# --- Lines ------------------------------------------------------------------------------------


def _group_lines(explanation: Explanation) -> tuple[Line, ...]:
    """Group the rows that a measure reads into at most LINES lines of neighbors."""
    rows = tuple(explanation.rows)
    adds = [any(terms) for terms in zip(*(r.terms for r in explanation.readings), strict=True)]
    groups = [[i] for i in range(_count_read(explanation, rows, adds))]
    if len(groups) > LINES:  # neighbors that are not hits and add nothing
        keys = (i if rows[i].hit or adds[i] else -1 for (i,) in groups)
        merged = groupby(zip(keys, groups, strict=True), key=lambda pair: pair[0])
        groups = [[i for _, group in pairs for i in group] for _, pairs in merged]
    if len(groups) > LINES:
        below, parts = groups[ALONE:], LINES - ALONE
        bounds = [round(len(below) * part / parts) for part in range(parts + 1)]
        groups = groups[:ALONE] + [
            [i for group in below[start:end] for i in group] for start, end in pairwise(bounds)
        ]
    return tuple(_make_line(explanation, rows, group) for group in groups)


def _count_read(explanation: Explanation, rows: tuple[Rank, ...], adds: list[bool]) -> int:
    """Count the rows that some measure reads: up to its cutoff, and every row that adds a term."""
    cutoffs = (reading.measure.k for reading in explanation.readings)
    deepest = max(math.inf if k is None else k for k in cutoffs)
    read = (i + 1 for i, row in enumerate(rows) if row.rank <= deepest or adds[i])
    return max(read, default=0)


def _make_line(explanation: Explanation, all_rows: tuple[Rank, ...], group: list[int]) -> Line:
    rows = [all_rows[i] for i in group]
    first, last = rows[0], rows[-1]
    single = len(rows) == 1 and first.rank == first.upto
    step = -(-len(rows) // POINTS)
    points = [*rows[:-1][::step], last]
    tied = first.tied if single else None
    grade = "–" if first.relevance is None else f"{first.relevance:g}"
    return Line(
        rank=first.rank,
        upto=last.upto,
        item=str(first.item) if single and first.item is not None else None,
        grade=grade if single else "…",
        hits=sum(row.hit for row in rows),
        curve=tuple((row.recall, row.precision) for row in points),
        tied=f"{tied[0]}–{tied[1]}" if tied else "",
        terms=tuple(math.fsum(r.terms[i] for i in group) for r in explanation.readings),
        written=tuple(_write_terms(r, rows, group) for r in explanation.readings),
    )


def _write_terms(reading: Reading, rows: list[Rank], group: list[int]) -> str:
    terms, k = [reading.terms[i] for i in group], reading.measure.k
    counted = any(row.hit and (k is None or row.rank <= k) for row in rows)
    if not any(terms) and not counted:
        return ""
    if len(rows) == 1:
        return reading.write_term(group[0], rows[0].rank)
    return format_short(math.fsum(terms))


# --- Words ------------------------------------------------------------------------------------


def _join_terms(terms: Sequence[str]) -> str:
    return " + ".join(terms).replace("+ -", "- ") or "0"


def _describe_start(explanation: Explanation) -> str:
    retrieved, relevant = explanation.retrieved, explanation.relevant
    exist = write_count(relevant, "relevant item exists", "relevant items exist")
    if not explanation.answered:
        return f"No results for this query, which counts as empty; {exist}."
    return f"{write_count(retrieved, 'result')}, read from the top; {exist}."


def _describe_line(line: Line, sums: tuple[Sum, ...]) -> str:
    fraction = f"P@{line.upto} = {round(line.precision * line.upto)}/{line.upto}"
    text = f"{_describe_rank(line)}: {fraction} = {line.precision:.4f}."
    if any(line.terms):
        return f"{text} {_describe_added(sums)}"
    return f"{text} It adds nothing." if line.hits and line.rank == line.upto else text


def _describe_rank(line: Line) -> str:
    if line.rank < line.upto:
        items = "item" if line.hits == 1 else "items"
        return f"Ranks {line.span} hold {line.hits or 'no'} relevant {items}"
    if line.grade == "–":
        return f"Rank {line.rank} is not judged"
    word = "relevant" if line.hits else "not relevant"
    usual = line.grade == ("1" if line.hits else "0")
    return f"Rank {line.rank} is {word}" + ("" if usual else f" (grade {line.grade})")


def _describe_added(sums: tuple[Sum, ...]) -> str:
    adding = [sum_ for sum_ in sums if sum_.added]
    if len(sums) == 1 and adding:
        return (
            f"{adding[0].reading.measure} adds {adding[0].added}, so its sum is"
            f" {sums[0].total:.4f}."
        )
    return ", ".join(f"{s.reading.measure} adds {s.added}" for s in adding) + "."


def _describe_result(sums: tuple[Sum, ...]) -> str:
    if len(sums) > 1:
        return ", ".join(f"{sum_.reading.measure} = {sum_.result}" for sum_ in sums)
    reading = sums[0].reading
    if reading.norm == 0:
        return (
            f"{reading.formula}: there is nothing to divide by, and the value is 0 by convention."
        )
    return reading.formula
