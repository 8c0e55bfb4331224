"""An animation is the explanation's own terms and norm, frame by frame."""

import io
import math
import random
import re
from fractions import Fraction as Q
from itertools import pairwise

import pytest

import germane
from germane.errors import make_visible
from germane.output.tables import measure_width
from germane.presentation.pictures import COLORS
from germane.teaching.animation import read_file, write_gif
from germane.teaching.drawing import arrange_narrow, arrange_wide, draw
from germane.teaching.scenes import LINES, STYLES, Frame, Text, cut_frames, shorten, wrap

from animations import HOSTILE, SVG, Checked, hostile, long, ten, write
from animations import draw as draw_file
from strategies import TABLE

EACH_MEASURE = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)


def test_the_example_of_three_relevant_items() -> None:
    cut = cut_frames(ten())
    assert [frame.sums[0].total for frame in cut] == pytest.approx(
        [float(s) for s in [0, 0, 0, Q(1, 3), Q(1, 3)] + [Q(1, 3) + Q(2, 5)] * 3]
        + [float(Q(1, 3) + Q(2, 5) + Q(3, 8))] * 4
    )
    last = cut[-1].sums[0]
    assert last.terms == ("1/3", "2/5", "3/8")
    assert last.expression == "1/3 + 2/5 + 3/8"
    assert last.reading.norm == 3
    assert last.value == pytest.approx(float((Q(1, 3) + Q(2, 5) + Q(3, 8)) / 3))
    assert last.result == "0.3694"
    assert cut[-1].text == "AP@10 = (1/3 + 2/5 + 3/8) / min(3,10) = 0.3694"
    assert [frame.line.precision for frame in cut if frame.line] == [
        row.precision for row in ten().rows
    ]


def test_only_the_last_frame_has_the_value() -> None:
    cut = cut_frames(ten("AP@10 RR"))
    assert [frame.last for frame in cut] == [False] * (len(cut) - 1) + [True]
    assert [sum_.value for sum_ in cut[-1].sums] == [r.value for r in ten("AP@10 RR").readings]


def test_it_pauses_at_hits_and_at_the_end() -> None:
    cut = cut_frames(ten())
    hits = [frame.seconds for frame in cut if frame.line and frame.line.hits]
    others = [frame.seconds for frame in cut if frame.line and not frame.line.hits]
    assert min(hits) >= 2 * max(others)
    assert cut[-1].seconds > max(hits)


@pytest.mark.slow
@EACH_MEASURE
def test_the_last_frame_is_the_value_of_every_measure(row) -> None:  # type: ignore[no-untyped-def]
    """The sum of the terms seen, divided by the norm, is what the explanation says."""
    rng = random.Random(row.name)
    for size in (1, 12, 29, 80):
        items = [f"d{i}" for i in range(size)]
        run = {"q": {item: rng.randrange(40) for item in items}}
        judged = rng.sample([*items, "x", "y"], min(size, 50))
        qrels = {"q": {item: rng.choice([-1, 0, 1, 1, 2, 3]) for item in judged}}
        explanation = germane.explain(qrels, run, germane.types.Measure(row.name))
        (reading,) = explanation.readings
        cut = cut_frames(explanation)
        (last,) = cut[-1].sums
        assert last.reading is reading
        assert last.total == pytest.approx(math.fsum(reading.terms) + reading.rest, abs=1e-12)
        assert last.value == pytest.approx(reading.value, abs=0, rel=0, nan_ok=True)
        assert last.relation == ("→" if row.name == "YAAP" else "=")
        if row.name != "YAAP":  # a logarithm of the sum
            quotient = last.total / reading.norm if reading.norm else 0.0
            if row.omits and not reading.norm:  # a list that the measure leaves out
                quotient = math.nan
            assert quotient == pytest.approx(reading.value, abs=1e-12, nan_ok=True)
        assert len(cut) <= LINES + 3
        assert contiguous(cut) == explanation.retrieved
        tree = draw_file(explanation)
        assert cut[-1].text in {element.text for element in tree.iter(f"{SVG}text")}
        Checked().feed(write(explanation, "html"))


def contiguous(cut: tuple[Frame, ...]) -> int:
    """The last rank, having checked that every rank up to it is in one line."""
    lines = [frame.line for frame in cut if frame.line is not None]
    assert lines[0].rank == 1
    assert [line.rank for line in lines[1:]] == [line.upto + 1 for line in lines[:-1]]
    return lines[-1].upto


def test_long_lists_are_drawn_in_few_lines() -> None:
    explanation = long()
    cut = cut_frames(explanation)
    lines = [frame.line for frame in cut if frame.line is not None]
    assert len(lines) == LINES
    assert contiguous(cut) == 10_000
    assert sum(line.hits for line in lines) == explanation.relevant == 225
    assert lines[-1].curve[-1] == (1.0, explanation.rows[-1].precision)
    assert len(write(explanation, "svg")) < 100_000


