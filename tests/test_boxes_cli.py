"""germane boxes: each verb on files, its formats, exit statuses and errors of one line."""

import json
from pathlib import Path

import pytest

import germane
from boxes_sets import make_boxes
from germane import cli

from strategies import BOX_VERBS, BOX_WORDS


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    truth, found = make_boxes(5, "floats, crowds")
    _, other = make_boxes(5, "floats, crowds, tied scores")
    for name, content in (("truth", truth), ("one", found), ("two", other)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str], files: Path):
    def run(command: str, status: int = 0) -> str:
        assert cli.main(["boxes", *command.split()]) == status
        out, err = capsys.readouterr()
        assert (err == "") == (status != 2)
        return out or err

    return run


def test_several_detectors_are_rows(say, files):
    lines = say("truth.json one.json two.json -m AP").splitlines()
    for line, name in zip(lines[2:4], ("one", "two"), strict=True):
        value = germane.boxes.evaluate("truth.json", f"{name}.json", "AP")["AP"].mean
        assert line.split() == [name, f"{value:.4f}"]
    assert say("evaluate truth.json one.json two.json -m AP").splitlines() == lines


def test_formats(say, files):
    plain = json.loads(say("truth.json one.json --format json"))
    assert plain["detections"][0]["measures"][1]["measure"] == "AP50"
    assert say("truth.json one.json -m AP50 --format csv").startswith("detections,AP50")
    assert "\\toprule" in say("truth.json one.json -m AP50 --format latex")
    by = json.loads(say("truth.json one.json two.json --by class --format json"))
    assert [one["name"] for one in by["groups"]] == ["one", "two"]
    assert say("truth.json one.json -m AP50 -o out.txt") == ""
    assert (files / "out.txt").read_text().startswith("detections")


@pytest.mark.parametrize("part", ["class", "area", "image"])
def test_by(say, part):
    assert say(f"truth.json one.json --by {part}").split()[0] == part


def test_conventions_are_options(say, files):
    given = "--crowds drop --candidate best --depth 3 --iou .5,.75 --confidence .1"
    line = say(f"truth.json one.json -m AP {given}")
    wanted = germane.boxes.evaluate(
        "truth.json", "one.json", "AP", crowds="drop", candidate="best", depth=3, iou=(0.5, 0.75),
        confidence=0.1,
    )  # fmt: skip
    assert f"{wanted['AP'].mean:.4f}" in line
    assert "depth=none" in say("truth.json one.json --depth none -m AP")
    assert "tiny" in say("truth.json one.json -m AP50 --by area --areas all=0-1e10,tiny=0-99")
    assert "mAP50-95" in say("truth.json one.json --dialect ultralytics")


def test_every_convention_has_an_option(capsys):
    for verb in BOX_VERBS:
        if verb in ("check", "confusion"):  # the first matches nothing, the second is no mean
            continue
        with pytest.raises(SystemExit):
            cli.main(["boxes", verb, "--help" if verb == "check" else "--help-all"])
        said = capsys.readouterr().out
        assert all(f"--{name.replace('_', '-')} " in said for name in BOX_WORDS), verb


