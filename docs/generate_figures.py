"""Draw the figures that no germane command makes: ``python docs/generate_figures.py``.

``notation.svg`` is one list with the words of docs/ap.md. ``norms.svg`` is the last frame of an animation, for the README.
``report.png`` is the report of examples/digits in Chromium; without Chromium and Pillow it stays as it is.
"""

import io
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import germane
from germane.presentation.pictures import define_colors, write_element
from germane.teaching.experiment_figures import DRAWN, ExperimentDisplay

FIGURES = Path(__file__).parent / "figures"
DIGITS = Path(__file__).parents[1] / "examples" / "digits"
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

# --- The notation ----------------------------------------------------------------------------------

GRADES, RELEVANT, K = [0, 0, 1, 0, 1, 0, 0, 1, 0, 0], 4, 5
LEFT, STEP, MIDDLE, WIDE = 62, 32, 92, 480  # narrow enough to be read on a phone
STYLE = f"""
svg {{ {define_colors("light")} }}
@media (prefers-color-scheme: dark) {{ svg {{ {define_colors("dark")} }} }}
.paper {{ fill: var(--paper) }}
text {{ fill: var(--ink) }}
.muted {{ fill: var(--muted) }}
.hit {{ fill: var(--hit); stroke: var(--hit) }}
.miss {{ fill: var(--paper); stroke: var(--axis) }}
.missed {{ fill: var(--paper); stroke: var(--hit); stroke-dasharray: 3 3 }}
.line {{ stroke: var(--muted); fill: none }}
"""


def draw_notation() -> str:
    """Draw ten results and one missed item, with R, k, Rₖ, N and P@i where they belong."""
    found = sum(GRADES[:K])
    words = (
        f"A list of N = {len(GRADES)} results. Relevant items are at ranks 3, 5 and 8, and one is not retrieved, "
        f"so R = {RELEVANT}. The cutoff k = {K} leaves Rₖ = {found} of them."
    )
    size = {"viewBox": f"0 0 {WIDE} 274", "width": WIDE, "height": 274}
    font = {"font-family": "system-ui, 'DejaVu Sans', sans-serif", "font-size": 14}
    return (
        write_element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                **size,
                **font,
                "role": "img",
                "aria-label": words,
            },
            write_element("title", {}, words),
            write_element("style", {}, STYLE),
            write_element("rect", {"class": "paper", "width": WIDE, "height": 274}),
            *_draw_ranks(),
            *_draw_cutoff(found),
            *_draw_collection(),
        )
        + "\n"
    )


def _draw_ranks() -> Iterator[str]:
    yield _write(4, MIDDLE - 34, "rank i", "muted")
    yield _write(4, MIDDLE + 5, "result")
    yield _write(4, MIDDLE + 44, "P@i")
    for rank, row in enumerate(germane.explain(GRADES, "AP", relevant=RELEVANT).rows, 1):
        x = LEFT + STEP * (rank - 0.5)
        yield _write(x, MIDDLE - 34, f"{rank}", "muted", "middle")
        style = "hit" if row.hit else "miss"
        yield write_element("circle", {"class": style, "cx": x, "cy": float(MIDDLE), "r": 9.0})
        precision = f"{sum(GRADES[:rank])}/{rank}"
        yield _write(x, MIDDLE + 44, precision, None if row.hit else "muted", "middle")


def _draw_cutoff(found: int) -> Iterator[str]:
    """Draw the line behind rank k, and braces below the first k ranks and below the whole list."""
    x = float(LEFT + STEP * K)
    yield write_element(
        "path", {"class": "line", "d": f"M{x:g} 20V{MIDDLE + 56}", "stroke-dasharray": "5 4"}
    )
    yield _write(x - 6, 26, f"cutoff k = {K}", anchor="end")
    yield from _draw_brace(LEFT, x, 164, f"Rₖ = {found} found in the first k")
    yield from _draw_brace(LEFT, LEFT + STEP * len(GRADES), 202, f"N = {len(GRADES)} retrieved")


def _draw_brace(start: float, end: float, y: int, words: str) -> Iterator[str]:
    yield write_element(
        "path",
        {"class": "line", "d": f"M{start + 4:g} {y - 7}v7H{end - 4:g}v-7"},
    )
    yield _write((start + end) / 2, y + 17, words, anchor="middle")