def test_what_is_beyond_every_cutoff_is_not_read() -> None:
    cut = cut_frames(ten("P@5 RR@3"))
    assert contiguous(cut) == 5
    assert "beyond the cutoff, not read: 6–10" in shown(ten("P@5 RR@3"))
    assert contiguous(cut_frames(ten("P@5 RR"))) == 10


def test_what_terms_at_ranks_do_not_hold_has_a_frame() -> None:
    qrels, run = {"q": {"a": 1, "z": 1}}, {"q": ["a", "b"]}
    cut = cut_frames(germane.explain(qrels, run, "Unjudged"))
    assert cut[-2].text == "Besides the terms at ranks, Unjudged adds 2, so its sum is 1.0000."
    assert cut[-1].sums[0].expression == "-1 + 2"


def test_nothing_to_divide_by() -> None:
    cut = cut_frames(germane.explain([0, 0], "AP"))
    assert cut[-1].text.endswith("there is nothing to divide by, and the value is 0 by convention.")
    assert "= 0.0000" in shown(germane.explain([0, 0], "AP"))


def test_long_sums_keep_their_ends() -> None:
    cut = cut_frames(germane.explain([1, 0] * 14, "AP"))
    text = cut[-1].sums[0].expression
    assert text.startswith("1 + 2/3 + 3/5 + ")
    assert text.endswith(" + … + 14/27")
    assert len(text) <= 44


def shown(explanation: germane.types.Explanation) -> list[str]:
    """Every text that the last frame of the drawing shows."""
    cut = cut_frames(explanation)
    marks = arrange_wide(draw(explanation, cut)).flat.marks
    return [m.text for m in marks if isinstance(m, Text) and m.is_seen(len(cut) - 1)]


def test_the_drawing_holds_the_numbers() -> None:
    texts = shown(ten())
    for text in ("AP@10 of one list", "AP@10: Σ P@i·rel(i), i ≤ 10, ÷ min(R,10)",
                 "1/3", "2/5", "3/8", "1/3 + 2/5 + 3/8 = 1.1083", "÷ min(R,10) = min(3,10) = 3",
                 "= 0.3694", "Recall", "Precision", "3 relevant, 10 retrieved, 0 missed"):  # fmt: skip
        assert text in texts, text


def test_ties_say_what_other_orders_would_give() -> None:
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}
    texts = shown(germane.explain(qrels, run, "AP"))
    assert "1–2" in texts
    assert "ties: expected 0.7500, best 1.0000, worst 0.5000" in texts


@pytest.mark.parametrize("make", [ten, hostile, long], ids=lambda make: make.__name__)
def test_a_narrow_sheet_holds_the_same_one_below_the_other(make) -> None:  # type: ignore[no-untyped-def]
    """For a phone: no wider than a panel, nothing beside or over anything else, nothing left out."""
    explanation = make()
    drawing = draw(explanation, cut_frames(explanation))
    one, other = arrange_wide(drawing), arrange_narrow(drawing)
    assert other.width <= max(drawing.ranking.width, drawing.curve.width) + 40 < one.width
    assert [panel for panel, *_ in other.panels.values()] == [
        panel for panel, *_ in one.panels.values()
    ]
    edges = [(y, y + panel.height) for panel, _, y in other.panels.values()]
    above = max(mark.y for mark in other.around if isinstance(mark, Text))
    edges = [(0, above), *edges, (other.height, other.height)]
    assert all(end <= start for (_, end), (start, _) in pairwise(edges))
    texts = [mark for mark in other.around if isinstance(mark, Text)]
    for i, frame in enumerate(drawing.frames):
        said = " ".join(mark.text for mark in texts if (mark.first, mark.last) == (i, i))
        assert said.split()[:3] == make_visible(frame.text).split()[:3]
    if make is ten:
        assert "AP@10: Σ P@i·rel(i), i ≤ 10, ÷ min(R,10)" in [mark.text for mark in texts]


def test_lines_are_wrapped_at_words() -> None:
    assert wrap("one two three", 10, 7 * 0.61 * 10) == ["one two", "three"]
    assert wrap("abcdefghijkl mn", 10, 7 * 0.61 * 10) == ["abcd…kl", "mn"]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_fits_and_has_no_control_characters(text: str) -> None:
    for room in (40.0, 200.0):
        short = shorten(text, 14, room)
        assert measure_width(short) <= room / 14 / 0.6
        assert short.isprintable()


def test_the_script_is_small_and_can_be_embedded() -> None:
    assert len(read_file("player.js")) < 10_000
    assert "]]>" not in read_file("player.js")
    assert "</" not in read_file("player.js")
    for word in ("http", "fetch", "XMLHttpRequest", "eval", "innerHTML"):
        assert word not in read_file("player.js")


