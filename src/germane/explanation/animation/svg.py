"""The drawing for browsers: one SVG file that plays by itself, or an HTML page with a slider."""

import math
from collections.abc import Iterable, Iterator
from itertools import accumulate

from germane.explanation.animation.drawing import (
    BUTTON,
    PITCH,
    Drawing,
    Sheet,
    arrange_narrow,
    arrange_wide,
)
from germane.explanation.animation.marks import STYLES, Box, Disc, Mark, Panel, Path, Style, Text
from germane.output.markup import (
    COLORS,
    PAPERS,
    Paper,
    define_colors,
    write_content_policy,
    write_element,
    write_points,
)
from germane.output.tables import escape_html

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
LAYOUT = """
body { margin: 0; background: var(--paper); color: var(--ink); }
.germane {
  background: var(--paper); color: var(--ink); min-height: 100vh; box-sizing: border-box;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
  padding: 28px clamp(14px, 4vw, 40px) 40px; max-width: 1240px; margin: 0 auto;
}
.germane h1 { font-size: 1.45rem; line-height: 1.25; margin: 0 0 .4rem; overflow-wrap: anywhere; }
.germane p { margin: .15rem 0; overflow-wrap: anywhere; }
.germane .facts, .germane .count { color: var(--muted); font-size: .85rem; }
.germane .controls {
  position: sticky; top: 0; z-index: 1; padding: 14px 0 12px; margin-top: 6px;
  background: var(--paper); border-bottom: 1px solid var(--grid);
}
.germane.live .controls { display: block; }
.germane .row { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; }
.germane button {
  font: inherit; color: var(--ink); background: var(--track); border: 1px solid var(--axis);
  border-radius: 8px; height: 40px; min-width: 44px; padding: 0 10px; cursor: pointer;
}
.germane button:hover { background: var(--band); }
.germane button svg { display: block; width: 24px; height: 24px; fill: currentColor; }
.germane button:focus-visible, .germane input:focus-visible {
  outline: 3px solid var(--hit); outline-offset: 2px;
}
.germane .named { display: flex; align-items: center; gap: 6px; padding-right: 14px; }
.germane input { flex: 1 1 160px; min-width: 120px; accent-color: var(--hit); }
.germane .count { min-width: 4.5em; text-align: right; font-variant-numeric: tabular-nums; }
.germane .said { margin: 10px 0 0; min-height: 3em; font-weight: 600; }
.germane .panels { display: flex; flex-wrap: wrap; gap: 28px 44px; margin: 22px 0; }
.germane .panels > div { min-width: 0; }
.germane .panels svg { display: block; width: 100%; height: auto; }
.germane .sums { margin-top: 16px; }
.germane summary { cursor: pointer; color: var(--muted); }
.germane ol { padding-left: 2.2em; overflow-wrap: anywhere; }
"""
LABELS = {
    "start": "To the start",
    "back": "One step back",
    "play": "Play",
    "forward": "One step forward",
}


def write_svg(drawing: Drawing) -> str:
    """Write the whole drawing as one file: its style, its marks, its buttons and its script.

    It holds the drawing for wide windows and for narrow ones; the script shows the one that fits.
    Where no script runs, as in an image on a page, rules of style play the drawing.
    """
    sheets = {"wide": arrange_wide(drawing), "narrow": arrange_narrow(drawing)}
    last, label = len(drawing.frames) - 1, describe(drawing)
    marks = [mark for sheet in sheets.values() for mark in sheet.flat.marks]
    style = (
        f"{_write_styles()}{MOTION}{ALONE}{_move_panels(sheets['narrow'])}{_play(drawing, marks)}"
    )
    root = {
        "xmlns": "http://www.w3.org/2000/svg",
        "class": "germane",
        "role": "group",
        **_write_size(sheets["wide"]),
        **{f"data-{name}": _write_box(sheet) for name, sheet in sheets.items()},
        "data-seconds": _list_seconds(drawing),
    }
    pictures = [
        write_element("g", {"class": name}, *write_marks(sheet.around, last))
        for name, sheet in sheets.items()
    ] + [
        write_element(
            "g",
            {"class": f"{name}-panel", "transform": f"translate({x:g} {y:g})"},
            *write_marks(panel.marks, last),
        )
        for name, (panel, x, y) in sheets["wide"].panels.items()
    ]
    words = (
        write_element("text", {"data-words": ""}, escape_html(frame.text))
        for frame in drawing.frames
    )
    return (
        write_element(
            "svg",
            root,
            write_element("title", {}, escape_html(drawing.title)),
            write_element("desc", {}, escape_html(label)),
            write_element("style", {}, style),
            write_element("g", {"role": "img", "aria-label": label}, *pictures),
            *(
                write_element("g", {"class": name}, _write_buttons(sheet))
                for name, sheet in sheets.items()
            ),
            write_element("g", {"display": "none"}, *words),
            write_element("text", {"class": "unseen", "data-live": "", "aria-live": "polite"}, ""),
            write_element("script", {}, f"<![CDATA[\n{read_player()}]]>"),
        )
        + "\n"
    )


