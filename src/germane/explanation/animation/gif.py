"""The drawing as a GIF: Matplotlib draws the marks of each frame, and Pillow writes the frames."""

import io
import warnings
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

from germane.explanation.animation.drawing import Drawing, arrange_wide
from germane.explanation.animation.marks import STYLES, Box, Disc, Mark, Panel, Path, Text
from germane.output.markup import COLORS

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from PIL.Image import Image

DPI = 100
STEPS = 5  # from one color to another at the edges of letters
SIDES: dict[str, Literal["left", "center", "right"]] = {
    "start": "left",
    "middle": "center",
    "end": "right",
}
FONTS = {"sans": ["DejaVu Sans", "sans-serif"], "mono": ["DejaVu Sans Mono", "monospace"]}


def write_gif(drawing: Drawing) -> bytes:
    """Write the drawing as an animated GIF, each frame with its duration."""
    from PIL import Image

    images = _draw_frames(arrange_wide(drawing).flat, len(drawing.frames))
    palette = _make_palette()  # one for all frames, so that a mark that stays keeps its color
    undithered = Image.Dither.NONE
    first, *rest = (image.quantize(palette=palette, dither=undithered) for image in images)
    out = io.BytesIO()
    first.save(
        out,
        format="GIF",
        save_all=True,
        append_images=rest,
        duration=[round(frame.seconds * 1000) for frame in drawing.frames],
        loop=0,
        comment=drawing.title.encode("ascii", "backslashreplace")[:250],
    )
    return out.getvalue()


def _draw_frames(panel: Panel, frames: int) -> list["Image"]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    figure = Figure(figsize=(panel.width / DPI, panel.height / DPI), dpi=DPI)
    canvas: Any = FigureCanvasAgg(figure)  # Matplotlib gives its methods no types
    axes = figure.add_axes((0, 0, 1, 1), frameon=False, xticks=[], yticks=[])
    axes.set(xlim=(0, panel.width), ylim=(panel.height, 0), autoscale_on=False)
    artists = [_make_artist(mark) for mark in panel.marks]
    for order, artist in enumerate(artists):
        artist.set_zorder(order)
        axes.add_artist(artist)
    images = []
    with warnings.catch_warnings():  # a character that no font has is drawn as a box
        warnings.filterwarnings("ignore", message="Glyph")
        for frame in range(frames):
            for mark, artist in zip(panel.marks, artists, strict=True):
                artist.set_visible(mark.is_seen(frame))
            canvas.draw()
            drawn = Image.frombytes("RGBA", canvas.get_width_height(), bytes(canvas.buffer_rgba()))
            images.append(drawn.convert("RGB"))
    return images


def _make_artist(mark: Mark) -> "Artist":
    """Make Matplotlib's artist of a mark, in pixels of the panel and on light paper."""
    from matplotlib import lines, patches, text

    style = STYLES[mark.style]
    fill, stroke = (COLORS[name][0] if name else "none" for name in (style.fill, style.stroke))
    paint: dict[str, Any] = {
        "facecolor": fill, "edgecolor": stroke, "linewidth": style.thick * 72 / DPI,
    }  # fmt: skip
    match mark:
        case Text():
            return text.Text(
                mark.x, mark.y, mark.text, color=fill, fontsize=mark.size * 72 / DPI,
                fontfamily=FONTS[style.font], fontweight=style.weight, rotation=mark.turn,
                rotation_mode="anchor", verticalalignment="baseline",
                horizontalalignment=SIDES[mark.anchor],
                parse_math=False, usetex=False,
            )  # fmt: skip
        case Path() if style.fill:
            return patches.Polygon(mark.points, closed=True, **paint)
        case Path():
            xs, ys = zip(*mark.points, strict=True)
            dots: Any = (0, [float(d) for d in style.dots.split()]) if style.dots else "solid"
            return lines.Line2D(xs, ys, color=stroke, linewidth=paint["linewidth"], linestyle=dots)
        case Disc():
            return patches.Circle((mark.x, mark.y), mark.radius, **paint)
        case Box() if mark.radius:
            shape = f"round,pad=0,rounding_size={min(mark.radius, mark.width / 2)}"
            return patches.FancyBboxPatch(
                (mark.x, mark.y), mark.width, mark.height, boxstyle=shape, **paint
            )
        case Box():
            return patches.Rectangle((mark.x, mark.y), mark.width, mark.height, **paint)
    raise TypeError(mark)


def _make_palette() -> "Image":
    """Make a palette of light paper's colors, and of the shades between those that can touch."""
    from PIL import Image

    shades = {name: bytes.fromhex(light[1:]) for name, (light, _) in COLORS.items()}
    papers = [shades.pop(name) for name in ("paper", "band", "track")]
    colors = [*papers, *shades.values()]
    shades.pop("grid")  # so near to paper that Pillow would take the shades between for paper
    for paper, shade, part in product(papers, shades.values(), range(1, STEPS)):
        channels = zip(paper, shade, strict=True)
        colors.append(bytes(round(a + (b - a) * part / STEPS) for a, b in channels))
    image = Image.new("P", (1, 1))
    image.putpalette(b"".join(colors))
    return image
