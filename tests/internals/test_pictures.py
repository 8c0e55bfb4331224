"""The style of pictures: palettes, and what Matplotlib keeps of its own."""

from typing import Any

import pytest

from germane.presentation.pictures import PALETTES, apply_style

from test_plot import DISPLAYS, matplotlib


def test_ten_lines_differ_and_those_of_equal_dashes_differ_in_lightness() -> None:
    from matplotlib.colors import to_rgb

    for palette in PALETTES.values():
        assert len(set(palette.lines)) == 10
        paper = lightness(to_rgb(palette.paper))
        by_dashes: dict[Any, list[float]] = {}
        for color, dashes in palette.lines:
            value = lightness(to_rgb(color))
            assert abs(value - paper) > 25, color
            for other in by_dashes.setdefault(str(dashes), []):
                assert abs(value - other) > 18, color
            by_dashes[str(dashes)].append(value)
        neighbors = zip(palette.lines, palette.lines[1:], strict=False)
        assert all(one[1] != other[1] for one, other in neighbors)


def lightness(color: tuple[float, float, float]) -> float:
    """The L* of CIELAB."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
    y = sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return float(116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y)


@pytest.mark.slow
@pytest.mark.parametrize("name", DISPLAYS)
def test_dark_paper_has_dark_ground_and_light_ink(name: str) -> None:
    light, dark = (DISPLAYS[name].picture("svg", paper=paper).decode() for paper in PALETTES)
    assert f"fill: {PALETTES['dark'].paper}" in dark
    assert f"fill: {PALETTES['dark'].ink}" in dark
    assert PALETTES["light"].ink not in dark
    assert "#ffffff" not in dark.lower()
    assert PALETTES["dark"].paper not in light


def test_a_backend_that_turns_on_interactive_figures_stays_so() -> None:
    """As a notebook's does when the first figure is made; later figures were not shown else."""
    assert not matplotlib.is_interactive()
    with apply_style():
        matplotlib.interactive(True)
    assert matplotlib.is_interactive()
    matplotlib.interactive(False)


def test_converted_pictures_have_the_colors_of_their_styles():
    """A rectangle of 20 by 10 units has 40 by 20 pixels; the rule of more classes wins."""
    from io import BytesIO

    from matplotlib import image

    from germane.presentation.svg_pictures import convert_svg

    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><style>.a { --x:#00ff00; }'
        " .a .b.c { fill: var(--x) } .a .b { fill: #ff0000 }</style>"
        '<rect class="b" width="20" height="20"/><rect class="b c" x="20" width="20" height="10"/>'
        "</svg>"
    )
    pixels = image.imread(BytesIO(convert_svg(svg, "png")))
    assert pixels.shape == (40, 80, 4)
    assert pixels[10, 10, :3].tolist() == [1, 0, 0]
    assert pixels[10, 60, :3].tolist() == [0, 1, 0]
    assert pixels[30, 60, :3].tolist() == [1, 1, 1]
