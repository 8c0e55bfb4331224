"""Lists of grades that are typed or pasted: every form of one list gives the same numbers, in every verb."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import germane

from test_cli import run

GRADES = [0, 0, 1, 0, 1, 0, 0, 1, 0, 0]
FORMS = {
    "blanks": "{}".format(" ".join(map(str, GRADES))),
    "commas": ",".join(map(str, GRADES)),
    "commas and blanks": ", ".join(map(str, GRADES)),
    "semicolons": "; ".join(map(str, GRADES)),
    "tabs and lines": "\t".join(map(str, GRADES[:5])) + "\n" + "\t".join(map(str, GRADES[5:])),
    "Python": str(GRADES),
    "Python's floats": str([float(grade) for grade in GRADES]),
    "a tuple": str(tuple(GRADES)),
    "NumPy": f"[{' '.join(map(str, GRADES))}]",
    "JSON": json.dumps(GRADES, separators=(",", ":")),
    "circles": " ".join("●" if grade else "○" for grade in GRADES),
    "circles in one": "".join("●" if grade else "○" for grade in GRADES),
}
VERBS = {
    "score": ("score", "{}", "-m", "AP AP(norm=R)@5 nDCG@10"),
    "explain": ("explain", "{}", "-m", "AP@5"),
    "curve": ("curve", "{}"),
    "reconcile": ("reconcile", "{}", "--reported", "0.37", "--measure", "AP"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_form_of_a_list_is_the_same_list(verb: str, tmp_path: Path) -> None:
    outputs = {}
    for form, listed in FORMS.items():
        done = run(tmp_path, *(word.format(listed) for word in VERBS[verb]), "--format", "json")
        assert (done.returncode, done.stderr) == (0, b""), form
        outputs[form] = done.stdout
    assert len({*outputs.values()}) == 1
    if verb == "score":
        values = {one["measure"]: one["value"] for one in json.loads(outputs["blanks"])["measures"]}
        assert values == {name: germane.score(GRADES, name) for name in values}


def test_grades_of_several_levels() -> None:
    for listed in ("3 2 0", "[3, 2, 0]", "3,2,0", "(3.0; 2; 0)"):
        done = run(Path(), "score", listed, "-m", "nDCG DCG", "--format", "csv")
        assert done.stdout.decode().splitlines()[2].split(",")[1] == repr(
            germane.score([3, 2, 0], "DCG")
        )
    done = run(Path(), "score", "10 0 3", "-m", "DCG", "--format", "csv")
    assert done.stdout.decode().splitlines()[1].split(",")[1] == repr(10 + 3 / 2)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("listed", "split"),
    [("0010100100", "0 0 1 0 1 0 0 1 0 0"), ("10", "1 0"), ("32100", "3 2 1 0 0"), ("001 0 1", "0 0 1 0 1"),
     ("[0010]", "0 0 1 0"), ("0010 0100", "0 0 1 0 0 1 0 0")],
)  # fmt: skip
def test_digits_in_one_piece_are_refused_with_the_split_list(
    verb: str, listed: str, split: str
) -> None:
    done = run(Path(), *(word.format(listed) for word in VERBS[verb]))
    assert done.returncode == 2
    assert f"blanks or commas separate the grades: '{split}'." in done.stderr.decode()
    assert run(Path(), *(word.format(split) for word in VERBS[verb])).returncode == 0
    single = re.search(r"write (\S+)\.0\.", done.stderr.decode())
    assert (single is None) == (re.search(r"\d+", listed)[0][0] == "0")  # type: ignore[index]
    if single is not None:
        done = run(Path(), "score", f"{single[1]}.0", "-m", "DCG", "--format", "csv")
        assert float(done.stdout.split(b"\n")[1].split(b",")[1]) == float(single[1])


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "listed", ["0,,1", "0,5 1", "0,5; 1,0", "3, 2; 1", ", 0 1", "0;;1", "[0, 0 1]"]
)
def test_an_empty_place_or_a_decimal_comma_is_no_grade(verb: str, listed: str) -> None:
    """It could be a grade that is missing, or 0.5: the ranks behind it would be others."""
    done = run(Path(), *(word.format(listed) for word in VERBS[verb]))
    assert done.returncode == 2
    assert b"the same sign separates all grades" in done.stderr
    for written in re.findall(r"'([^']*)'", done.stderr.decode())[1:]:
        assert run(Path(), "score", written).returncode == 0


@pytest.mark.parametrize(
    "listed", ["0 0 1,", "[0, 0, 1,]", "(0,0,1)", "0 , 0 , 1", " 0\t0\n1 ", "○, ○, ●"]
)
def test_blanks_and_a_last_comma_do_no_harm(listed: str) -> None:
    done = run(Path(), "score", listed, "-m", "RR", "--format", "csv")
    assert done.stdout.decode().splitlines()[1].split(",")[1] == repr(1 / 3)


@pytest.mark.parametrize("listed", ["", " ", "[]", "[ ]", ",", "()"])
def test_an_empty_list(listed: str) -> None:
    done = run(Path(), "score", listed)
    assert done.returncode == 2
    assert b"the list is empty" in done.stderr


@pytest.mark.parametrize("listed", ["0 x 1", "0 nan", "[[0, 1]]", "1_0 0", "0 ٣"])
def test_what_is_no_grade_is_named_with_its_rank(listed: str) -> None:
    done = run(Path(), "score", listed)
    assert done.returncode == 2
    assert re.search(rb"the list, rank \d: a relevance grade must be a finite number", done.stderr)


@pytest.mark.parametrize("verb", VERBS)
def test_a_list_without_its_relevant_items_says_that_they_were_counted(verb: str) -> None:
    words = [word.format("0 0 1 0 1 0 0 1 0 0") for word in VERBS[verb]]
    says = b"R = 3, as counted in the list; --relevant sets the number in the collection"
    assert says in run(Path(), *words).stdout
    more = run(Path(), *words, "--relevant", "5")
    assert more.returncode == 0
    assert b"counted in the list" not in more.stdout


def test_each_level_of_relevance_has_its_count() -> None:
    out = run(Path(), "score", "0 1 2", "-m", "AP AP(rel=2)").stdout.decode()
    assert "rel=1: R = 2, as counted in the list" in out
    assert "rel=2: R = 1, as counted in the list" in out
    assert (
        "R = 1, as counted in the list"
        in run(Path(), "score", "0 1 2", "-m", "AP(rel=2)").stdout.decode()
    )


def test_python_names_the_argument() -> None:
    says = "R = 2, as counted in the list; relevant= sets the number in the collection"
    listed = [0, 1, 1]
    for verb in (
        lambda **given: germane.explain(listed, "AP", **given),
        lambda **given: germane.pr_curve(listed, **given),
        lambda **given: germane.reconcile(listed, reported=0.58, measure="AP", **given),
    ):
        assert says in str(verb())
        assert "counted in the list" not in str(verb(relevant=4))
    data = {"q": {"a": 1}}, {"q": ["x", "a"]}
    assert "counted in the list" not in str(germane.explain(*data, "AP"))
    assert "counted in the list" not in str(germane.explain([{"a"}, {"b"}], "StRecall@1"))


def test_a_list_without_quotes_says_that_it_needs_them() -> None:
    for words in (["0", "0", "1"], ["[0,", "0,", "1]"]):
        done = subprocess.run(
            [sys.executable, "-m", "germane", "score", *words], capture_output=True, check=False
        )
        assert done.returncode == 2
        assert b"need quotes, as in '0 0 1'" in done.stderr