def test_explain(say, files):
    said = say("explain truth.json one.json --class class\u00a02".replace("class\u00a02", "2"))
    assert "missed" in said
    say("explain truth.json one.json --image 3 -o image.svg")
    assert (files / "image.svg").read_text().startswith("<svg")
    say("explain truth.json one.json --image 3 -o image.pdf")
    assert (files / "image.pdf").read_bytes().startswith(b"%PDF")
    say("confusion truth.json one.json --shares -o matrix.png")
    assert (files / "matrix.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads(say("explain truth.json one.json --image 3 --format json"))["image"] == "3"


def test_check(say, files):
    say("check truth.json one.json")
    _, found = make_boxes(5, "floats, crowds")
    found[0]["bbox"][2] = -5.0
    (files / "odd.json").write_text(json.dumps(found))
    assert "negative" in say("check truth.json odd.json")
    say("check truth.json odd.json --strict --format json", status=1)
    for one in found:
        left, top, width, height = one["bbox"]
        one["bbox"] = [left, top, left + abs(width), top + height]
    (files / "odd.json").write_text(json.dumps(found))
    assert "--box-format detections=xyxy reads" in say("check truth.json odd.json")


def test_other_verbs(say, files):
    assert "voc2007" in say("dialects")
    assert "candidate=best" in say("dialects voc2007")
    assert "spread" in say("dialects truth.json one.json -m AP50")
    value = germane.boxes.evaluate("truth.json", "one.json", "AP", crowds="drop")["AP"].mean
    assert "crowds=drop" in say(f"reconcile truth.json one.json --reported {value:.5f}")
    assert "randomization" in say("compare truth.json one.json two.json")
    assert "passed" in say("gate truth.json one.json --baseline one.json -m AP50")
    assert json.loads(say("gate truth.json one.json --baseline one.json --format json"))["passed"]
    assert say("report truth.json one.json two.json -o page.html") == ""
    assert "<title>" in (files / "page.html").read_text()


def test_the_gate_fails_with_status_1(say, files):
    _, found = make_boxes(5, "floats, crowds")
    (files / "less.json").write_text(json.dumps(found[:5]))
    say("gate truth.json less.json --baseline one.json -m AP50", status=1)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("truth.json none.json", "none.json"),
        ("one.json truth.json", "Give the truth first"),
        ("truth.json one.json -m APP", "is not a measure of detections"),
        ("truth.json one.json -o one.json", "and would be overwritten"),
        ("truth.json one.json --dialect pycocotool", "Did you mean"),
        ("truth.json one.json one.json", "is given twice"),
        ("explain truth.json one.json --worst 3 --errors", "--worst lists images"),
        ("explain truth.json one.json -o a.png", "a picture shows the boxes of one image"),
        (
            "explain truth.json one.json --image 3 -o a.gif",
            "pictures as svg, png or pdf, and not gif",
        ),
        ("explain truth.json one.json --class cat", "there is no class 'cat'"),
        ("compare truth.json one.json", "compare needs at least two detectors"),
        ("dialects one", "Did you mean"),
        ("reconcile truth.json one.json --reported much", "reported"),
    ],
)
def test_errors_are_one_line(say, command, says):
    said = say(command, status=2)
    assert says in said or command == "dialects one"
    assert said.startswith("germane: ")
    assert said.count("\n") == 1


def test_warnings_name_the_options_of_the_command_line(capsys, files):
    """Following the advice of the warning mends the number."""
    truth = json.loads((files / "truth.json").read_text())
    rows = [
        {key: one[key] for key in ("image_id", "category_id", "bbox")}
        for one in truth["annotations"]
        if not one["iscrowd"]
    ]
    found = [{**one, "bbox": turn(one["bbox"]), "score": 1 - n / 999} for n, one in enumerate(rows)]
    (files / "corners.json").write_text(json.dumps(found))
    assert cli.main(["boxes", "truth.json", "corners.json", "-m", "AP50"]) == 0
    said = capsys.readouterr()
    advice = "--box-format detections=xyxy reads them that way."
    assert advice in said.err
    assert "1.0000" not in said.out
    given = f"boxes truth.json corners.json -m AP50 {' '.join(advice.split()[:2])}"
    assert cli.main(given.split()) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "1.0000" in said.out


def turn(box: list[float]) -> list[float]:
    """Write left, top, width and height as corners."""
    x, y, wide, high = box
    return [x, y, x + wide, y + high]


@pytest.mark.parametrize("given", ["--crowds drp", "--areas tiny", "--by size", "--depth many"])
def test_wrong_usage(capsys, files, given):
    with pytest.raises(SystemExit) as stop:
        cli.main(["boxes", "truth.json", "one.json", *given.split()])
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_file_named_like_a_verb(say):
    """Each is taken for a file, which there is not."""
    assert "'./gate'" in say("./gate one.json", status=2)
    assert "'gate'" in say("evaluate gate one.json", status=2)
