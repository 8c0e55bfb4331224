"""Markup: the pieces that sections of the page share."""

from collections.abc import Iterable, Iterator

from germane.explanation.animation.svg import clean, quoted


def text(given: str) -> str:
    """Text of the user's, whose direction is its own."""
    return f"<bdi>{clean(given)}</bdi>"


def table(
    columns: Iterable[str],
    rows: Iterable[Iterable[str]],
    left: Iterable[int] = (),
    kind: str = "",
) -> Iterator[str]:
    """A table whose first column is text, as are those that are ``left``; the others are numbers."""
    texts = {0, *left}
    heads = "".join(
        f'<th scope="col"{_TEXT * (i in texts)}>{clean(name)}</th>'
        for i, name in enumerate(columns)
    )
    yield f"<table class={quoted(f'plain {kind}'.strip())}><thead><tr>{heads}</tr></thead><tbody>"
    for row in rows:
        cells = (
            f"<td{_TEXT}>{text(cell)}</td>" if i in texts else f"<td>{clean(cell)}</td>"
            for i, cell in enumerate(row)
        )
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"


_TEXT = ' class="t"'  # numbers are many, and say nothing of themselves


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