def test_without_a_script_the_last_frame_is_seen() -> None:
    tree = draw_file(ten())
    last = len(cut_frames(ten())) - 1
    hidden = 0
    for element in tree.iter():
        if "data-seen" in element.attrib:
            first, *end = map(int, element.attrib["data-seen"].split())
            seen = first <= last and (not end or last <= end[0])
            assert ("off" in element.attrib["class"].split()) is not seen
            hidden += not seen
    assert hidden > 30
    assert re.search(r"\.controls { display: none; }", write(ten(), "svg"))


def test_styles_play_it_where_no_script_runs() -> None:
    """As in an image on a page: at the middle of each frame, rules show the marks of that frame."""
    for explanation in (ten("AP@10 RR"), long()):
        cut = cut_frames(explanation)
        tree, last = draw_file(explanation), len(cut) - 1
        style = next(tree.iter(f"{SVG}style")).text or ""
        assert "@media (prefers-reduced-motion: no-preference)" in style
        total = sum(frame.seconds for frame in cut)
        played = {
            seen: dict(re.findall(r"([\d.]+)% \{ visibility: (\w+); \}", steps))
            for name, steps in re.findall(r"@keyframes (\S+) \{ (.*) \}\n", style)
            for seen in re.findall(
                rf':root\.germane:not\(\.live\) \[data-seen="([\d ]+)"\] '
                rf"\{{ animation: {name} {total:g}s step-end infinite; \}}",
                style,
            )
        }
        assert {e.attrib["data-seen"] for e in tree.iter() if "data-seen" in e.attrib} == set(
            played
        )
        for i in range(len(cut)):
            moment = 100 * (sum(frame.seconds for frame in cut[:i]) + cut[i].seconds / 2) / total
            for seen, steps in played.items():
                first, end = (*map(int, seen.split()), last)[:2]
                at = max((start for start in steps if float(start) <= moment), key=float)
                assert (steps[at] == "visible") is (first <= i <= end), (seen, i)


def test_every_frame_has_its_seconds_and_its_words() -> None:
    tree, cut = draw_file(ten()), cut_frames(ten())
    assert tree.attrib["data-seconds"].split() == [f"{frame.seconds:g}" for frame in cut]
    words = [element.text for element in tree.iter() if "data-words" in element.attrib]
    assert words == [frame.text for frame in cut]


def lightness(color: str) -> float:
    """Relative luminance, as WCAG defines it."""
    parts = [part / 255 for part in bytes.fromhex(color[1:])]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("paper", [0, 1], ids=["light", "dark"])
def test_colors_can_be_told_apart_without_color(paper: int) -> None:
    shade = {name: lightness(both[paper]) for name, both in COLORS.items()}
    for text in ("ink", "muted", "hit"):
        for ground in ("paper", "band", "track"):
            low, high = sorted((shade[text], shade[ground]))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (text, ground)
    hit, miss = STYLES["disc"], STYLES["ring"]
    assert (hit.fill, miss.fill) == ("hit", "paper")


def opened(data: bytes):  # type: ignore[no-untyped-def]
    image = pytest.importorskip("PIL.Image")
    return image.open(io.BytesIO(data))


@pytest.mark.slow
@pytest.mark.parametrize("make", [ten, hostile], ids=lambda make: make.__name__)
def test_gif(make) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("matplotlib")
    explanation = make()
    cut = cut_frames(explanation)
    drawing = draw(explanation, cut)
    data = write_gif(drawing)
    assert len(data) < 300_000
    image = opened(data)
    assert image.format == "GIF"
    panel = arrange_wide(drawing).flat
    assert image.size == (round(panel.width), round(panel.height))
    assert image.n_frames == len(cut)
    assert image.info["loop"] == 0
    seconds = []
    for i in range(image.n_frames):
        image.seek(i)
        seconds.append(image.info["duration"] / 1000)
        assert image.convert("RGB").getpixel((3, 3)) == (255, 255, 255)
    assert seconds == [frame.seconds for frame in cut]


@pytest.mark.slow
def test_gif_lights_the_hit() -> None:
    """Where the third rank's disc is, paper becomes the color of a hit."""
    pytest.importorskip("matplotlib")
    cut = cut_frames(ten())
    drawing = draw(ten(), cut)
    disc = next(m for m in arrange_wide(drawing).flat.marks if m.style == "disc" and m.first == 3)
    image = opened(write_gif(drawing))
    place = (round(disc.x), round(disc.y))  # type: ignore[attr-defined]
    lit = []
    for i in range(len(cut)):
        image.seek(i)
        lit.append(image.convert("RGB").getpixel(place) == (0x0A, 0x58, 0xB8))
    assert lit == [i >= 3 for i in range(len(cut))]


def test_names_of_panels_are_no_names_of_styles() -> None:
    """A rule that moves a panel would move every mark of that style."""
    moved = re.findall(r"\.germane\.small \.([\w-]+) { transform", write(ten(), "svg"))
    assert len(moved) == 3
    assert not set(moved) & STYLES.keys()
