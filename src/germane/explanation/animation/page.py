"""The drawing as a page: the same marks, with buttons, a slider, and every step in words."""

from germane.explanation.animation.drawing import Drawing
from germane.explanation.animation.svg import (
    ICONS,
    MOTION,
    clean,
    colors,
    described,
    picture,
    player,
    quoted,
    styles,
    timed,
)

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


def page(drawing: Drawing) -> str:
    """One HTML file that asks nothing of the network."""
    last = len(drawing.frames) - 1
    script, style = f"\n{player()}", f"{colors()}{styles()}{MOTION}{LAYOUT}"
    return (
        "\n".join(
            [
                "<!DOCTYPE html>",
                '<html lang="en">',
                '<head><meta charset="utf-8">',
                f'<meta http-equiv="Content-Security-Policy" content="{content_policy(script)}">',
                '<meta name="viewport" content="width=device-width, initial-scale=1">',
                '<meta name="color-scheme" content="light dark">',
                f"<title>{clean(drawing.title)}</title>",
                f"<style>{style}</style></head>",
                f'<body><main class="germane" {timed(drawing)}>',
                f"<h1>{clean(drawing.title)}</h1>",
                *(f"<p>{clean(definition)}</p>" for definition in drawing.definitions),
                f'<p class="facts">{clean(drawing.facts)}</p>',
                _controls(last),
                f'<div class="panels"><div {_room(drawing.ranking.width)}>',
                picture(drawing.ranking, last, "The ranking."),
                f"</div><div {_room(drawing.curve.width)}>",
                picture(drawing.curve, last, "The precision–recall curve."),
                '<div class="sums">',
                picture(drawing.sums, last, described(drawing)),
                "</div></div></div>",
                "<details><summary>Every step in words</summary><ol start='0'>",
                *(f'<li data-words="">{clean(frame.text)}</li>' for frame in drawing.frames),
                "</ol></details>",
                f"<script>{script}</script>",
                "</main></body></html>",
            ]
        )
        + "\n"
    )


def _room(width: float) -> str:
    """Side by side both panels are enlarged alike, up to a quarter."""
    return f'style="flex: {width:.0f} 1 {width:.0f}px; max-width: min(100%, {1.25 * width:.0f}px)"'


def content_policy(script: str) -> str:
    """Nothing is loaded, and no script runs but the page's own."""
    import base64
    import hashlib

    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def _controls(last: int) -> str:
    return "\n".join(
        [
            '<div class="controls"><div class="row">',
            _button("start", "To the start"),
            _button("back", "One step back"),
            '<button type="button" data-do="play" aria-label="Play">',
            f'<span class="when-paused"><span class="named">{_icon("play")}Play</span></span>',
            f'<span class="when-playing"><span class="named">{_icon("pause")}Pause</span></span>',
            "</button>",
            _button("forward", "One step forward"),
            f'<input type="range" min="0" max="{last}" step="1" value="{last}" aria-label="Step">',
            '<span class="count" data-count=""></span></div>',
            '<p class="said" data-live="" aria-live="polite"></p></div>',
        ]
    )


def _button(action: str, label: str) -> str:
    return (
        f'<button type="button" data-do="{action}" aria-label={quoted(label)}'
        f" title={quoted(label)}>{_icon(action)}</button>"
    )


def _icon(name: str) -> str:
    return f'<svg viewBox="0 0 24 24" aria-hidden="true"><path d="{ICONS[name]}"/></svg>'
