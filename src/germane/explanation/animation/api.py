"""Animate a ranking: read from the top, hits lit, terms collected and divided by the norm."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from germane.errors import InputError, clip, list_choices
from germane.explanation.explanation import Explanation
from germane.output import writing

if TYPE_CHECKING:
    from germane.explanation.animation.drawing import Drawing

__all__ = ["FORMATS", "animate", "check"]

FORMATS = ("gif", "svg", "html")
MOST = 4  # measures that one drawing has room for


def animate(explanation: Explanation, path: str | os.PathLike[str]) -> None:
    """Write an explanation as an animation: a GIF, an SVG or an HTML page, as the suffix says.

    >>> import os, tempfile
    >>> explanation = germane.explain([0, 0, 1, 0, 1, 0, 0, 1, 0, 0], "AP@10", relevant=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     germane.animate(explanation, os.path.join(folder, "ap.svg"))
    ...     os.listdir(folder)
    ['ap.svg']

    The ranking is read from the top; each hit is lit and adds its term to the sum, the
    precision–recall curve grows beside it, and in the end the sum is divided by the norm. Up to
    four measures have a sum each, over the one ranking. SVG and HTML hold all they need, play,
    pause and step, and stand still where the reader prefers reduced motion. An SVG also plays as an
    image on a page, without buttons. GIF needs Matplotlib and Pillow. The file is written whole or
    not at all. Raises InputError for another suffix, more measures, or a file that cannot be written.
    """
    if not isinstance(explanation, Explanation):
        raise InputError(f"animate takes what explain returned; got {clip(explanation)}.")
    place = os.fspath(path)
    check(place, measures=len(explanation.readings))
    from germane.explanation.animation.drawing import draw
    from germane.explanation.animation.frames import cut_frames

    drawing = draw(explanation, cut_frames(explanation))
    writing.replace(place, _write(drawing, _find_format(place)))


def _write(drawing: "Drawing", format: str) -> bytes:
    if format == "gif":
        from germane.explanation.animation.gif import write_gif

        return write_gif(drawing)
    from germane.explanation.animation.svg import write_page, write_svg

    return (write_svg if format == "svg" else write_page)(drawing).encode()


def check(path: str, inputs: Iterable[str] = (), *, measures: int = 1) -> None:
    """Refuse, before the work is done, what ``animate`` could not draw or write."""
    suffix = _find_format(path)
    if measures > MOST:
        raise InputError(
            f"an animation has room for {MOST} measures; got {measures}. Explain fewer of them."
        )
    if suffix == "gif":
        from importlib.util import find_spec

        if find_spec("matplotlib") is None or find_spec("PIL") is None:
            raise InputError(
                f"{path}: a GIF needs Matplotlib and Pillow: pip install 'germane[plot]'. "
                "SVG and HTML need nothing."
            )
    writing.check(path, inputs)


def _find_format(path: str) -> str:
    suffix = os.path.splitext(path)[1][1:].lower()
    if suffix not in FORMATS:
        raise InputError(
            f"{path or repr('')}: an animation is a {list_choices(f'.{name}' for name in FORMATS)} file."
        )
    return suffix
