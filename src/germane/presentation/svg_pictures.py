"""Pictures that germane writes as SVG itself, and their conversion to PNG and PDF."""

import io
import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from germane.presentation import writing
from germane.presentation.pictures import FORMATS, Paper, apply_style
from germane.presentation.pictures import check_suffix as check_drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

_DOTS = 144  # per inch: two for each unit of the SVG
_POINTS = 72


class SvgPicture:
    """A picture that can be written as SVG, and with Matplotlib as PNG or PDF."""

    def svg(self, *, paper: Paper | None = None) -> str:
        """Draw as SVG."""
        raise NotImplementedError

    def save(
        self, path: str | os.PathLike[str], *, paper: Paper | None = None, **choices: Any
    ) -> None:
        """Draw and write svg, png or pdf, as the suffix says; ``choices`` are those of ``svg``.

        Without ``paper``, an SVG is dark where the reader's screen is, and other files are light.
        Raises InputError for another suffix, and for png and pdf without Matplotlib.
        """
        suffix = writing.find_suffix(path)
        if suffix != "svg":
            check_drawn(path)
            svg = self.svg(paper=paper or "light", **choices)
            writing.replace(os.fspath(path), convert_svg(svg, suffix))
        else:
            writing.replace(os.fspath(path), self.svg(paper=paper, **choices).encode())


def convert_svg(svg: str, suffix: str) -> bytes:
    """Convert an SVG to png or pdf.

    It understands what germane itself draws: rectangles, texts and paths, with classes.
    """
    assert suffix in FORMATS
    with apply_style():
        from matplotlib.figure import Figure

        root = ElementTree.fromstring(svg)
        width, height = float(root.get("width", 0)), float(root.get("height", 0))
        figure = Figure(figsize=(width / _POINTS, height / _POINTS))
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        axes.axis("off")
        _Drawing(axes, root).draw(root, {})
        out = io.BytesIO()
        stamp = {"CreationDate": None} if suffix == "pdf" else None
        figure.savefig(out, format=suffix, dpi=_DOTS, metadata=stamp)
    return out.getvalue()


_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_VARIABLE = re.compile(r"var\(--([\w-]+)\)")


class _Drawing:
    """The elements of an SVG, drawn into axes one by one."""

    def __init__(self, axes: "Axes", root: ElementTree.Element) -> None:
        self.axes = axes
        self.clip: Patch | None = None
        text = "".join(part.text or "" for part in root.iter() if part.tag.endswith("style"))
        self.rules = list(_read_rules(text))

    def draw(self, element: ElementTree.Element, inherited: Mapping[str, str]) -> None:
        """Draw what an element contains."""
        outer = self.clip
        for part in element:
            kind = part.tag.rpartition("}")[2]
            style = {**inherited, **self._find_style(kind, part)}
            match kind:
                case "svg":
                    self.clip = self._add(self._make_box(part), {"fill": "none"})
                    self.draw(part, style)
                    self.clip = outer
                case "g":
                    self.draw(part, style)
                case "rect":
                    self._add(self._make_box(part), style)
                case "path":
                    self._add(_make_path(part.get("d", "")), style)
                case "text":
                    self._write(part, style)

    def _find_style(self, kind: str, part: ElementTree.Element) -> dict[str, str]:
        """Find the style of an element: its attributes, and the rules for its classes."""
        style = dict(part.attrib)
        classes = set(part.get("class", "").split())
        for name, chosen, content in self.rules:
            if chosen <= classes and name in ("", kind):
                style.update(content)
        return style

    def _make_box(self, part: ElementTree.Element) -> Any:
        from matplotlib.patches import Rectangle

        x, y, width, height = (float(part.get(side, 0)) for side in ("x", "y", "width", "height"))
        return Rectangle((x, y), width, height)

    def _add(self, patch: Any, style: Mapping[str, str]) -> "Patch":
        fill, stroke = style.get("fill", "black"), style.get("stroke", "none")
        patch.set_facecolor(fill)
        if fill != "none":
            patch.set_alpha(float(style.get("fill-opacity", 1)))
        patch.set_edgecolor(stroke)
        patch.set_linewidth(float(style.get("stroke-width", 1)) if stroke != "none" else 0)
        dashes = [
            float(part) for part in style.get("stroke-dasharray", "").split() if part != "none"
        ]
        if dashes and patch.get_linewidth():
            width = patch.get_linewidth()  # dashes of Matplotlib are in widths of the line
            patch.set_linestyle((0, [length / width for length in dashes]))
        self.axes.add_patch(patch)
        if self.clip is not None:
            patch.set_clip_path(self.clip)
        return patch

    def _write(self, part: ElementTree.Element, style: Mapping[str, str]) -> None:
        turned = re.match(r"rotate\((\S+)", style.get("transform", ""))
        side = {"middle": "center", "end": "right"}.get(style.get("text-anchor", ""), "left")
        self.axes.text(
            float(part.get("x", 0)), float(part.get("y", 0)), part.text or "",
            color=style.get("fill", "black"), fontsize=float(style.get("font-size", 12)) * 0.93,
            fontweight="bold" if "font-weight" in style else "normal", horizontalalignment=side,
            verticalalignment="baseline", rotation=-float(turned[1]) if turned else 0,
            rotation_mode="anchor", parse_math=False,
        )  # fmt: skip


def _read_rules(text: str) -> Iterator[tuple[str, set[str], dict[str, str]]]:
    """Read the rules of a style sheet: a kind of element or none, classes, and declarations.

    Colors that are variables are filled in. The rules of more classes come last, and win.
    """
    variables: dict[str, str] = {}
    rules = []
    for selector, content in _RULE.findall(text):
        pairs = (part.partition(":") for part in content.split(";") if ":" in part)
        declared = {name.strip(): value.strip() for name, _, value in pairs}
        variables |= {name[2:]: value for name, value in declared.items() if name[:2] == "--"}
        _, _, last = selector.strip().rpartition(" ")
        name, *classes = last.split(".")
        rules.append((name, set(classes), declared))
    for name, chosen, declared in sorted(rules, key=lambda rule: len(rule[1])):
        yield name, chosen, {
            key: _VARIABLE.sub(lambda match: variables[match[1]], value)
            for key, value in declared.items()
        }  # fmt: skip


_STEP = re.compile(r"([MLhaZ])([^MLhaZ]*)")


def _make_path(text: str) -> Any:
    """Make a path of M, L, h, Z and the two half circles of a dot."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    points: list[tuple[float, float]] = []
    codes: list[Any] = []
    for letter, rest in _STEP.findall(text):
        numbers = [float(number) for number in rest.replace(",", " ").split()]
        if letter == "h":
            points.append((points[-1][0] + numbers[0], points[-1][1]))
        elif letter == "a":  # half a circle to the right or to the left
            across, (x, y) = numbers[5], points[-1]
            bow = abs(across) * (2 / 3) * (1 if across < 0 else -1)
            points += [(x, y - bow), (x + across, y - bow), (x + across, y)]
            codes += [Path.CURVE4] * 3
            continue
        elif letter == "Z":
            points.append(points[-1])
            codes.append(Path.CLOSEPOLY)
            continue
        else:
            points += list(zip(numbers[::2], numbers[1::2], strict=True))
        codes += [Path.MOVETO if letter == "M" else Path.LINETO] * (len(points) - len(codes))
    return PathPatch(Path(points, codes))
