"""The drawing of an explanation: ranking, curve and sums as marks, on a wide and on a narrow sheet."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from germane.explanation.animation.frames import Frame, Line, Sum
from germane.explanation.animation.marks import (
    ADVANCE,
    Box,
    Disc,
    Mark,
    Panel,
    Path,
    Text,
    shift,
    shorten,
    wrap,
)
from germane.explanation.explanation import Explanation
from germane.output.tables import make_visible, measure_width

MARGIN, GAP = 32.0, 44.0
WORDS = 15.0  # font size of what is said
BUTTON, PITCH = 40.0, 46.0  # width of a button, and from one to the next
BOLD = 1.15  # how much wider bold letters are
ENLARGED = 1.4  # buttons that are pressed with a finger
SMALL, MEDIUM, LARGE = 13.0, 14.0, 22.0  # font sizes in pixels
SIDE = 480.0  # width of the curve and the sums
CURVE = 330.0  # height of the curve; less where there are several sums
APART, BELOW = 24.0, 20.0  # hits this far from each other have their ranks written at the curve


@dataclass(frozen=True)
class Drawing:
    """Three panels, their frames, and the text above them."""

    title: str
    definitions: tuple[str, ...]
    facts: str
    ranking: Panel
    curve: Panel
    sums: Panel
    frames: tuple[Frame, ...]


def draw(explanation: Explanation, frames: tuple[Frame, ...]) -> Drawing:
    """Draw the panels that the frames show."""
    several = len(explanation.readings)
    measures = f"{several} measures"  # the lines below the title name them
    if several < 3:
        measures = ", ".join(str(reading.measure) for reading in explanation.readings)
    listed = explanation.query == "list" and explanation.policy is None
    return Drawing(
        title=f"{measures} of " + ("one list" if listed else f"query {explanation.query}"),
        definitions=tuple(f"{r.measure}: {r.measure.definition}" for r in explanation.readings),
        facts=_describe_facts(explanation),
        ranking=_draw_ranking(explanation, frames),
        curve=_draw_curve(frames, CURVE if several < 3 else 260.0),
        sums=_draw_sums(frames),
        frames=frames,
    )


def _describe_facts(explanation: Explanation) -> str:
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


def _choose_columns(lines: list[Line], several: int) -> Iterator[_Column]:
    spans = max((len(line.span) for line in lines), default=1)
    items = max((measure_width(make_visible((line.item or "?")[:40])) for line in lines), default=1)
    yield _Column("rank", _measure_room(max(spans, 4), 22), "end", "ink", lambda line: line.span)
    yield _Column("", 34, "middle", "ink", lambda line: "")  # the disc
    if any(line.item is not None for line in lines):
        yield _Column(
            "item", _measure_room(min(max(items, 12), 28), 16), "start", "ink", _name_item
        )
    yield _Column("relevance", 84, "end", "ink", lambda line: line.grade)
    if any(line.tied for line in lines):
        yield _Column("tie", 64, "end", "muted", lambda line: line.tied)
    yield _Column("P@rank", 88, "end", "ink", lambda line: f"{line.precision:.4f}", "when read")
    if several == 1:
        yield _Column("term", 116, "end", "term", lambda line: line.written[0], "when read")


def _measure_room(characters: int, besides: float) -> float:
    return characters * ADVANCE * MEDIUM + besides


def _name_item(line: Line) -> str:
    if line.rank == line.upto:
        return line.item or "?"
    return f"… {line.hits} relevant" if line.hits else "…"


def _draw_ranking(explanation: Explanation, frames: tuple[Frame, ...]) -> Panel:
    lines = [(i, frame.line) for i, frame in enumerate(frames) if frame.line is not None]
    columns = list(_choose_columns([line for _, line in lines], len(explanation.readings)))
    pitch = min(max(660 / max(len(lines), 1), 22.0), 34.0)
    total = sum(column.width for column in columns) + 14.0
    marks: list[Mark] = []
    y = 34.0
    for i, line in lines:
        marks += _draw_row(i, line, columns, y, pitch, total)
        y += pitch
    x = 0.0
    for column in columns:
        at = _anchor(column, x)
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


def _anchor(column: _Column, x: float) -> float:
    """Find the x at which the text of a column is anchored."""
    return {"start": x + 4, "middle": x + column.width / 2, "end": x + column.width}[column.anchor]


def _draw_row(
    i: int, line: Line, columns: list[_Column], y: float, pitch: float, total: float
) -> Iterator[Mark]:
    middle, size = y + pitch / 2, min(MEDIUM, pitch * 0.6)
    yield Box(style="band", x=0, y=y, width=total, height=pitch, radius=5, first=i, last=i)
    arrow = ((7, middle - 6), (16, middle), (7, middle + 6), (7, middle - 6))
    yield Path(style="arrow", points=arrow, first=i, last=i)
    x = 0.0
    for column in columns:
        if column.heading:
            text = shorten(column.cell(line), size, column.width - 8)
            yield Text(
                style=column.style, x=_anchor(column, x), y=middle + size * 0.36, text=text, size=size,
                anchor=column.anchor, first=0 if column.known == "before" else i,
            )  # fmt: skip
        elif line.hits:
            yield Disc(style="ring", x=_anchor(column, x), y=middle, radius=6.5, last=i - 1)
            yield Disc(style="disc", x=_anchor(column, x), y=middle, radius=6.5, first=i)
        else:
            yield Disc(style="ring", x=_anchor(column, x), y=middle, radius=3.5)
        x += column.width


# --- The curve -------------------------------------------------------------------------------------


def _draw_curve(frames: tuple[Frame, ...], height: float) -> Panel:
    left, right, top, bottom = 62.0, SIDE - 14.0, 44.0, height - 46.0

    def place(point: tuple[float, float]) -> tuple[float, float]:
        recall, precision = point
        return left + recall * (right - left), bottom - precision * (bottom - top)

    title = "precision and recall after each rank"
    marks: list[Mark] = [Text(style="head", x=0, y=15, text=title, size=SMALL)]
    marks += _draw_axes(place)
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


def _draw_axes(place: Callable[[tuple[float, float]], tuple[float, float]]) -> Iterator[Mark]:
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


def _draw_sums(frames: tuple[Frame, ...]) -> Panel:
    marks: list[Mark] = []
    y = 0.0
    for m in range(len(frames[-1].sums)):
        card, height = _draw_card([frame.sums[m] for frame in frames])
        marks += shift(card, 0, y)
        y += height
    return Panel(SIDE, y, tuple(marks))


def _draw_card(sums: list[Sum]) -> tuple[list[Mark], float]:
    """Draw one measure: its name, a bar of its terms, their sum, what divides it, and the value."""
    end, reading = len(sums) - 1, sums[-1].reading
    name = shorten(str(reading.measure), SMALL, SIDE)
    marks: list[Mark] = [Text(style="head", x=0, y=15, text=name, size=SMALL)]
    marks += _draw_bar(sums, 24.0)
    y = 67.0 if len(marks) > 1 else 42.0
    marks += _draw_totals(sums, y)
    if reading.divisor:
        y += 22
        divisor = shorten(f"÷ {reading.divisor}", MEDIUM, SIDE)
        marks.append(Text(style="quiet", x=0, y=y, text=divisor, size=MEDIUM, last=end - 1))
        marks.append(Text(style="number", x=0, y=y, text=divisor, size=MEDIUM, first=end))
    y += 27
    text = f"{sums[end].relation} {sums[end].result}"
    marks.append(Text(style="value", x=0, y=y, text=text, size=20, first=end))
    if reading.ties:
        text = f"ties: {reading.tie_values}"
        marks.append(
            Text(style="muted", x=SIDE - 14, y=y, text=text, size=SMALL, anchor="end", first=end)
        )
    return marks, y + 20


def _draw_totals(sums: list[Sum], y: float) -> Iterator[Mark]:
    """Draw the sum so far, with one mark for as long as it stays unchanged."""
    starts = [i for i in range(len(sums)) if i == 0 or sums[i].terms != sums[i - 1].terms]
    for start, after in zip(starts, [*starts[1:], None], strict=True):
        last = None if after is None else after - 1
        text = _write_total(sums[start])
        yield Text(style="number", x=0, y=y, text=text, size=MEDIUM, first=start, last=last)


def _write_total(sum_: Sum) -> str:
    return f"{sum_.expression} = {sum_.total:.4f}" if sum_.terms else "0"


def _draw_bar(sums: list[Sum], y: float) -> Iterator[Mark]:
    """Draw the terms end to end on a track as long as the norm: the filled part is the value."""
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


# --- Sheets ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sheet:
    """The whole drawing: the places of its panels, the marks around them, and room for buttons."""

    width: float
    height: float
    around: tuple[Mark, ...]
    panels: dict[str, tuple[Panel, float, float]]  # each with its left and top edge
    buttons: tuple[float, float, float]  # their left and top edge, and how much they are enlarged

    @property
    def flat(self) -> Panel:
        """The sheet as one panel."""
        marks = list(self.around)
        for panel, x, y in self.panels.values():
            marks += shift(panel.marks, x, y)
        return Panel(self.width, self.height, tuple(marks))


def arrange_wide(drawing: Drawing) -> Sheet:
    """Arrange the ranking on the left, curve and sums on the right, and the words below."""
    side = MARGIN + drawing.ranking.width + GAP
    total = side + SIDE + MARGIN
    room = total - 2 * MARGIN
    top = 82.0 + 20.0 * len(drawing.definitions) + 26.0
    below = top + drawing.curve.height + 16.0
    bottom = max(top + drawing.ranking.height, below + drawing.sums.height) + 18.0
    height = bottom + 44.0 + MARGIN - 8.0
    marks: list[Mark] = [Box(style="paper", x=0, y=0, width=total, height=height)]
    marks += _write_heading(drawing, room)
    panels = {
        "ranking": (drawing.ranking, MARGIN, top),
        "curve": (drawing.curve, side, top),
        "sums": (drawing.sums, side, below),
    }
    marks.append(Box(style="track", x=MARGIN, y=bottom, width=room, height=44, radius=8))
    for i, frame in enumerate(drawing.frames):
        text = shorten(frame.text, _measure_letters(frame), room - 36)
        marks.append(_write_words(frame, i, text, MARGIN + 18, bottom + 28))
    buttons = (total - MARGIN - 3 * PITCH - BUTTON, 24.0, 1.0)
    return Sheet(total, height, tuple(marks), panels, buttons)


def arrange_narrow(drawing: Drawing) -> Sheet:
    """Arrange everything from top to bottom; buttons and words stand before the panels."""
    room, margin = max(drawing.ranking.width, SIDE), MARGIN / 2
    total, y = room + 2 * margin, MARGIN + 6
    marks: list[Mark] = []
    definitions = (("ink", definition, MEDIUM) for definition in drawing.definitions)
    heading = (("title", drawing.title, LARGE), *definitions, ("muted", drawing.facts, MEDIUM))
    for style, paragraph, size in heading:
        for text in wrap(paragraph, size * (BOLD if style == "title" else 1), room):
            marks.append(Text(style=style, x=margin, y=y, text=text, size=size))
            y += 1.4 * size
    buttons = (margin, y, ENLARGED)
    y += 60 * ENLARGED + WORDS
    said = [wrap(frame.text, _measure_letters(frame), room) for frame in drawing.frames]
    for i, frame in enumerate(drawing.frames):
        for line, text in enumerate(said[i]):
            marks.append(_write_words(frame, i, text, margin, y + 1.4 * WORDS * line))
    y += 1.4 * WORDS * max(map(len, said)) + 12
    panels = {}
    for name, panel in zip(
        ("ranking", "curve", "sums"), (drawing.ranking, drawing.curve, drawing.sums), strict=True
    ):
        panels[name] = panel, margin, y
        y += panel.height + 20
    paper = Box(style="paper", x=0, y=0, width=total, height=y)
    return Sheet(total, y, (paper, *marks), panels, buttons)


def _write_heading(drawing: Drawing, room: float) -> Iterator[Mark]:
    title = shorten(drawing.title, LARGE, room - 4 * PITCH - GAP)
    yield Text(style="title", x=MARGIN, y=50, text=title, size=LARGE)
    for i, definition in enumerate(drawing.definitions):
        text = shorten(definition, MEDIUM, room)
        yield Text(style="ink", x=MARGIN, y=80 + 20 * i, text=text, size=MEDIUM)
    y = 80 + 20 * len(drawing.definitions) + 2
    text = shorten(drawing.facts, SMALL, room)
    yield Text(style="muted", x=MARGIN, y=y, text=text, size=SMALL)


def _measure_letters(frame: Frame) -> float:
    """Measure the letters of a frame's words: bold ones take more room."""
    return WORDS * (BOLD if frame.last else 1)


def _write_words(frame: Frame, i: int, text: str, x: float, y: float) -> Text:
    style = "title" if frame.last else "ink"
    return Text(style=style, x=x, y=y, text=text, size=WORDS, first=i, last=i)
