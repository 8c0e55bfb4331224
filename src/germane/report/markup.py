"""Markup: the pieces that sections of the page share."""

from collections.abc import Iterable, Iterator

from germane.animate.svg import clean, quoted


def text(given: str) -> str:
    """Text of the user's, whose direction is its own."""
    return f"<bdi>{clean(given)}</bdi>"


def table(
    columns: Iterable[str],
    rows: Iterable[Iterable[str]],
    left: Iterable[int] = (),
    kind: str = "plain",
) -> Iterator[str]:
    """A table whose first column is text, as are those that are ``left``."""
    texts = {0, *left}
    sides = [' class="n"' if i not in texts else "" for i, _ in enumerate(columns)]
    heads = "".join(
        f'<th scope="col"{side}>{clean(name)}</th>'
        for name, side in zip(columns, sides, strict=True)
    )
    yield f"<table class={quoted(kind)}><thead><tr>{heads}</tr></thead><tbody>"
    for row in rows:
        cells = "".join(
            f"<td{side}>{text(cell)}</td>" for cell, side in zip(row, sides, strict=True)
        )
        yield f"<tr>{cells}</tr>"
    yield "</tbody></table>"


def wide(lines: Iterable[str]) -> Iterator[str]:
    """A table that is scrolled by itself where the window is narrower."""
    yield '<div class="wide" tabindex="0">'
    yield from lines
    yield "</div>"


def notes(given: Iterable[str]) -> Iterator[str]:
    """Small print, a line each."""
    yield '<ul class="notes">'
    yield from (f"<li>{text(note)}</li>" for note in given)
    yield "</ul>"
