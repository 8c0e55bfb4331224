"""The explorer's boxes: its script matches and measures as germane does, and the tab works by hand and by keyboard."""

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest

import germane

from browser import Browser, in_chromium
from explorer_script import in_node, read_data, run_node

DATA = read_data()
WORDS = {
    "overlap": ("iou", "iou+1"),
    "candidate": ("fallback", "best"),
    "reach": ("at_least", "above"),
    "equal_overlaps": ("last", "first"),
}
RULES = [dict(zip(WORDS, words, strict=True)) for words in itertools.product(*WORDS.values())]
POINTS = list(DATA["points"])

MEASURE = """
([scenes, points]) => scenes.map((scene) => points.map((each) => compute(`AP(points=${each})`, listOutcomes(sortFound(scene)[0]))))
"""
TOOLS = """
([scenes, tools]) => scenes.map((scene) => tools.map(({ words, names, more }) => {
  const rules = { ...Object.fromEntries(RULES.map((name, i) => [name, words[i]])), ...more };
  const list = listOutcomes(follow(sortFound(scene)[0], rules));
  return names.map((points) => compute(`AP(points=${points})`, list)); }))
"""
Scene = dict[str, Any]


def make_scenes(count: int, rules: dict[str, str], seed: int = 0) -> list[Scene]:
    """Scenes whose boxes lie on a coarse grid, so that overlaps are equal, or exactly a threshold."""
    draw = random.Random(seed)

    def box(wide: int) -> list[int]:
        return [draw.randrange(0, 30, 5), draw.randrange(0, 20, 10), draw.choice((5, 10, wide)), 20]

    scenes = []
    for _ in range(count):
        truths = [box(20) for _ in range(draw.randint(1, 12))]
        scores = [
            draw.choice((0, 0.001, 0.5, 0.9, round(draw.random(), 4)))
            for _ in range(draw.randint(0, 12))
        ]
        found = [
            {"box": draw.choice((box(20), box(15), draw.choice(truths))), "score": s}
            for s in scores
        ]
        iou = draw.choice((0.5, 0.25, 0.3333, 0.55, 0.6, 0.75, 0.05, 1))
        scenes.append({"truths": truths, "found": found, "iou": iou, "rules": rules})
    return scenes