def _move_panels(sheet: Sheet) -> str:
    """Write the rules that move the panels in a small window."""
    return "".join(
        f".germane.small .{name}-panel {{ transform: translate({x:g}px, {y:g}px); }}\n"
        for name, (_, x, y) in sheet.panels.items()
    )


def _play(drawing: Drawing, marks: Iterable[Mark]) -> str:
    """Write the rules that play the drawing, again and again, until a script takes over.

    They hold for the root alone: inside a page, names of two drawings would be mistaken for each other.
    """
    seconds = [frame.seconds for frame in drawing.frames]
    total = math.fsum(seconds)
    starts = [f"{100 * start / total:.5g}%" for start in accumulate(seconds, initial=0.0)]
    rules = []
    for seen in sorted({_write_seen(mark) for mark in marks if _is_written(mark)} - {""}):
        first, *last = map(int, seen.split())
        steps = "0% { visibility: hidden; } " if first else ""
        steps += f"{starts[first]} {{ visibility: visible; }}"
        if last and last[0] < len(seconds) - 1:
            steps += f" {starts[last[0] + 1]} {{ visibility: hidden; }}"
        name = f"seen-{seen.replace(' ', '-')}"
        rules.append(f"@keyframes {name} {{ {steps} }}")
        rules.append(
            f':root.germane:not(.live) [data-seen="{seen}"] {{ animation: {name} {total:g}s step-end infinite; }}'
        )
    inside = "\n".join(rules)
    return f"@media (prefers-reduced-motion: no-preference) {{\n{inside}\n}}\n"


def _write_buttons(sheet: Sheet) -> str:
    x, y, scale = sheet.buttons
    count = {
        "class": "muted", "x": 178, "y": 54, "font-size": 12.5, "text-anchor": "end", "data-count": "",
    }  # fmt: skip
    return write_element(
        "g",
        {"class": "controls", "transform": f"translate({x:g} {y:g}) scale({scale:g})"},
        *(_write_button(i, action) for i, action in enumerate(LABELS)),
        write_element("text", count, ""),
    )


def _write_button(place: int, action: str) -> str:
    def icon(name: str) -> str:
        return write_element("path", {"transform": "translate(8 6)", "d": ICONS[name]})

    def when(state: str, name: str) -> str:
        return write_element("g", {"class": f"when-{state}"}, icon(name))

    icons = (
        [when("paused", "play"), when("playing", "pause")] if action == "play" else [icon(action)]
    )
    attributes = {
        "data-do": action, "role": "button", "tabindex": 0, "aria-label": LABELS[action],
        "transform": f"translate({place * PITCH:g} 0)",
    }  # fmt: skip
    return write_element(
        "g",
        attributes,
        write_element("title", {}, LABELS[action]),
        write_element("rect", {"width": BUTTON, "height": 36, "rx": 7}),
        *icons,
    )


# --- The page --------------------------------------------------------------------------------------


