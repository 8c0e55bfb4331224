"""Marks as SVG, and the drawing as one SVG file that plays by itself."""

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from germane.explanation.animation.drawing import Drawing
from germane.explanation.animation.mark import (
    COLORS,
    STYLES,
    Box,
    Disc,
    Mark,
    Panel,
    Path,
    Style,
    Text,
)
from germane.explanation.animation.sheet import APART, BUTTON, Sheet, narrow, wide
from germane.output.tables import visible

FONTS = {
    "sans": "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif",
    "mono": "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
}
MOTION = """
.germane .off { visibility: hidden; }
.germane .controls { display: none; }
.germane.live .controls { display: inline; }
.germane .when-playing, .germane.playing .when-paused { display: none; }
.germane.playing .when-playing { display: inline; }
.germane [data-do] { cursor: pointer; }
.germane [aria-disabled=true] { opacity: .35; }
"""
ALONE = """
:root.germane {
  display: block; margin: 0 auto; max-width: 100%; height: auto; background: var(--paper);
}
:root.germane.small { width: 100%; }
.germane .narrow, .germane.small .wide { display: none; }
.germane.small .narrow { display: inline; }
.germane [data-do] rect { fill: var(--track); stroke: var(--axis); }
.germane [data-do]:hover rect { fill: var(--band); }
.germane [data-do]:focus { outline: none; }
.germane [data-do]:focus-visible rect { stroke: var(--hit); stroke-width: 3; }
.germane [data-do] path { fill: var(--ink); }
.germane .unseen { fill: none; }
"""
ICONS = {  # in a square of 24
    "start": "M5 5h3v14h-3z M19 5v14l-10 -7z",
    "back": "M16.5 6.5l-1.8 -1.8l-7.3 7.3l7.3 7.3l1.8 -1.8l-5.5 -5.5z",
    "pause": "M6 5h4v14h-4z M14 5h4v14h-4z",
    "play": "M7 4v16l13 -8z",
    "forward": "M7.5 6.5l1.8 -1.8l7.3 7.3l-7.3 7.3l-1.8 -1.8l5.5 -5.5z",
}


