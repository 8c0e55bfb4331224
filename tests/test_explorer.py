"""The explorer: its script computes what germane computes, and its page is small and shows texts as text."""

import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import germane
from germane.cli import main

from browser import Browser, in_chromium
from explorer_script import in_node, read_data, run_node, script

ORDERS = ("given", "best", "worst")
Grade = int | None

# Compute every value of every state, written as the page writes it and in full.
COMPUTE = """
([states, names]) => states.map((s) => names.map((name) =>
  range(name, { total: s.total, k: s.k, items: s.grades.map((grade, i) => ({ grade, tie: s.ties[i], id: "" })) })
    .map((value) => [writeValue(value), value])))
"""


DATA = read_data()
NAMES = [one["name"] for one in DATA["measures"]]
OF_BOXES = [f"AP(points={points})" for points in DATA["points"]]


def list_states(longest: int, k: int, kinds: tuple[Grade, ...]) -> Iterator[dict[str, Any]]:
    """Every list of these grades, with no tie, every second one tied, or all; with or without missed items."""
    for length in range(1, longest + 1):
        for grades in itertools.product(kinds, repeat=length):
            found = sum(grade is not None and grade > 0 for grade in grades)
            for step, missed in itertools.product((1, 2, 9), (0, 2)):
                ties = [i % step > 0 for i in range(length)]
                yield {"grades": grades, "ties": ties, "total": found + missed, "k": k}


def evaluate(states: list[dict[str, Any]], k: int) -> dict[str, dict[str, dict[str, float]]]:
    """Evaluate the states as queries of one run, under each order of ties."""
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for q, state in enumerate(states):
        grades = dict(enumerate(state["grades"]))
        judged = {f"d{i}": grade for i, grade in grades.items() if grade is not None}
        missed = state["total"] - sum(grade > 0 for grade in judged.values())
        qrels[f"q{q}"] = {**judged, **{f"m{i}": 1 for i in range(missed)}}
        score, scores = 0.0, {}
        for i, tie in enumerate(state["ties"]):
            score -= 0 if tie else 1
            scores[f"d{i}"] = score
        run[f"q{q}"] = scores
    names = [name.replace("@k", f"@{k}" if k else "") for name in NAMES]
    return {
        ties: {
            name: germane.evaluate(qrels, run, name, ties=ties)[name].per_query for name in names
        }
        for ties in ORDERS
    }  # type: ignore[return-value]


def compare(states: list[dict[str, Any]], k: int, computed: Any) -> int:
    """Compare what the page computes with what germane computes, and count the numbers."""
    expected, count = evaluate(states, k), 0
    for q, (state, values) in enumerate(zip(states, computed, strict=True)):
        for name, each in zip(NAMES, values, strict=True):
            for ties, (text, value) in zip(ORDERS, each, strict=True):
                germanes = expected[ties][name.replace("@k", f"@{k}" if k else "")][f"q{q}"]
                where = (state, name, ties)
                assert value == pytest.approx(germanes, rel=1e-12, abs=1e-15), where
                assert text == f"{germanes:z.4f}", where
                count += 1
    return count


