"""The drawing of an explanation: the ranking, the curve and the sums, as marks with their frames."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from germane.explanation.animation.frame import Frame, Line, Sum
from germane.explanation.animation.mark import (
    ADVANCE,
    Box,
    Disc,
    Mark,
    Panel,
    Path,
    Text,
    fitted,
    moved,
)
from germane.explanation.explanation import Explanation
from germane.output.tables import visible, width

SMALL, MEDIUM, LARGE = 13.0, 14.0, 22.0  # font sizes in pixels
SIDE = 480.0  # width of the curve and the sums
CURVE = 330.0  # height of the curve; less where there are several sums
APART, BELOW = 24.0, 20.0  # hits this far from each other have their ranks written at the curve


@dataclass(frozen=True)
class Drawing:
    """Three panels, and what is said about them."""

    title: str
    definitions: tuple[str, ...]
    facts: str
    ranking: Panel
    curve: Panel
    sums: Panel
    frames: tuple[Frame, ...]


def draw(explanation: Explanation, frames: tuple[Frame, ...]) -> Drawing:
    """Lay out what the frames show."""
    several = len(explanation.readings)
    measures = ", ".join(str(reading.measure) for reading in explanation.readings)
    listed = explanation.query == "list" and explanation.policy is None
    return Drawing(
        title=f"{measures} of " + ("one list" if listed else f"query {explanation.query}"),
        definitions=tuple(f"{r.measure}: {r.measure.definition}" for r in explanation.readings),
        facts=_facts(explanation),
        ranking=_ranking(explanation, frames),
        curve=_curve(frames, CURVE if several < 3 else 260.0),
        sums=_sums(frames),
        frames=frames,
    )


def _facts(explanation: Explanation) -> str:
    missed = [str(item) for item, _ in explanation.missed[:10] if item is not None]
    text = f"{explanation.relevant} relevant, {explanation.retrieved} retrieved"
    text += f", {len(explanation.missed)} missed"
    if missed:
        text += ": " + ", ".join(missed) + (", …" if len(explanation.missed) > 10 else "")
    return text


# --- The ranking -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    """A column of the ranking: its heading, its width, the side it is set to, and its cells."""

    heading: str
    width: float
    anchor: str
    style: str
    cell: Callable[[Line], str]
    known: str = "before"  # or "when read": cells appear with their line


def _columns(lines: list[Line], several: int) -> Iterator[_Column]:
    spans = max((len(line.span) for line in lines), default=1)
    items = max((width(visible((line.item or "?")[:40])) for line in lines), default=1)
    yield _Column("rank", _room(max(spans, 4), 22), "end", "ink", lambda line: line.span)
    yield _Column("", 34, "middle", "ink", lambda line: "")  # the disc
    if any(line.item is not None for line in lines):
        yield _Column("item", _room(min(max(items, 12), 28), 16), "start", "ink", _item)
    yield _Column("relevance", 84, "end", "ink", lambda line: line.grade)
    if any(line.tied for line in lines):
        yield _Column("tie", 64, "end", "muted", lambda line: line.tied)
    yield _Column("P@rank", 88, "end", "ink", lambda line: f"{line.precision:.4f}", "when read")
    if several == 1:
        yield _Column("term", 116, "end", "term", lambda line: line.written[0], "when read")


def _room(characters: int, besides: float) -> float:
    return characters * ADVANCE * MEDIUM + besides


def _item(line: Line) -> str:
    if line.rank == line.upto:
        return line.item or "?"
    return f"… {line.hits} relevant" if line.hits else "…"


def _ranking(explanation: Explanation, frames: tuple[Frame, ...]) -> Panel:
    lines = [(i, frame.line) for i, frame in enumerate(frames) if frame.line is not None]
    columns = list(_columns([line for _, line in lines], len(explanation.readings)))
    pitch = min(max(660 / max(len(lines), 1), 22.0), 34.0)
    total = sum(column.width for column in columns) + 14.0
    marks: list[Mark] = []
    y = 34.0
    for i, line in lines:
        marks += _row(i, line, columns, y, pitch, total)
        y += pitch
    x = 0.0
    for column in columns:
        at = _at(column, x)
        marks.append(
            Text(style="head", x=at, y=15, text=column.heading, size=SMALL, anchor=column.anchor)
        )
        x += column.width
    marks.append(Path(style="axis", points=((0, 26), (total, 26))))
    upto = lines[-1][1].upto if lines else 0
    if upto < explanation.retrieved:
        left = (
            str(upto + 1)
            if upto + 1 == explanation.retrieved
            else f"{upto + 1}–{explanation.retrieved}"
        )
        text = f"beyond the cutoff, not read: {left}"
        marks.append(Text(style="muted", x=20, y=y + 18, text=text, size=SMALL))
        y += 26
    return Panel(total, y, tuple(marks))


def _at(column: _Column, x: float) -> float:
    """Where the text of a column is anchored."""
    return {"start": x + 4, "middle": x + column.width / 2, "end": x + column.width}[column.anchor]


def _row(
    i: int, line: Line, columns: list[_Column], y: float, pitch: float, total: float
) -> Iterator[Mark]:
    middle, size = y + pitch / 2, min(MEDIUM, pitch * 0.6)
    yield Box(style="band", x=0, y=y, width=total, height=pitch, radius=5, first=i, last=i)
    arrow = ((7, middle - 6), (16, middle), (7, middle + 6), (7, middle - 6))
    yield Path(style="arrow", points=arrow, first=i, last=i)
    x = 0.0
    for column in columns:
        if column.heading:
            text = fitted(column.cell(line), size, column.width - 8)
            yield Text(
                style=column.style, x=_at(column, x), y=middle + size * 0.36, text=text, size=size,
                anchor=column.anchor, first=0 if column.known == "before" else i,
            )  # fmt: skip
        elif line.hits:
            yield Disc(style="ring", x=_at(column, x), y=middle, radius=6.5, last=i - 1)
            yield Disc(style="disc", x=_at(column, x), y=middle, radius=6.5, first=i)
        else:
            yield Disc(style="ring", x=_at(column, x), y=middle, radius=3.5)
        x += column.width


# --- The curve -------------------------------------------------------------------------------------


def _curve(frames: tuple[Frame, ...], height: float) -> Panel:
    left, right, top, bottom = 62.0, SIDE - 14.0, 44.0, height - 46.0

    def place(point: tuple[float, float]) -> tuple[float, float]:
        recall, precision = point
        return left + recall * (right - left), bottom - precision * (bottom - top)

    title = "precision and recall after each rank"
    marks: list[Mark] = [Text(style="head", x=0, y=15, text=title, size=SMALL)]
    marks += _axes(place)
    lines = [(i, frame.line) for i, frame in enumerate(frames) if frame.line is not None]
    before: list[tuple[float, float]] = []
    for i, line in lines:
        points = [place(point) for point in line.curve]
        if len(before) + len(points) > 1:
            marks.append(Path(style="curve", points=(*before, *points), first=i))
        before = [points[-1]]
    for style in ("ring", "disc"):  # hits above the others
        for i, line in lines:
            if ("disc" if line.hits else "ring") == style:
                x, y = place(line.curve[-1])
                radius = 5.5 if line.hits else 3.0
                marks.append(Disc(style=style, x=x, y=y, radius=radius, first=i))
    labels: list[Text] = []
    for i, line in lines:
        x, y = place(line.curve[-1])
        apart = all(abs(x - other.x) > APART or abs(y - 14 - other.y) > BELOW for other in labels)
        if line.hits and line.rank == line.upto and apart:
            label = str(line.rank)
            labels.append(
                Text(style="ink", x=x, y=y - 14, text=label, size=12, anchor="middle", first=i)
            )
    marks += labels
    for i, line in lines:
        x, y = place(line.curve[-1])
        guide = ((left, y), (x, y), (x, bottom))
        marks.append(Path(style="guide", points=guide, first=i, last=i))
        marks.append(Disc(style="halo", x=x, y=y, radius=9.5, first=i, last=i))
    return Panel(SIDE, height, tuple(marks))


def _axes(place: Callable[[tuple[float, float]], tuple[float, float]]) -> Iterator[Mark]:
    for tenth in range(0, 11, 2):
        at, text = tenth / 10, f"{tenth / 10:g}"
        style = "grid" if tenth else "axis"
        yield Path(style=style, points=(place((at, 0)), place((at, 1))))
        yield Path(style=style, points=(place((0, at)), place((1, at))))
        x, y = place((at, 0))
        yield Text(style="muted", x=x, y=y + 22, text=text, size=SMALL, anchor="middle")
        x, y = place((0, at))
        yield Text(style="muted", x=x - 13, y=y + 4.5, text=text, size=SMALL, anchor="end")
    x, y = place((0.5, 0))
    yield Text(style="ink", x=x, y=y + 43, text="Recall", size=MEDIUM, anchor="middle")
    x, y = place((0, 0.5))
    yield Text(style="ink", x=x - 47, y=y, text="Precision", size=MEDIUM, anchor="middle", turn=90)


# --- The sums --------------------------------------------------------------------------------------


def _sums(frames: tuple[Frame, ...]) -> Panel:
    marks: list[Mark] = []
    y = 0.0
    for m in range(len(frames[-1].sums)):
        card, height = _card([frame.sums[m] for frame in frames])
        marks += moved(card, 0, y)
        y += height
    return Panel(SIDE, y, tuple(marks))


def _card(sums: list[Sum]) -> tuple[list[Mark], float]:
    """One measure: its name, a bar of its terms, their sum, what divides it, and the value."""
    end, reading = len(sums) - 1, sums[-1].reading
    name = fitted(str(reading.measure), SMALL, SIDE)
    marks: list[Mark] = [Text(style="head", x=0, y=15, text=name, size=SMALL)]
    marks += _bar(sums, 24.0)
    y = 67.0 if len(marks) > 1 else 42.0
    marks += _totals(sums, y)
    if reading.divisor:
        y += 22
        divisor = fitted(f"÷ {reading.divisor}", MEDIUM, SIDE)
        marks.append(Text(style="quiet", x=0, y=y, text=divisor, size=MEDIUM, last=end - 1))
        marks.append(Text(style="number", x=0, y=y, text=divisor, size=MEDIUM, first=end))
    y += 27
    text = f"{sums[end].relation} {sums[end].result}"
    marks.append(Text(style="value", x=0, y=y, text=text, size=20, first=end))
    if reading.ties:
        text = "ties: " + ", ".join(f"{o} {value:.4f}" for o, value in reading.ties.items())
        marks.append(
            Text(style="muted", x=SIDE - 14, y=y, text=text, size=SMALL, anchor="end", first=end)
        )
    return marks, y + 20


def _totals(sums: list[Sum], y: float) -> Iterator[Mark]:
    """The sum so far: one mark for as long as it stays the same."""
    starts = [i for i in range(len(sums)) if i == 0 or sums[i].terms != sums[i - 1].terms]
    for start, after in zip(starts, [*starts[1:], None], strict=True):
        last = None if after is None else after - 1
        text = _total(sums[start])
        yield Text(style="number", x=0, y=y, text=text, size=MEDIUM, first=start, last=last)


def _total(sum_: Sum) -> str:
    return f"{sum_.expression} = {sum_.total:.4f}" if sum_.terms else "0"


def _bar(sums: list[Sum], y: float) -> Iterator[Mark]:
    """The terms end to end, on a track as long as the norm: what is filled is the value."""
    final, reading = sums[-1].total, sums[-1].reading
    negative = reading.rest < 0 or any(term < 0 for term in reading.terms)
    scale = max(final, reading.norm)
    if negative or sums[-1].relation != "=":
        return
    room = SIDE - 70.0
    text = f"{scale:.0f}" if scale == round(scale) else f"{scale:.4g}"
    yield Box(style="track", x=0, y=y, width=room, height=18, radius=3)
    yield Text(style="muted", x=room + 9, y=y + 13.5, text=text, size=SMALL)
    before = 0.0
    for i, sum_ in enumerate(sums):
        if sum_.total > before:
            x, width = room * before / scale, room * (sum_.total - before) / scale
            width = max(width - 1.5, 1.5)  # a gap to the next, and no term too small to see
            yield Box(style="block", x=x + 0.75, y=y, width=width, height=18, radius=2, first=i)
            before = sum_.total
