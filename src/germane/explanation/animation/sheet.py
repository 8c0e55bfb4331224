"""The drawing as one sheet: for wide paper, and for the window of a phone."""

from collections.abc import Iterator
from dataclasses import dataclass

from germane.explanation.animation.drawing import LARGE, MEDIUM, SIDE, SMALL, Drawing
from germane.explanation.animation.frame import Frame
from germane.explanation.animation.mark import Box, Mark, Panel, Text, fitted, moved, wrapped

MARGIN, GAP = 32.0, 44.0
WORDS = 15.0  # font size of what is said
BUTTON, APART = 40.0, 46.0  # width of a button, and from one to the next
BOLD = 1.15  # how much wider bold letters are
ENLARGED = 1.4  # buttons that are pressed with a finger


@dataclass(frozen=True)
class Sheet:
    """The whole drawing: the places of its panels, what stands around them, and room for buttons."""

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
            marks += moved(panel.marks, x, y)
        return Panel(self.width, self.height, tuple(marks))


def wide(drawing: Drawing) -> Sheet:
    """Heading, ranking on the left, curve and sums on the right, and the words below."""
    side = MARGIN + drawing.ranking.width + GAP
    total = side + SIDE + MARGIN
    room = total - 2 * MARGIN
    top = 82.0 + 20.0 * len(drawing.definitions) + 26.0
    below = top + drawing.curve.height + 16.0
    bottom = max(top + drawing.ranking.height, below + drawing.sums.height) + 18.0
    height = bottom + 44.0 + MARGIN - 8.0
    marks: list[Mark] = [Box(style="paper", x=0, y=0, width=total, height=height)]
    marks += _heading(drawing, room)
    panels = {
        "ranking": (drawing.ranking, MARGIN, top),
        "curve": (drawing.curve, side, top),
        "sums": (drawing.sums, side, below),
    }
    marks.append(Box(style="track", x=MARGIN, y=bottom, width=room, height=44, radius=8))
    for i, frame in enumerate(drawing.frames):
        text = fitted(frame.text, _spoken(frame), room - 36)
        marks.append(_said(frame, i, text, MARGIN + 18, bottom + 28))
    buttons = (total - MARGIN - 3 * APART - BUTTON, 24.0, 1.0)
    return Sheet(total, height, tuple(marks), panels, buttons)


def narrow(drawing: Drawing) -> Sheet:
    """The same from top to bottom; buttons and words stand before the panels."""
    room, margin = max(drawing.ranking.width, SIDE), MARGIN / 2
    total, y = room + 2 * margin, MARGIN + 6
    marks: list[Mark] = []
    definitions = (("ink", definition, MEDIUM) for definition in drawing.definitions)
    heading = (("title", drawing.title, LARGE), *definitions, ("muted", drawing.facts, MEDIUM))
    for style, paragraph, size in heading:
        for text in wrapped(paragraph, size * (BOLD if style == "title" else 1), room):
            marks.append(Text(style=style, x=margin, y=y, text=text, size=size))
            y += 1.4 * size
    buttons = (margin, y, ENLARGED)
    y += 60 * ENLARGED + WORDS
    said = [wrapped(frame.text, _spoken(frame), room) for frame in drawing.frames]
    for i, frame in enumerate(drawing.frames):
        for line, text in enumerate(said[i]):
            marks.append(_said(frame, i, text, margin, y + 1.4 * WORDS * line))
    y += 1.4 * WORDS * max(map(len, said)) + 12
    panels = {}
    for name, panel in zip(
        ("ranking", "curve", "sums"), (drawing.ranking, drawing.curve, drawing.sums), strict=True
    ):
        panels[name] = panel, margin, y
        y += panel.height + 20
    paper = Box(style="paper", x=0, y=0, width=total, height=y)
    return Sheet(total, y, (paper, *marks), panels, buttons)


def _heading(drawing: Drawing, room: float) -> Iterator[Mark]:
    title = fitted(drawing.title, LARGE, room - 4 * APART - GAP)
    yield Text(style="title", x=MARGIN, y=50, text=title, size=LARGE)
    for i, definition in enumerate(drawing.definitions):
        text = fitted(definition, MEDIUM, room)
        yield Text(style="ink", x=MARGIN, y=80 + 20 * i, text=text, size=MEDIUM)
    y = 80 + 20 * len(drawing.definitions) + 2
    text = fitted(drawing.facts, SMALL, room)
    yield Text(style="muted", x=MARGIN, y=y, text=text, size=SMALL)


def _spoken(frame: Frame) -> float:
    """The size of letters that take as much room as those that are said."""
    return WORDS * (BOLD if frame.last else 1)


def _said(frame: Frame, i: int, text: str, x: float, y: float) -> Text:
    style = "title" if frame.last else "ink"
    return Text(style=style, x=x, y=y, text=text, size=WORDS, first=i, last=i)