def keep_judged(states: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep lists of which something is judged: germane refuses or leaves out others."""
    return [s for s in states if s["total"] or any(g is not None for g in s["grades"])]


@pytest.mark.slow
@in_node
@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
@pytest.mark.parametrize("k", [0, 3, 10])
def test_numbers_are_germanes_in_node(k: int) -> None:
    states = keep_judged(list_states(3, k, (None, 0, 1, 3)))
    assert compare(states, k, run_node(COMPUTE, [states, NAMES])) > 30_000


@in_node
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
@pytest.mark.parametrize("k", [0, 4])
def test_numbers_of_lists_of_six_in_node(k: int) -> None:
    states = keep_judged(list_states(6, k, (0, 1)))
    assert compare(states, k, run_node(COMPUTE, [states, NAMES])) > 50_000


@in_node
def test_comparison_sees_a_wrong_norm() -> None:
    states = keep_judged(list_states(2, 1, (0, 1)))
    wrong = COMPUTE.replace(
        "([states, names]) =>", '([states, names]) => (MEASURES["AP@k"].norm = R) &&'
    )
    with pytest.raises(AssertionError, match="AP@k"):
        compare(states, 1, run_node(wrong, [states, NAMES]))


@in_node
def test_table_has_the_names_of_the_page() -> None:
    assert run_node("() => Object.keys(MEASURES)", None) == NAMES + OF_BOXES


@in_node
def test_formula_has_the_numbers() -> None:
    program = '(s) => [writeFormula("AP@k", makeList(s)), writeFormula("nDCG@k", makeList(s))]'
    items = [{"grade": grade, "tie": False, "id": ""} for grade in (1, 0, 1)]
    ap, ndcg = run_node(program, {"items": items, "total": 20, "k": 10})
    assert ap == germane.explain([1, 0, 1], "AP@10", relevant=20).readings[0].formula
    assert ndcg.startswith("nDCG@10 = (1 + 1/log2(4)) / ")


@in_node
@pytest.mark.parametrize(
    ("text", "grades", "ids", "ties"),
    [
        ("0 0 1 u 1", [0, 0, 1, None, 1], [""] * 5, [False] * 5),
        ("[1, null, 3]", [1, None, 3], [""] * 3, [False] * 3),
        ('{"a": 1, "b": 0}', [1, 0], ["a", "b"], [False] * 2),
        (
            '{"7": 1, "a, \\": \\"b": 0, "2": null}',
            [1, 0, None],
            ["7", 'a, ": "b', "2"],
            [False] * 3,
        ),
        ('["2", {"id": "x: y", "grade": 3}]', [2, 3], ["", "x: y"], [False] * 2),
        ("1 0t,ut", [1, 0, None], [""] * 3, [False, True, True]),
        ("q Q0 a 1 2.5 t\nq Q0 b 2 2.5 t\nq Q0 c 3 9 t", [None] * 3, ["c", "a", "b"], [0, 0, 1]),
        (
            "0 1 0t 1 u 2",
            [0, 1, 0, 1, None, 2],
            [""] * 6,
            [0, 0, 1, 0, 0, 0],
        ),  # as many words as a run's line
        ('\ufeff[{"id": null, "grade": 1, "tie": true}]', [1], [""], [1]),
    ],
)
def test_reads_pasted_lists(text: str, grades: list[Grade], ids: list[str], ties: Any) -> None:
    got = run_node("readList", text)
    assert [item["grade"] for item in got] == grades
    assert [item["id"] for item in got] == ids
    assert [item["tie"] for item in got] == [bool(tie) for tie in ties]


@in_node
@pytest.mark.parametrize("text", [
        "0 9", "1 x", "-1", "[0.5]", "", "0 " * 31, "{", "q Q0 a 1 x t", "[[1]]", '[{"id": "a"}]', '[""]', '{"a": {"grade": 1}}',
        '{"a": 1, "a": 0}', "q Q0 a 1 2 t\nq Q0 a 2 1 t", "q Q0 a 1 2 t\nr Q0 b 1 2 t", '[" "]', '[{"grade": 1, "tie": "no"}]',
        "0 1 0 1 0 9",
    ],
)  # fmt: skip
def test_refuses_other_lists(text: str) -> None:
    program = (
        "(t) => { try { setList(readList(t)); return null; } catch (e) { return e.message; } }"
    )
    said = run_node(program, text)
    assert said
    assert not said.endswith(".")  # the page ends the sentence


@in_node
def test_address_holds_the_state() -> None:
    program = """(text) => { setList(readList(text), 7, 3); setGain(1); state.items[1].tie = true;
      const before = JSON.stringify(state), address = writeAddress();
      setList([makeItem(1)]); setGain(0); readAddress(splitAddress(address)); return [before, JSON.stringify(state), address]; }"""
    hostile = json.dumps({"<b>&=,.#": 1, "é t": 0, "z": None})
    before, after, address = run_node(program, hostile)
    assert before == after
    assert address.startswith("#l=1.0t.u&R=7&k=3&gain=exp&ids=")


@in_node
@pytest.mark.parametrize(
    ("ties", "start", "end", "expected"),
    [
        ("..t.", 1, 3, "...."),  # the first of two tied items leaves: the other is tied with none
        (".tt.", 2, 0, ".tt."),  # within its group
        (".tt.", 3, 1, ".ttt"),  # amid a group: it joins
        (".tt.", 0, 3, ".t.."),  # the first of three leaves: the two others stay tied
        (".t.t", 3, 0, "..t."),
    ],
)
def test_ties_stay_where_they_are(ties: str, start: int, end: int, expected: str) -> None:
    program = """([ties, from, to]) => { setList([...ties].map((t) => makeItem(0, "", t === "t")));
      move(from, to); return state.items.map((item) => (item.tie ? "t" : ".")).join(""); }"""
    assert run_node(program, [ties, start, end]) == expected


@pytest.fixture(scope="module")
def tsc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    npm, folder = shutil.which("npm"), tmp_path_factory.mktemp("typescript")
    if npm is None:
        pytest.skip("there is no npm here")
    install = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), "typescript@5.9"]
    if subprocess.run(install, capture_output=True, check=False).returncode:
        pytest.skip("npm cannot install typescript here")
    return folder / "node_modules/.bin/tsc"


@pytest.mark.slow
def test_types_of_the_script(tsc: Path, tmp_path: Path) -> None:
    for source in (Path(germane.__file__).parent / "teaching").glob("*.js"):
        if source.name != "player.js":  # of animations
            shutil.copy(source, tmp_path)

    def check() -> str:
        strict = (
            "--allowJs",
            "--checkJs",
            "--noEmit",
            "--strict",
            "--target",
            "es2023",
            "--lib",
            "es2023,dom",
        )
        files = sorted(map(str, tmp_path.glob("*.js")))
        return subprocess.run(
            [tsc, *strict, *files], capture_output=True, text=True, check=False
        ).stdout

    assert check() == ""
    (tmp_path / "wrong.js").write_text('compute("P@k", 3);\n')
    assert "wrong.js(1,16): error" in check()


# --- The page ------------------------------------------------------------------------------------


def test_page_is_small_and_loads_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = germane.explorer()
    assert len(page.html.encode()) <= 70_000
    assert not re.search(r'(?:src|href)="(?!#)', page.html)
    assert "innerHTML" not in script()
    assert "default-src 'none'" in page.html
    assert main(["explorer", "-o", str(tmp_path / "e.html")]) == 0
    assert (tmp_path / "e.html").read_text("utf-8") == page.html
    assert main(["explorer", "-o", str(tmp_path / "none" / "e.html")]) == 2
    assert capsys.readouterr().err.startswith("germane: ")


def test_tools_are_those_of_the_dialects() -> None:
    tools = {
        one["name"]: {
            DATA["tools"][i]: name for name, places in one["tools"].items() for i in places
        }
        for one in DATA["measures"]
    }
    assert tools["AP(norm=R)@k"]["trec_eval-9"] == "map_cut_k"
    assert tools["AP@k"]["ml_metrics"] == "mapk@k"
    assert "torchmetrics" in tools["AP(norm=found)@k"]
    assert "0 0 1 0 1 0 0 1 0 0" in [each["list"] for each in DATA["presets"]]


@in_chromium
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
def test_numbers_are_germanes_in_chromium(chromium: Browser, tmp_path: Path) -> None:
    germane.explorer().save(tmp_path / "e.html")
    chromium.open(tmp_path / "e.html")
    for states in (
        list_states(3, 3, (None, 0, 1, 3)),
        list_states(6, 3, (0, 1)),
    ):
        kept = keep_judged(states)
        computed = chromium.value(f"({COMPUTE})({json.dumps([kept, NAMES])})")
        assert compare(kept, 3, computed) > 30_000
    assert chromium.troubles == []
    assert chromium.requests == [(tmp_path / "e.html").as_uri()]


@in_node
def test_norms_of_the_first_list_differ() -> None:
    first = DATA["presets"][0]
    state = {**first, "items": [{"grade": int(g), "tie": False} for g in first["list"].split()]}
    names = [f"AP(norm={norm})@k" for norm in ("R", "possible", "found", "k")]
    values = run_node("([s, names]) => names.map((n) => compute(n, makeList(s)))", [state, names])
    assert len(set(values)) == 4
    program = "() => [Object.keys(NORMS), Object.keys(MEASURES).slice(0, 5)]"
    shown, measures = run_node(program, None)
    assert sorted(shown) == sorted(measures)


def click(name: str, place: int) -> str:
    return f"document.querySelector('[data-name={name}][data-at=\"{place}\"]').click()"


SAYS = "document.getElementById('says').textContent"


@in_chromium
@pytest.mark.slow
def test_dots_and_pin_and_undo(chromium: Browser, tmp_path: Path) -> None:
    germane.explorer().save(tmp_path / "e.html")
    chromium.size(1280)
    chromium.open(tmp_path / "e.html")
    chromium.value("location.hash = '#l=1.0.2.u&R=2&k=4'")
    chromium.eventually("document.querySelectorAll('#items li').length", 4)
    start = chromium.value("location.hash")

    chromium.value(click("dot", 1))
    assert "R rose from 2 to 3, because" in chromium.value(SAYS)
    assert "R is 3 and not 2" in chromium.value("document.getElementById('missed').textContent")
    for key, grades, pressed in (("Enter", "1.0.2.u", "false"), (" ", "1.1.2.u", "true")):
        chromium.value("document.querySelector('[data-name=dot][data-at=\"1\"]').focus()")
        chromium.press(key)
        assert chromium.value("location.hash").startswith(f"#l={grades}&")
        assert chromium.value("document.activeElement.ariaPressed") == pressed
    chromium.value(click("dot", 3))
    assert chromium.value("document.activeElement.ariaLabel") == "rank 2: relevant"
    assert chromium.value("location.hash") == "#l=1.1.2.1&R=4&k=4"

    chromium.press("z", ctrl=True)
    assert chromium.value("location.hash") == "#l=1.1.2.u&R=3&k=4"
    for _ in range(3):
        chromium.value("document.getElementById('undo').click()")
    assert chromium.value("location.hash") == start
    chromium.value("document.getElementById('pin').click()")
    assert chromium.value("location.hash") == f"{start}&pin"
    chromium.value(click("dot", 1))
    assert "R is pinned at 2, and the list would have 3" in chromium.value(SAYS)
    assert chromium.value("location.hash") == f"{start}&pin"

    chromium.value("document.getElementById('boxes-tab').click()")
    boxes = chromium.value("location.hash")
    chromium.value("document.getElementById('add-truth').click()")
    chromium.value("document.getElementById('list-tab').click()")
    chromium.value("document.getElementById('undo').click()")
    assert chromium.value("location.hash") == boxes
    for _ in range(5):
        chromium.value("document.getElementById('undo').click()")
    assert chromium.value(SAYS).startswith("There is nothing to undo.")
    assert chromium.troubles == []


@in_chromium
@pytest.mark.slow
def test_first_view(chromium: Browser, tmp_path: Path) -> None:
    """Tracks are as long as their divisors, three cards are open, and a phone needs three screens."""
    germane.explorer().save(tmp_path / "e.html")
    chromium.size(390, 844)
    chromium.open(tmp_path / "e.html")
    tracks = chromium.value("""[...document.querySelectorAll('#norms .track')].map((track) =>
        ['.base', '.block:last-child'].map((part) => track.querySelector(part).getBoundingClientRect())
            .map((box) => box.right - track.getBoundingClientRect().left))""")
    values = [
        germane.score([1, 0, 1, 0, 0, 1, 0, 0], f"AP(norm={norm})@10", relevant=20)
        for norm in ("R", "min", "possible", "found", "k")
    ]
    for (track, filled), value in zip(tracks, values, strict=True):
        assert filled / track == pytest.approx(value, abs=0.02)
    shown = (
        "[...document.querySelectorAll('#list .card')].filter((e) => e.checkVisibility()).length"
    )
    assert chromium.value(shown) == 3
    for tab in ("list", "boxes"):
        chromium.value(f"document.getElementById('{tab}-tab').click()")
        assert chromium.value("document.documentElement.scrollHeight") <= 3 * 844, tab


@in_chromium
@pytest.mark.slow
def test_gain_and_focus(chromium: Browser, tmp_path: Path) -> None:
    """The gain changes cards, and a control that is made anew keeps the focus."""
    germane.explorer().save(tmp_path / "e.html")
    chromium.size(1400)
    chromium.open(tmp_path / "e.html")
    chromium.value("location.hash = '#l=0.0.1.0.1.0.0.1.0.0&R=3&k=10'")
    chromium.value("document.getElementById('edit').click()")
    names = "[...document.querySelectorAll('#list .card')].map((card) => card.dataset.measure)"
    assert "nDCG@k" in chromium.value(names)
    assert "nDCG(gain=exp)@k" not in chromium.value(names)
    chromium.value("document.querySelector('#items [data-name=grade]').focus()")
    for _ in range(3):
        chromium.press("ArrowDown")
    assert chromium.value("location.hash").startswith("#l=3.0.1.0.1")
    assert chromium.value("document.activeElement.ariaLabel") == "grade at rank 1"
    chromium.value(
        "Object.assign(document.getElementById('gain'), { value: 1 }).dispatchEvent(new Event('change'))"
    )
    assert "nDCG@k" not in chromium.value(names)
    card = "document.querySelector('[data-measure=\\'nDCG(gain=exp)@k\\']')"
    expected = germane.score([3, 0, 1, 0, 1, 0, 0, 1, 0, 0], "nDCG(gain=exp)@10", relevant=4)
    assert chromium.value(f"{card}.querySelector('h3').lastChild.textContent") == f"{expected:.4f}"
    assert "The other gain: nDCG@10 is" in chromium.value(f"{card}.textContent")
    assert chromium.value("location.hash").endswith("&R=4&k=10&gain=exp")
    chromium.value(f"{card}.focus()")
    assert chromium.value("document.querySelector('#items .term').textContent") == "7.0000"
    assert chromium.troubles == []


@in_chromium
@pytest.mark.slow
def test_keyboard_address_and_hostile_ids(chromium: Browser, tmp_path: Path) -> None:
    germane.explorer().save(tmp_path / "e.html")
    chromium.size(390)
    chromium.open(tmp_path / "e.html")
    assert chromium.value("document.documentElement.scrollWidth") <= 390
    chromium.value("location.hash = '#l=0.0.1.0.1.0.0.1.0.0&R=3&k=10'")
    chromium.value("document.getElementById('edit').click()")
    chromium.value("document.querySelectorAll('#items [data-name=up]')[2].focus()")
    chromium.press("Enter")
    assert chromium.value("location.hash") == "#l=0.1.0.0.1.0.0.1.0.0&R=3&k=10"
    assert "Moved from rank 3 to 2." in chromium.value(
        "document.getElementById('says').textContent"
    )
    assert chromium.value("document.activeElement.ariaLabel") == "move rank 2 up"
    hostile = json.dumps({"<img src=x onerror=alert(1)>": 1, "</script><b>": 0})
    chromium.value(f"document.getElementById('text').value = {json.dumps(hostile)}")
    chromium.value("document.getElementById('paste').click()")
    ids = "[...document.querySelectorAll('#items .id')].map((e) => e.textContent)"
    assert chromium.value(ids) == ["<img src=x onerror=alert(1)>", "</script><b>"]
    assert chromium.value("document.querySelectorAll('#items img, #items b').length") == 0
    says = "document.getElementById('says').textContent.includes"
    for wrong, why in (
        ("#l", "1 to 30 items; got 0"), ("#l=9", "from 0 to 4"), ("#l=1&k=x", "k is a whole number"),
        ("#l=1&R=-1", "R is a whole number"), ("#l=1&ids=%E0", "URI"), ("#l=1.1&ids=a,a", "a is in the list twice"),
    ):  # fmt: skip
        chromium.value(f"location.hash = '{wrong}'")
        chromium.eventually(f"{says}({json.dumps(why)})", True)
        assert chromium.value(ids) == ["<img src=x onerror=alert(1)>", "</script><b>"]
    chromium.value("location.hash = '#l=9'")
    chromium.eventually(
        f"{says}('got 9. ')", True
    )  # and then what the list is, as a sentence of its own
    chromium.value("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
    small = """[...document.querySelectorAll('button, input, select, summary')].filter((e) => {
        const { width, height } = e.getBoundingClientRect();
        return width && Math.min(width, height) < 24;
    }).map((e) => e.outerHTML)"""
    assert chromium.value(small) == []
    chromium.value("location.hash = '#l=1t.0t.u&R=5&k=2'")
    chromium.eventually("document.getElementById('total').value", "5")
    chromium.value("location.hash = '#l=1.1.0&R=1&k=2'")
    chromium.eventually("location.hash", "#l=1.1.0&R=2&k=2")
    assert chromium.value(f"{says}('R counts the 2 relevant items of the list.')")
    chromium.value("document.querySelectorAll('#items [data-name=tie]')[1].focus()")
    chromium.press("ArrowUp", alt=True)
    assert chromium.value("document.activeElement.ariaLabel") == "grade at rank 1"
    assert chromium.troubles == []


@in_chromium
@pytest.mark.slow
@pytest.mark.parametrize("tab", ["list", "boxes"])
def test_focus_is_never_under_the_live_region(chromium: Browser, tmp_path: Path, tab: str) -> None:
    germane.explorer().save(tmp_path / "e.html")
    chromium.size(390, 700)
    chromium.open(tmp_path / "e.html")
    chromium.value(f"document.getElementById('{tab}-tab').click()")
    chromium.value("document.getElementById('edit').click()")
    chromium.value("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
    hidden = """(() => {
        const box = document.activeElement.getBoundingClientRect();
        return box.top >= document.getElementById("says").getBoundingClientRect().top;
    })()"""
    looked_at = 0
    chromium.value(f"document.getElementById('{tab}-tab').focus()")
    while chromium.value("document.activeElement !== document.body"):
        assert not chromium.value(hidden), chromium.value("document.activeElement.outerHTML")
        chromium.press("Tab")
        looked_at += 1
    assert looked_at > 60
    live = "[...document.querySelectorAll('[aria-live], [role=status], output')].map((e) => e.id)"
    assert chromium.value(live) == ["says"]