def svg(drawing: Drawing) -> str:
    """The whole drawing in one file: its style, its marks, its buttons and its script.

    It holds the drawing for wide windows and for narrow ones; the script shows the one that fits.
    """
    sheets = {"wide": wide(drawing), "narrow": narrow(drawing)}
    last = len(drawing.frames) - 1
    kind = 'xmlns="http://www.w3.org/2000/svg" class="germane" role="group"'
    boxes = " ".join(f'data-{name}="{_box(sheet)}"' for name, sheet in sheets.items())
    parts = [
        f"<svg {kind} {_size(sheets['wide'])} {boxes} {timed(drawing)}>",
        f"<title>{clean(drawing.title)}</title>",
        f"<desc>{clean(described(drawing))}</desc>",
        f"<style>{colors()}{styles()}{MOTION}{ALONE}{_moved(sheets['narrow'])}</style>",
        f'<g role="img" aria-label={quoted(described(drawing))}>',
    ]
    for name, sheet in sheets.items():
        parts += [f'<g class="{name}">', *written(sheet.around, last), "</g>"]
    for name, (panel, x, y) in sheets["wide"].panels.items():
        place = f'class="{name}-panel" transform="translate({x:g} {y:g})"'
        parts += [f"<g {place}>", *written(panel.marks, last), "</g>"]
    parts.append("</g>")
    for name, sheet in sheets.items():
        parts += [f'<g class="{name}">', *_controls(sheet), "</g>"]
    parts += [
        '<g display="none">',
        *(f'<text data-words="">{clean(frame.text)}</text>' for frame in drawing.frames),
        "</g>",
        '<text class="unseen" data-live="" aria-live="polite"></text>',
        f"<script><![CDATA[\n{player()}]]></script>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _moved(sheet: Sheet) -> str:
    """Where the panels stand in a small window."""
    return "".join(
        f".germane.small .{name}-panel {{ transform: translate({x:g}px, {y:g}px); }}\n"
        for name, (_, x, y) in sheet.panels.items()
    )


def _controls(sheet: Sheet) -> Iterator[str]:
    labels = {
        "start": "To the start",
        "back": "One step back",
        "play": "Play",
        "forward": "One step forward",
    }
    x, y, scale = sheet.buttons
    yield f'<g class="controls" transform="translate({x:g} {y:g}) scale({scale:g})">'
    for i, (action, label) in enumerate(labels.items()):
        icon = f'<path transform="translate(8 6)" d="{ICONS[action]}"/>'
        if action == "play":
            pause = f'<path transform="translate(8 6)" d="{ICONS["pause"]}"/>'
            icon = f'<g class="when-paused">{icon}</g><g class="when-playing">{pause}</g>'
        yield (
            f'<g data-do="{action}" role="button" tabindex="0" aria-label="{label}"'
            f' transform="translate({i * APART:g} 0)">'
            f'<title>{label}</title><rect width="{BUTTON:g}" height="36" rx="7"/>{icon}</g>'
        )
    yield (
        '<text class="muted" x="178" y="54" font-size="12.5" text-anchor="end" data-count="">'
        "</text></g>"
    )


# --- Shared with the page --------------------------------------------------------------------------


def picture(panel: Panel, last: int, label: str) -> str:
    """One panel as an SVG element."""
    return "\n".join(
        [
            f'<svg role="img" aria-label={quoted(label)} {_size(panel)}>',
            *written(panel.marks, last),
            "</svg>",
        ]
    )


def _size(panel: Panel | Sheet) -> str:
    return f'width="{panel.width:.0f}" height="{panel.height:.0f}" viewBox="{_box(panel)}"'


def _box(panel: Panel | Sheet) -> str:
    return f"0 0 {panel.width:.0f} {panel.height:.0f}"


def timed(drawing: Drawing) -> str:
    """How long each frame is shown, as an attribute."""
    return f'data-seconds="{" ".join(f"{frame.seconds:g}" for frame in drawing.frames)}"'


def described(drawing: Drawing) -> str:
    """What the drawing shows in the end, in words."""
    return " ".join(
        [f"{drawing.title}.", drawing.frames[-1].text + ".", drawing.facts + "."]
        + [f"{definition}." for definition in drawing.definitions]
    )


def clean(text: str) -> str:
    """Text as content: no markup, no control characters."""
    return escape(visible(text))


def quoted(text: str) -> str:
    """Text as an attribute in its quotes."""
    return quoteattr(visible(text))


def player() -> str:
    """The script that plays it."""
    from importlib import resources

    return resources.files(__package__).joinpath("player.js").read_text("utf-8")


def colors() -> str:
    """The colors as variables, on light and on dark paper, for what only browsers show."""
    light, dark = (
        "".join(f"--{name}:{shades[i]};" for name, shades in COLORS.items()) for i in (0, 1)
    )
    return f"""
.germane {{ color-scheme: light dark; {light} }}
@media (prefers-color-scheme: dark) {{ .germane {{ {dark} }} }}
"""


def styles() -> str:
    """A rule for each style of marks; colors in full, since not every viewer knows variables."""
    rules = "".join(f".germane .{name} {{ {_rule(style)} }}\n" for name, style in STYLES.items())
    dark = "".join(f".germane .{name} {{ {_paint(style, 1)} }}\n" for name, style in STYLES.items())
    return f"{rules}@media (prefers-color-scheme: dark) {{\n{dark}}}\n"


def _rule(style: Style) -> str:
    rule = [_paint(style, 0)]
    if style.stroke:
        rule.append(f"stroke-width: {style.thick:g};")
    if style.dots:
        rule.append(f"stroke-dasharray: {style.dots};")
    if style.fill and not style.stroke:
        rule.append(f"font-family: {FONTS[style.font]}; font-weight: {style.weight};")
    return " ".join(rule)


def _paint(style: Style, paper: int) -> str:
    """Its colors on light (0) or dark (1) paper."""
    fill, stroke = (COLORS[name][paper] if name else "none" for name in (style.fill, style.stroke))
    return f"fill: {fill}; stroke: {stroke};"


def written(marks: Iterable[Mark], last: int) -> Iterator[str]:
    """Each mark as an element, those that the last frame does not show hidden."""
    for mark in marks:
        if mark.last is not None and mark.last < mark.first:
            continue
        hidden = "" if mark.seen(last) else " off"
        attributes = f'class="{mark.style}{hidden}"'
        if mark.first or mark.last is not None:
            seen = [mark.first] if mark.last is None else [mark.first, mark.last]
            attributes += f' data-seen="{" ".join(map(str, seen))}"'
        yield _element(mark, attributes)


def _element(mark: Mark, attributes: str) -> str:
    match mark:
        case Text():
            place = f'x="{mark.x:.4g}" y="{mark.y:.4g}" font-size="{mark.size:g}"'
            if mark.anchor != "start":
                place += f' text-anchor="{mark.anchor}"'
            if mark.turn:
                place += f' transform="rotate({-mark.turn:g} {mark.x:.4g} {mark.y:.4g})"'
            return f"<text {attributes} {place}>{clean(mark.text)}</text>"
        case Path():
            points = " ".join(f"{x:.5g},{y:.5g}" for x, y in mark.points)
            return f'<polyline {attributes} points="{points}"/>'
        case Disc():
            return f'<circle {attributes} cx="{mark.x:.5g}" cy="{mark.y:.5g}" r="{mark.radius:g}"/>'
        case Box():
            size = f'width="{mark.width:.5g}" height="{mark.height:.5g}"'
            round_ = f' rx="{mark.radius:g}"' if mark.radius else ""
            return f'<rect {attributes} x="{mark.x:.5g}" y="{mark.y:.5g}" {size}{round_}/>'
    raise TypeError(mark)