def write_page(drawing: Drawing) -> str:
    """Write one HTML file that asks nothing of the network: buttons, a slider, and every step in words."""
    last, title = len(drawing.frames) - 1, escape_html(drawing.title)
    script = f"\n{read_player()}"
    main = {"class": "germane", "data-seconds": _list_seconds(drawing)}
    panels = (
        _write_panel(drawing.ranking, last, "The ranking."),
        _write_panel(drawing.curve, last, "The precision–recall curve.")
        + write_element(
            "div", {"class": "sums"}, _write_panel(drawing.sums, last, describe(drawing))
        ),
    )
    widths = drawing.ranking.width, drawing.curve.width
    head = [
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{write_content_policy(script)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        write_element("title", {}, title),
        write_element("style", {}, f"{_write_styles()}{MOTION}{LAYOUT}"),
    ]
    body = [
        write_element("h1", {}, title),
        *(write_element("p", {}, escape_html(line)) for line in drawing.definitions),
        write_element("p", {"class": "facts"}, escape_html(drawing.facts)),
        _write_controls(last),
        write_element(
            "div",
            {"class": "panels"},
            *(
                write_element("div", {"style": _give_room(width)}, panel)
                for width, panel in zip(widths, panels, strict=True)
            ),
        ),
        "<details><summary>Every step in words</summary><ol start='0'>",
        *(
            write_element("li", {"data-words": ""}, escape_html(frame.text))
            for frame in drawing.frames
        ),
        "</ol></details>",
        write_element("script", {}, script),
    ]
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        write_element("head", {}, *head),
        write_element("body", {}, write_element("main", main, *body)),
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def _give_room(width: float) -> str:
    """Write a panel's style: side by side both are enlarged alike, up to a quarter."""
    return f"flex: {width:.0f} 1 {width:.0f}px; max-width: min(100%, {1.25 * width:.0f}px)"


def _write_controls(last: int) -> str:
    words = {"play": ("paused", "Play"), "pause": ("playing", "Pause")}
    slider = f'<input type="range" min="0" max="{last}" step="1" value="{last}" aria-label="Step">'
    buttons = []
    for action, label in LABELS.items():
        attributes = {"type": "button", "data-do": action, "aria-label": label}
        if action == "play":
            inside = "".join(
                f'<span class="when-{state}"><span class="named">{_write_icon(name)}{word}</span></span>'
                for name, (state, word) in words.items()
            )
        else:
            attributes["title"], inside = label, _write_icon(action)
        buttons.append(write_element("button", attributes, inside))
    row = write_element(
        "div",
        {"class": "row"},
        *buttons,
        slider,
        write_element("span", {"class": "count", "data-count": ""}, ""),
    )
    said = write_element("p", {"class": "said", "data-live": "", "aria-live": "polite"}, "")
    return write_element("div", {"class": "controls"}, row, said)


def _write_icon(name: str) -> str:
    icon = write_element("path", {"d": ICONS[name]})
    return write_element("svg", {"viewBox": "0 0 24 24", "aria-hidden": "true"}, icon)


def _write_panel(panel: Panel, last: int, label: str) -> str:
    attributes = {"role": "img", "aria-label": label, **_write_size(panel)}
    return write_element("svg", attributes, *write_marks(panel.marks, last))


# --- Shared ----------------------------------------------------------------------------------------


def describe(drawing: Drawing) -> str:
    """Say in words what the drawing shows in the end."""
    return " ".join(
        [f"{drawing.title}.", drawing.frames[-1].text + ".", drawing.facts + "."]
        + [f"{definition}." for definition in drawing.definitions]
    )


def read_player() -> str:
    """Read the script that plays the drawing."""
    from importlib import resources

    return resources.files(__package__).joinpath("player.js").read_text("utf-8")


def write_marks(marks: Iterable[Mark], last: int) -> Iterator[str]:
    """Write each mark as an element; those that the last frame does not show are hidden."""
    for mark in marks:
        if not _is_written(mark):
            continue
        attributes: dict[str, object] = {
            "class": mark.style if mark.is_seen(last) else f"{mark.style} off"
        }
        if seen := _write_seen(mark):
            attributes["data-seen"] = seen
        yield _write_mark(mark, attributes)


def _is_written(mark: Mark) -> bool:
    return mark.last is None or mark.last >= mark.first


def _write_seen(mark: Mark) -> str:
    """Write the first and the last frame that show a mark; nothing for a mark that is always seen."""
    if mark.last is not None:
        return f"{mark.first} {mark.last}"
    return f"{mark.first}" if mark.first else ""


def _write_mark(mark: Mark, attributes: dict[str, object]) -> str:
    match mark:
        case Text():
            attributes |= {"x": mark.x, "y": mark.y, "font-size": float(mark.size)}
            if mark.anchor != "start":
                attributes["text-anchor"] = mark.anchor
            if mark.turn:
                attributes["transform"] = f"rotate({-mark.turn:g} {mark.x:.5g} {mark.y:.5g})"
            return write_element("text", attributes, escape_html(mark.text))
        case Path():
            return write_element("polyline", {**attributes, "points": write_points(mark.points)})
        case Disc():
            place = {"cx": mark.x, "cy": mark.y, "r": mark.radius}
            return write_element("circle", attributes | place)
        case Box():
            place = {"x": mark.x, "y": mark.y, "width": mark.width, "height": mark.height}
            return write_element("rect", {**attributes, **place, "rx": mark.radius or None})
    raise TypeError(mark)


def _write_size(panel: Panel | Sheet) -> dict[str, object]:
    size = {"width": round(panel.width), "height": round(panel.height)}
    return {**size, "viewBox": _write_box(panel)}


def _write_box(panel: Panel | Sheet) -> str:
    return f"0 0 {panel.width:.0f} {panel.height:.0f}"


def _list_seconds(drawing: Drawing) -> str:
    """List how long each frame is shown."""
    return " ".join(f"{frame.seconds:g}" for frame in drawing.frames)


def _write_styles() -> str:
    """Write a rule for each style; colors in full, since not every viewer knows variables."""
    rules = "".join(
        f".germane .{name} {{ {_write_rule(style)} }}\n" for name, style in STYLES.items()
    )
    dark = "".join(
        f".germane .{name} {{ {_paint(style, 'dark')} }}\n" for name, style in STYLES.items()
    )
    return f"""
.germane {{ color-scheme: light dark; {define_colors("light")} }}
@media (prefers-color-scheme: dark) {{ .germane {{ {define_colors("dark")} }} }}
{rules}@media (prefers-color-scheme: dark) {{
{dark}}}
"""


def _write_rule(style: Style) -> str:
    rule = [_paint(style, "light")]
    if style.stroke:
        rule.append(f"stroke-width: {style.thick:g};")
    if style.dots:
        rule.append(f"stroke-dasharray: {style.dots};")
    if style.fill and not style.stroke:
        rule.append(f"font-family: {FONTS[style.font]}; font-weight: {style.weight};")
    return " ".join(rule)


def _paint(style: Style, paper: Paper) -> str:
    shade = PAPERS.index(paper)
    fill, stroke = (COLORS[name][shade] if name else "none" for name in (style.fill, style.stroke))
    return f"fill: {fill}; stroke: {stroke};"