def write_coco(scenes: list[Scene]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Write scenes as COCO does: each is an image and a class of its own."""
    ids = range(1, len(scenes) + 1)
    truths = [
        {"image_id": i, "category_id": i, "bbox": box}
        for i, scene in zip(ids, scenes, strict=True)
        for box in scene["truths"]
    ]
    truth = {
        "images": [{"id": i, "width": 640, "height": 480} for i in ids],
        "categories": [{"id": i, "name": f"c{i}"} for i in ids],
        "annotations": [
            {"id": n, "area": 1.0 * one["bbox"][2] * one["bbox"][3], **one}
            for n, one in enumerate(truths, 1)
        ],
    }
    found = [
        {"image_id": i, "category_id": i, "bbox": one["box"], "score": one["score"]}
        for i, scene in zip(ids, scenes, strict=True)
        for one in scene["found"]
    ]
    return truth, found


def list_by_threshold(scenes: list[Scene]) -> dict[float, list[Scene]]:
    return {iou: [s for s in scenes if s["iou"] == iou] for iou in {s["iou"] for s in scenes}}


@in_node
@pytest.mark.slow
def test_values_are_germanes() -> None:
    count = 0
    for seed, rules in enumerate(RULES):
        for iou, scenes in list_by_threshold(make_scenes(100, rules, seed)).items():
            names = [f"AP(iou={iou},points={points})" for points in POINTS]
            expected = germane.boxes.evaluate(*write_coco(scenes), names, **rules)
            computed = run_node(MEASURE, [scenes, POINTS])
            for i, row in enumerate(computed, 1):
                for name, value in zip(names, row, strict=True):
                    germanes = expected[name].per_class[f"c{i}"]
                    assert value == pytest.approx(germanes, rel=1e-12, abs=1e-15), (
                        scenes[i - 1],
                        name,
                    )
                    count += 1
    assert count > 7_500


@in_node
@pytest.mark.slow
def test_values_are_those_of_every_tool() -> None:
    tools = [{**tool, "names": list(tool["names"])} for tool in DATA["detection"]]
    count = 0
    for iou, scenes in list_by_threshold(make_scenes(300, RULES[0], 99)).items():
        truth, found = write_coco(scenes)
        computed = run_node(TOOLS, [scenes, tools])
        for t, tool in enumerate(tools):
            for p, points in enumerate(tool["names"]):
                name = f"AP(iou={iou},points={points})"
                expected = germane.boxes.evaluate(truth, found, name, dialect=tool["tool"])[
                    name
                ].per_class
                for i, row in enumerate(computed, 1):
                    assert row[t][p] == pytest.approx(expected[f"c{i}"], rel=1e-12), (
                        tool,
                        scenes[i - 1],
                    )
                    count += 1
    assert count > 4_000


@pytest.mark.slow
@in_node
def test_outcomes_are_germanes() -> None:
    for seed, rules in enumerate(RULES):
        scenes = make_scenes(15, rules, seed)
        computed = run_node("(scenes) => scenes.map((scene) => judge(sortFound(scene)[0]))", scenes)
        for scene, outcomes in zip(scenes, computed, strict=True):
            made = germane.boxes.explain(
                *write_coco([scene]), f"AP(iou={scene['iou']})", image=1, **rules
            )
            assert [one["says"] for one in outcomes] == [str(row) for row in made.rows], scene
            for one, row in zip(outcomes, made.rows, strict=True):
                assert one["truth"] + 1 == (row.truth or 0), scene
                assert one["overlap"] == pytest.approx(row.overlap or 0), scene


@in_node
def test_formula_and_names_are_germanes() -> None:
    scene = {"truths": [[0, 0, 10, 10], [50, 0, 10, 10]], "iou": 0.5, "rules": RULES[0],
             "found": [{"box": box, "score": s} for box, s in (([0, 0, 10, 10], 0.9), ([90, 0, 9, 9], 0.5), ([50, 0, 10, 9], 0.4))]}  # fmt: skip
    written = run_node(
        "(scene) => writeFormula('AP(points=all)', listOutcomes(scene), 'AP50(points=all)')", scene
    )
    assert written == "AP50(points=all) = (1 + 0.6667) / 2 = 0.8333"
    assert germane.boxes.evaluate(*write_coco([scene]), "AP50(points=all)")[
        "AP50(points=all)"
    ].mean == pytest.approx(5 / 6)
    asked = [(iou, points) for iou in (0.5, 0.55, 0.3333, 1, 0.05) for points in POINTS]
    names = run_node("(asked) => asked.map(([iou, points]) => writeBoxName(iou, points))", asked)
    for (iou, points), name in zip(asked, names, strict=True):
        given = f"AP(iou={iou})" if points == "101" else f"AP(iou={iou},points={points})"
        assert [name] == list(germane.boxes.evaluate(*write_coco([scene]), given))


@in_node
def test_tools_are_the_dialects() -> None:
    tools = {one["tool"]: one for one in DATA["detection"]}
    others = {"pycocotools-segm", "pycocotools-keypoints", "lvis", "lvis-segm", "kitti"}
    others |= {"dota", "dota-voc2012", "mmrotate", "mmrotate-coco", "ultralytics-obb"}
    assert set(tools) == set(germane.boxes.dialects()) - others
    assert tools["pycocotools"]["names"] == {"101": "AP50"}
    assert tools["voc2007"]["words"] == ["iou+1", "best", "above", "first"]
    assert tools["padilla"]["names"] == {"all": "mAP", "11": "ElevenPointInterpolation"}
    assert tools["ultralytics"]["names"] == {"lines": "mAP50"}
    assert all(one["names"] for one in tools.values())


def get(chromium: Browser, expression: str) -> Any:
    return chromium.value(f"(document.querySelector(`{expression}`) ?? {{}}).textContent")


@in_chromium
@pytest.mark.slow
def test_tab_by_keyboard_and_mouse(chromium: Browser, tmp_path: Path) -> None:
    germane.explorer().save(tmp_path / "e.html")
    chromium.size(1400)
    chromium.open(tmp_path / "e.html")
    chromium.value("document.getElementById('list-tab').focus()")
    chromium.press("ArrowRight")
    assert chromium.value("document.activeElement.id") == "boxes-tab"
    assert chromium.value("document.getElementById('list').hidden")
    assert "AP50 is 1.0000." in get(chromium, "#says")
    assert get(chromium, "#detections li:nth-child(2) .says") == "true (T2, 0.6513)"

    chromium.value(
        "Object.assign(document.getElementById('candidate'), { value: 'best' }).dispatchEvent(new Event('change'))"
    )
    assert get(chromium, "#detections li:nth-child(2) .says") == "duplicate of 1 (T1, 0.8506)"
    assert get(chromium, "#tools tr.hit").startswith("ultralytics-8.4.160")

    chromium.value("document.querySelector('#tools button[aria-label^=\\'voc2010\\']').click()")
    assert chromium.value("document.getElementById('overlap').value") == "iou+1"
    assert "voc2010" in get(chromium, "#tools tr.hit:nth-child(7)")
    assert "equal_overlaps=first" in chromium.value("location.hash")

    box = "document.querySelector('[data-name=detection-box][data-at=\\'3\\']')"
    chromium.value(f"{box}.focus()")
    chromium.press("ArrowLeft")
    chromium.press("ArrowUp")
    assert chromium.value(f"document.activeElement === {box}")
    assert "15,355,50,60,0.22" in chromium.value("location.hash")
    x, y = chromium.value(f"(({{ x, y }}) => [x + 9, y + 9])({box}.getBoundingClientRect())")
    scale = chromium.value(
        "652 / document.querySelector('#image svg').getBoundingClientRect().width"
    )
    for kind, dx in (
        ("mousePressed", 0),
        ("mouseMoved", 30),
        ("mouseMoved", 60),
        ("mouseReleased", 60),
    ):
        chromium.ask(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x + dx,
            y=y,
            button="left",
            buttons=1,
            clickCount=1,
        )
    moved = int(chromium.value("location.hash").split("d=")[1].split(";")[3].split(",")[0])
    assert moved == pytest.approx(15 + 60 * scale, abs=1)

    score = "document.querySelector('[data-name=detection-score][data-at=\\'3\\']')"
    chromium.value(f"{score}.select()")
    chromium.type("0.99")
    assert chromium.value(f"document.activeElement === {score}")
    assert get(chromium, "#detections li:nth-child(4) .rank") == "1"
    chromium.press("Tab")
    assert chromium.value("document.activeElement.ariaLabel") == "remove detection 4"
    chromium.press("Enter")
    assert chromium.value("document.activeElement.ariaLabel") == "remove detection 3"
    assert chromium.troubles == []


@in_chromium
@pytest.mark.slow
def test_boxes_follow_a_finger(chromium: Browser, tmp_path: Path) -> None:
    germane.explorer().save(tmp_path / "e.html")
    chromium.size(390)
    chromium.ask("Emulation.setTouchEmulationEnabled", enabled=True)
    chromium.open(tmp_path / "e.html")
    chromium.value("document.getElementById('boxes-tab').click()")
    chromium.value("document.getElementById('image').scrollIntoView()")
    box = "document.querySelector('[data-name=detection-box][data-at=\\'3\\']')"
    x, y = chromium.value(f"(({{ x, y }}) => [x + 9, y + 9])({box}.getBoundingClientRect())")
    scale = chromium.value(
        "652 / document.querySelector('#image svg').getBoundingClientRect().width"
    )
    touches: list[tuple[str, list[dict[str, float]]]] = [("touchStart", [{"x": x, "y": y}])]
    touches += [("touchMove", [{"x": x + dx, "y": y}]) for dx in range(10, 101, 10)]
    for kind, points in (*touches, ("touchEnd", [])):
        chromium.ask("Input.dispatchTouchEvent", type=kind, touchPoints=points)
    chromium.ask("Emulation.setTouchEmulationEnabled", enabled=False)
    moved = int(chromium.value("location.hash").split("d=")[1].split(";")[3].split(",")[0])
    assert moved == pytest.approx(20 + 100 * scale, abs=3)
    assert "Moved detection 4." in get(chromium, "#says")


@in_chromium
@pytest.mark.slow
def test_values_are_germanes_in_chromium(chromium: Browser, tmp_path: Path) -> None:
    germane.explorer().save(tmp_path / "e.html")
    chromium.open(tmp_path / "e.html")
    scenes = list_by_threshold(make_scenes(400, RULES[0], 7))[0.5]
    expected = germane.boxes.evaluate(*write_coco(scenes), "AP50 AP50(points=11)")
    computed = chromium.value(f"({MEASURE})({json.dumps([scenes, ['101', '11']])})")
    for i, row in enumerate(computed, 1):
        germanes = [expected[name].per_class[f"c{i}"] for name in ("AP50", "AP50(points=11)")]
        assert row == pytest.approx(germanes, rel=1e-12), scenes[i - 1]


@in_chromium
@pytest.mark.slow
def test_address_holds_the_boxes(chromium: Browser, tmp_path: Path) -> None:
    germane.explorer().save(tmp_path / "e.html")
    chromium.size(390)
    chromium.open(tmp_path / "e.html")
    address = "#t=0,0,10,10;5,0,10,10&d=1,0,10,10,0.5&iou=0.55&overlap=iou+1&candidate=best&reach=above&equal_overlaps=first"
    chromium.value(f"location.hash = '{address}'")
    chromium.eventually("document.getElementById('boxes').hidden", False)
    assert chromium.value("location.hash") == address
    assert chromium.value("document.documentElement.scrollWidth") <= 390
    assert "AP55" in get(chromium, "#says")
    for wrong in ("#t=0,0,10", "#t=0,0,10,10&d=0,0,10,10,2", "#t=0,0,1000,10", "#t=&d=", "#t=0,0,10,10&iou=0",
                  "#t=0,0,10,10&reach=x", "#t=0,0,1.5,10", "#t=,0,10,10"):  # fmt: skip
        chromium.value(f"location.hash = '{wrong}'")
        chromium.eventually("location.hash", address)
        assert "AP55" in get(chromium, "#says")
    assert chromium.troubles == []
