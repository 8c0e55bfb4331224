"""The drawing of an explanation: ranking, curve and sums as marks, on two sheets."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from germane.errors import make_visible
from germane.explanation.explanation import Explanation
from germane.output.tables import measure_width
from germane.teaching.scenes import (
    ADVANCE,
    Box,
    Disc,
    Frame,
    Line,
    Mark,
    Panel,
    Path,
    Sum,
    Text,
    shift,
    shorten,
    wrap,
)

MARGIN, GAP = 32.0, 44.0
BUTTON, PITCH = 40.0, 46.0  # width of a button, and from one to the next
ENLARGED = 1.4  # buttons that are pressed with a finger
SMALL, MEDIUM, WORDS, LARGE = 13.0, 14.0, 15.0, 22.0  # font sizes; WORDS: the text of a frame
BOLD = 1.15  # how much wider bold letters are
SIDE = 480.0  # width of the curve and the sums
CURVE = 330.0  # height of the curve; less where there are several sums
APART, BELOW = 24.0, 20.0  # hits this far from each other have their ranks written at the curve

Point = tuple[float, float]
Lines = Sequence[tuple[int, Line]]  # each with the number of its frame


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
    readings = explanation.readings
    measures = f"{len(readings)} measures"  # the lines below the title name them
    if len(readings) < 3:
        measures = ", ".join(str(reading.measure) for reading in readings)
    listed = explanation.query == "list" and explanation.policy is None
    lines = [(i, frame.line) for i, frame in enumerate(frames) if frame.line is not None]
    return Drawing(
        title=f"{measures} of " + ("one list" if listed else f"query {explanation.query}"),
        definitions=tuple(f"{r.measure}: {r.measure.definition}" for r in readings),
        facts=_describe_facts(explanation),
        ranking=_draw_ranking(explanation, lines),
        curve=_draw_curve(lines, CURVE if len(readings) < 3 else 260.0),
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


# --- The ranking ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    """A column of the ranking: its heading, its width, the side it is set to, and its cells."""

    heading: str
    width: float
    anchor: str
    style: str
    write: Callable[[Line], str]
    from_start: bool = True  # or from the frame in which the line is read

    def find_anchor(self, x: float) -> float:
        """Find where the text is anchored in a column that starts at x."""
        return x + {"start": 4, "middle": self.width / 2, "end": self.width}[self.anchor]


def _choose_columns(lines: list[Line], side_by_side: bool) -> Iterator[_Column]:
    def give_room(characters: int, besides: float) -> float:
        return characters * ADVANCE * MEDIUM + besides

    spans = max((len(line.span) for line in lines), default=1)
    yield _Column("rank", give_room(max(spans, 4), 22), "end", "ink", lambda line: line.span)
    yield _Column("", 34, "middle", "ink", lambda line: "")  # the disc
    if any(line.item is not None for line in lines):
        items = max(measure_width(make_visible((line.item or "?")[:40])) for line in lines)
        width = give_room(min(max(items, 12), 28), 16)
        yield _Column("item", width, "start", "ink", _name_item)
    yield _Column("relevance", 84, "end", "ink", lambda line: line.grade)
    if any(line.tied for line in lines):
        yield _Column("tie", 64, "end", "muted", lambda line: line.tied)
    yield _Column("P@rank", 88, "end", "ink", lambda line: f"{line.precision:.4f}", False)
    if not side_by_side:
        yield _Column("term", 116, "end", "term", lambda line: line.written[0], False)


def _name_item(line: Line) -> str:
    if line.rank == line.upto:
        return line.item or "?"
    return f"… {line.hits} relevant" if line.hits else "…"


def _draw_ranking(explanation: Explanation, lines: Lines) -> Panel:
    columns = list(
        _choose_columns([line for _, line in lines], side_by_side=len(explanation.readings) > 1)
    )
    pitch = min(max(660 / max(len(lines), 1), 22.0), 34.0)
    width = sum(column.width for column in columns) + 14.0
    marks: list[Mark] = []
    y = 34.0
    for i, line in lines:
        marks += _draw_row(i, line, columns, y, pitch, width)
        y += pitch
    x = 0.0
    for column in columns:
        marks.append(Text("head", column.find_anchor(x), 15, column.heading, SMALL, column.anchor))
        x += column.width
    marks.append(Path("axis", ((0, 26), (width, 26))))
    first, last = (lines[-1][1].upto if lines else 0) + 1, explanation.retrieved
    if first <= last:
        ranks = str(first) if first == last else f"{first}–{last}"
        marks.append(Text("muted", 20, y + 18, f"beyond the cutoff, not read: {ranks}", SMALL))
        y += 26
    return Panel(width, y, tuple(marks))


def _draw_row(
    i: int, line: Line, columns: list[_Column], y: float, pitch: float, width: float
) -> Iterator[Mark]:
    middle, size = y + pitch / 2, min(MEDIUM, pitch * 0.6)
    yield Box("band", 0, y, width, pitch, 5, first=i, last=i)
    arrow = ((7, middle - 6), (16, middle), (7, middle + 6), (7, middle - 6))
    yield Path("arrow", arrow, first=i, last=i)
    x = 0.0
    for column in columns:
        anchor = column.find_anchor(x)
        if column.heading:
            text = shorten(column.write(line), size, column.width - 8)
            first = 0 if column.from_start else i
            yield Text(
                column.style, anchor, middle + size * 0.36, text, size, column.anchor, first=first
            )
        elif line.hits:
            yield Disc("ring", anchor, middle, 6.5, last=i - 1)
            yield Disc("disc", anchor, middle, 6.5, first=i)
        else:
            yield Disc("ring", anchor, middle, 3.5)
        x += column.width


# --- The curve --------------------------------------------------------------------------------


def _draw_curve(lines: Lines, height: float) -> Panel:
    left, right, top, bottom = 62.0, SIDE - 14.0, 44.0, height - 46.0

    def place(point: Point) -> Point:
        recall, precision = point
        return left + recall * (right - left), bottom - precision * (bottom - top)

    title = Text("head", 0, 15, "precision and recall after each rank", SMALL)
    paths: list[Mark] = []
    rings: list[Mark] = []
    discs: list[Mark] = []
    labels: list[Text] = []
    guides: list[Mark] = []
    before: list[Point] = []
    for i, line in lines:
        points = [place(point) for point in line.curve]
        x, y = points[-1]
        if len(before) + len(points) > 1:
            paths.append(Path("curve", (*before, *points), first=i))
        before = [(x, y)]
        if line.hits:
            discs.append(Disc("disc", x, y, 5.5, first=i))
        else:
            rings.append(Disc("ring", x, y, 3.0, first=i))
        apart = all(abs(x - label.x) > APART or abs(y - 14 - label.y) > BELOW for label in labels)
        if line.hits and line.rank == line.upto and apart:
            labels.append(Text("ink", x, y - 14, str(line.rank), 12, "middle", first=i))
        guides.append(Path("guide", ((left, y), (x, y), (x, bottom)), first=i, last=i))
        guides.append(Disc("halo", x, y, 9.5, first=i, last=i))
    marks = (title, *_draw_axes(place), *paths, *rings, *discs, *labels, *guides)
    return Panel(SIDE, height, marks)


def _draw_axes(place: Callable[[Point], Point]) -> Iterator[Mark]:
    for tenth in range(0, 11, 2):
        level, text = tenth / 10, f"{tenth / 10:g}"
        style = "grid" if tenth else "axis"
        yield Path(style, (place((level, 0)), place((level, 1))))
        yield Path(style, (place((0, level)), place((1, level))))
        x, y = place((level, 0))
        yield Text("muted", x, y + 22, text, SMALL, "middle")
        x, y = place((0, level))
        yield Text("muted", x - 13, y + 4.5, text, SMALL, "end")
    x, y = place((0.5, 0))
    yield Text("ink", x, y + 43, "Recall", MEDIUM, "middle")
    x, y = place((0, 0.5))
    yield Text("ink", x - 47, y, "Precision", MEDIUM, "middle", turn=90)


# --- The sums ---------------------------------------------------------------------------------


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
    marks: list[Mark] = [Text("head", 0, 15, shorten(str(reading.measure), SMALL, SIDE), SMALL)]
    marks += _draw_bar(sums, 24.0)
    y = 67.0 if len(marks) > 1 else 42.0
    marks += _draw_totals(sums, y)
    if reading.divisor:
        y += 22
        divisor = shorten(f"÷ {reading.divisor}", MEDIUM, SIDE)
        marks.append(Text("quiet", 0, y, divisor, MEDIUM, last=end - 1))
        marks.append(Text("number", 0, y, divisor, MEDIUM, first=end))
    y += 27
    marks.append(Text("value", 0, y, f"{sums[end].relation} {sums[end].result}", 20, first=end))
    if reading.ties:
        ties = f"ties: {reading.tie_values}"
        marks.append(Text("muted", SIDE - 14, y, ties, SMALL, "end", first=end))
    return marks, y + 20


def _draw_totals(sums: list[Sum], y: float) -> Iterator[Mark]:
    """Draw the sum so far, with one mark for as long as it stays unchanged."""
    for _, frames in groupby(enumerate(sums), key=lambda pair: pair[1].terms):
        (first, sum_), *rest = frames
        last = rest[-1][0] if rest else first
        text = f"{sum_.expression} = {sum_.total:.4f}" if sum_.terms else "0"
        to_the_end = last == len(sums) - 1
        yield Text("number", 0, y, text, MEDIUM, first=first, last=None if to_the_end else last)


def _draw_bar(sums: list[Sum], y: float) -> Iterator[Mark]:
    """Draw the terms end to end on a track as long as the norm: the filled part is the value."""
    final, reading = sums[-1].total, sums[-1].reading
    negative = reading.rest < 0 or any(term < 0 for term in reading.terms)
    if negative or sums[-1].relation != "=":
        return
    scale, width = max(final, reading.norm), SIDE - 70.0
    text = f"{scale:.0f}" if scale == round(scale) else f"{scale:.4g}"
    yield Box("track", 0, y, width, 18, 3)
    yield Text("muted", width + 9, y + 13.5, text, SMALL)
    before = 0.0
    for i, sum_ in enumerate(sums):
        if sum_.total > before:
            x = width * before / scale
            length = width * (sum_.total - before) / scale
            length = max(length - 1.5, 1.5)  # a gap to the next, and no term too small to see
            yield Box("block", x + 0.75, y, length, 18, 2, first=i)
            before = sum_.total


# --- Sheets -----------------------------------------------------------------------------------


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
    width = side + SIDE + MARGIN
    room = width - 2 * MARGIN
    facts = 82.0 + 20.0 * len(drawing.definitions)
    top = facts + 26.0
    below = top + drawing.curve.height + 16.0
    bottom = max(top + drawing.ranking.height, below + drawing.sums.height) + 18.0
    height = bottom + 44.0 + MARGIN - 8.0
    title = shorten(drawing.title, LARGE, room - 4 * PITCH - GAP)
    marks: list[Mark] = [
        Box("paper", 0, 0, width, height),
        Text("title", MARGIN, 50, title, LARGE),
        *(
            Text("ink", MARGIN, 80 + 20 * i, shorten(definition, MEDIUM, room), MEDIUM)
            for i, definition in enumerate(drawing.definitions)
        ),
        Text("muted", MARGIN, facts, shorten(drawing.facts, SMALL, room), SMALL),
        Box("track", MARGIN, bottom, room, 44, 8),
    ]
    for i, frame in enumerate(drawing.frames):
        text = shorten(frame.text, _measure_letters(frame), room - 36)
        marks.append(_write_words(frame, i, text, MARGIN + 18, bottom + 28))
    panels = {
        "ranking": (drawing.ranking, MARGIN, top),
        "curve": (drawing.curve, side, top),
        "sums": (drawing.sums, side, below),
    }
    buttons = (width - MARGIN - 3 * PITCH - BUTTON, 24.0, 1.0)
    return Sheet(width, height, tuple(marks), panels, buttons)


def arrange_narrow(drawing: Drawing) -> Sheet:
    """Arrange everything from top to bottom; buttons and words stand before the panels."""
    room, margin = max(drawing.ranking.width, SIDE), MARGIN / 4
    width, y = room + 2 * margin, MARGIN + 6
    marks: list[Mark] = []
    definitions = (("ink", definition, MEDIUM) for definition in drawing.definitions)
    heading = (("title", drawing.title, LARGE), *definitions, ("muted", drawing.facts, MEDIUM))
    for style, paragraph, size in heading:
        for text in wrap(paragraph, size * (BOLD if style == "title" else 1), room):
            marks.append(Text(style, margin, y, text, size))
            y += 1.4 * size
    buttons = (margin, y, ENLARGED)
    y += 60 * ENLARGED + WORDS
    words = [wrap(frame.text, _measure_letters(frame), room) for frame in drawing.frames]
    for i, frame in enumerate(drawing.frames):
        for line, text in enumerate(words[i]):
            marks.append(_write_words(frame, i, text, margin, y + 1.4 * WORDS * line))
    y += 1.4 * WORDS * max(map(len, words)) + 12
    panels = {}
    for name in ("ranking", "curve", "sums"):
        panel: Panel = getattr(drawing, name)
        panels[name] = panel, margin, y
        y += panel.height + 20
    return Sheet(width, y, (Box("paper", 0, 0, width, y), *marks), panels, buttons)


def _measure_letters(frame: Frame) -> float:
    """Measure the letters of a frame's words: bold ones take more room."""
    return WORDS * (BOLD if frame.last else 1)


def _write_words(frame: Frame, i: int, text: str, x: float, y: float) -> Text:
    return Text("title" if frame.last else "ink", x, y, text, WORDS, first=i, last=i)