def _draw_collection() -> Iterator[str]:
    """Draw the relevant item that is not in the list, and R."""
    x = WIDE - 48.0
    yield _write(x, MIDDLE - 34, "not retrieved", "muted", "middle")
    yield write_element("circle", {"class": "missed", "cx": x, "cy": float(MIDDLE), "r": 9.0})
    yield from _draw_brace(LEFT, x + 44, 240, f"R = {RELEVANT} relevant items exist")


def _write(
    x: float, y: float, words: str, style: str | None = None, anchor: str | None = None
) -> str:
    attributes = {"class": style, "x": float(x), "y": float(y), "text-anchor": anchor}
    return write_element("text", attributes, words)


# --- The norms -------------------------------------------------------------------------------------


def draw_norms() -> str:
    """Draw the last frame of an animation: one sum of precisions under two norms."""
    grades = [1, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    explained = germane.explain(grades, measures="AP@10 AP(norm=found)@10", relevant=20)
    return make_still(animate(explained))


def animate(explained: germane.types.Explanation) -> str:
    """Animate a list as SVG."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "terms.svg")
        germane.animate(explained, path)
        return path.read_text("utf-8")


# --- Variants ------------------------------------------------------------------------------------

PHONE, CALM = "(max-width: 45em)", "(prefers-reduced-motion: reduce)"


def make_still(animation: str) -> str:
    """Make an animation stand still on its last frame: an image learns of no reader's preference."""
    return animation.replace("@media (prefers-reduced-motion: no-preference)", "@media not all")


def make_narrow(animation: str) -> str:
    """Show the panels of an animation one below the other, as its script does in a small window."""
    root, rest = animation.split(">", 1)
    box = re.search(r'data-narrow="([^"]*)"', root)[1]
    _, _, width, height = box.split()
    root = re.sub(r' (?:viewBox|width|height)="[^"]*"', "", root)
    root = root.replace('class="germane"', 'class="germane small"')
    return f'{root} viewBox="{box}" width="{width}" height="{height}">{rest}'


def draw_variants(name: str) -> dict[str, str]:
    """Draw a figure for phones and without motion, by the conditions of a page; the first that holds counts."""
    figure = (FIGURES / name).read_text("utf-8")
    stem = name.removesuffix(".svg")
    if 'class="germane"' in figure:
        narrow = make_narrow(figure)
        return {
            f"{PHONE} and {CALM}": make_still(narrow),
            PHONE: narrow,
            CALM: make_still(figure),
        }
    if stem in DRAWN:
        display = ExperimentDisplay(germane.simulate(stem), stacked=True)
        return {PHONE: display.picture("svg").decode()}
    return {}


# --- The report ------------------------------------------------------------------------------------

WIDTH, HEIGHT = 720, 1070  # of a column; it ends where the page is blank


def picture_report(chromium: str) -> bytes:
    """Photograph the upper part of the report in two columns, as a PNG of few colors."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        page, shot = Path(folder) / "report.html", Path(folder) / "report.png"
        runs = {name: str(DIGITS / f"{name}.run") for name in ("pixels", "lda")}
        germane.report(str(DIGITS / "qrels.txt"), runs, "AP AP@10 nDCG@10").save(str(page))
        command = [
            chromium, "--headless", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={folder}/profile",
            f"--window-size={WIDTH},{3 * HEIGHT}", f"--screenshot={shot}", page.as_uri(),
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True)
        seen = Image.open(shot).convert("RGB")
    first = find_gap(seen, HEIGHT)
    second = find_gap(seen, first + HEIGHT)
    sheet = Image.new("RGB", (2 * WIDTH, max(first, second - first)), seen.getpixel((0, 0)))
    sheet.paste(seen.crop((0, 0, WIDTH, first)), (0, 0))
    sheet.paste(seen.crop((0, first, WIDTH, second)), (WIDTH, 0))
    out = io.BytesIO()
    sheet.quantize(128, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        out, "png", optimize=True
    )
    return out.getvalue()


def find_gap(page: Any, near: int) -> int:
    """Find the blank rows, 30 together or more, whose middle is nearest to a height."""
    rows = np.asarray(page)
    inked = np.flatnonzero((rows != rows[0, 0]).any(axis=(1, 2)))
    gaps = [(a + b) // 2 for a, b in pairwise(inked.tolist()) if b - a > 30]
    return min(gaps, key=lambda middle: abs(middle - near))


if __name__ == "__main__":
    (FIGURES / "notation.svg").write_text(draw_notation(), "utf-8")
    (FIGURES / "norms.svg").write_text(draw_norms(), "utf-8")
    if CHROMIUM is not None:
        (FIGURES / "report.png").write_bytes(picture_report(CHROMIUM))
