"""The verb animate: an explanation as a GIF, an SVG or an HTML page."""

import os

from germane.errors import InputError, clip, list_choices
from germane.explanation.explanation import Explanation
from germane.output import writing

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

    The animation reads the ranking from the top. Each hit adds its term to the sum, the
    precision–recall curve grows beside the ranking, and at the end the sum is divided by the norm.
    Up to four measures have a sum each. SVG and HTML files can play, pause and step, and do not
    move if the reader prefers reduced motion. A GIF needs Matplotlib and Pillow. Raises
    InputError for another suffix, more measures, or a file that cannot be written.
    """
    if not isinstance(explanation, Explanation):
        raise InputError(f"animate takes what explain returned; got {clip(explanation)}.")
    place = os.fspath(path)
    check(place, measures=len(explanation.readings))
    from germane.explanation.animation.drawing import draw
    from germane.explanation.animation.frames import cut_frames

    drawing = draw(explanation, cut_frames(explanation))
    suffix = _find_suffix(place)
    if suffix == "gif":
        from germane.explanation.animation.gif import write_gif

        data = write_gif(drawing)
    else:
        from germane.explanation.animation.svg import write_page, write_svg

        data = (write_svg if suffix == "svg" else write_page)(drawing).encode()
    writing.replace(place, data)


def check(path: str, *, measures: int = 1) -> None:
    """Refuse, before the work is done, a file that ``animate`` could not draw or write."""
    suffix = _find_suffix(path)
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
    writing.check(path)


def _find_suffix(path: str) -> str:
    suffix = os.path.splitext(path)[1][1:].lower()
    if suffix not in FORMATS:
        raise InputError(
            f"{path or repr('')}: an animation is a {list_choices(f'.{name}' for name in FORMATS)}"
            " file."
        )
    return suffix
