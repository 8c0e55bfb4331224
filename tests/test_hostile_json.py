"""JSON as somebody else's text: a key twice, nesting without end, and millions of keys."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import germane
from germane import cli

DEEP = 20_000
ROW = '{"query": "q1", "item": "d1", "score": 1'
TRUTH = {
    "images": [{"id": 1, "width": 10, "height": 10}],
    "categories": [{"id": 1, "name": "a"}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1], "area": 1}],
}
DETECTION = '{"image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 0.5'


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q1 0 d1 1\n")
    Path("run.txt").write_text("q1 Q0 d1 1 1 x\n")
    Path("truth.json").write_text(json.dumps(TRUTH))
    return tmp_path


def run_limited(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command below 3 GB: a crash of the interpreter would be its exit status."""
    return subprocess.run(
        [sys.executable, "-m", "germane", *arguments], capture_output=True, text=True, timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)),
    )  # fmt: skip


NESTED = {
    "lists": "[" * DEEP + "]" * DEEP,
    "objects": '{"a":' * DEEP + "1" + "}" * DEEP,
    "lists with something before": "[[]," * DEEP + "1" + "]" * DEEP,
}


@pytest.mark.parametrize("before", [0, 50_000])
@pytest.mark.parametrize("nested", NESTED)
def test_lines_nested_too_deeply(nested: str, before: int, files: Path) -> None:
    """Also in a field that nobody reads, and in a later block."""
    rows = "".join(
        f"{ROW}, 'x': {i}}}\n".replace("'", '"').replace("d1", f"d{i}") for i in range(before)
    )
    Path("run.jsonl").write_text(f'{rows}{ROW}, "x": {NESTED[nested]}}}\n')
    done = run_limited("evaluate", "qrels.txt", "run.jsonl")
    assert done.returncode == 2
    assert done.stderr == f"germane: run.jsonl:{before + 1}: the values are nested too deeply.\n"


@pytest.mark.parametrize("nested", NESTED)
def test_files_nested_too_deeply(nested: str, files: Path) -> None:
    Path("deep.json").write_text(NESTED[nested])
    Path("detections.json").write_text(f'[{DETECTION}, "x": {NESTED[nested]}}}]')
    everywhere = (
        ("evaluate", "deep.json", "qrels.txt"),
        ("audit", "deep.json"),
        ("verify", "deep.json", "qrels.txt", "run.txt"),
        ("gate", "qrels.txt", "run.txt", "--baseline", "deep.json"),
        ("boxes", "deep.json", "detections.json"),
    )
    one_parser = (
        ("evaluate", "qrels.txt", "deep.json"),
        ("boxes", "truth.json", "detections.json"),
    )
    for arguments in (*one_parser, *(everywhere if nested == "lists" else ())):
        done = run_limited(*arguments)
        assert done.returncode == 2, (arguments, done.stderr[-300:])
        assert "nested too deeply" in done.stderr or "no JSON" in done.stderr, arguments
        assert "Traceback" not in done.stderr


def test_brackets_in_text_are_no_nesting(files: Path) -> None:
    text = "[" * 30_000
    Path("run.jsonl").write_text(f'{ROW}, "x": "{text} \\" {text}"}}\n')
    assert germane.evaluate("qrels.txt", "run.jsonl", "AP")["AP"].mean == 1


@pytest.mark.parametrize("keys", ["a key each", "a thousand keys each"])
def test_lines_of_very_many_keys(keys: str, files: Path) -> None:
    """Arrow would make a column of each for every block; all but some are ignored."""
    with Path("run.jsonl").open("w") as file:
        for i in range(200_000 if keys == "a key each" else 200):
            own = [f"k{i}"] if keys == "a key each" else [f"k{1000 * i + j}" for j in range(1000)]
            more = "".join(f', "{key}": 1' for key in own)
            file.write(f'{{"query": "q1", "item": "d{i}", "score": {i}{more}}}\n')
    done = run_limited("evaluate", "qrels.txt", "run.jsonl", "-m", "RR")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"x": {"P@1": 0.5, "P@1": 0.6}}', "the object at 'x' has the key 'P@1' twice"),
        ('{"x": {"P@1": 0.5}, "x": {"P@1": 0.6}}', "the object has the key 'x' twice"),
        ('[{"run": "x", "P@1": 0.5, "P@1": 0.6}]', "the object at 1 has the key 'P@1' twice"),
        (
            '{"scores": {"test": [{"ndcg_at_1": 0.5, "ndcg_at_1": 0.6}]}}',
            "'scores' → 'test' → 1 has the key 'ndcg_at_1' twice",
        ),
        ('{"schema": 1, "runs": [], "policy": {}, "policy": {}}', "has the key 'policy' twice"),
    ],
)
def test_a_table_with_a_key_twice(text: str, says: str, files: Path) -> None:
    Path("table.json").write_text(text)
    with pytest.raises(germane.errors.FormatError, match=says):
        germane.audit("table.json")


@pytest.mark.parametrize(
    "names", [("MRR", "recip_rank"), ("MRR@1", "mrr_at_1"), ("NDCG@10", "nDCG@10"), ("map", "MAP")]
)
def test_one_measure_by_two_names_has_one_value(names: tuple[str, str]) -> None:
    first, second = names
    audit = germane.audit({"x": {first: "0.412", second: "0.431"}})
    assert audit
    assert [found.columns for found in audit.contradictions] == [names]
    assert not germane.audit({"x": {first: "0.412", second: "0.41"}})
    assert not germane.audit({"x": {first: "0.412"}, "y": {second: "0.431"}})


def test_a_whole_number_of_thousands_of_digits(files: Path) -> None:
    Path("table.json").write_text('{"x": {"P@1": ' + "1" * 5000 + "}}")
    assert cli.main(["audit", "table.json"]) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("names:\n  0: cat\n  0: dog\n", "0 is there twice"),
        ("names: [cat]\nnames: [dog]\n", "'names' is there twice"),
        ("names:\n  " + "1" * 5000 + ": cat\n", "the names of the classes cannot be read"),
    ],
)
def test_names_of_classes_that_are_there_twice(text: str, says: str, files: Path) -> None:
    Path("data.yaml").write_text(text)
    with pytest.raises(germane.errors.FormatError, match=says):
        germane.boxes.evaluate("truth.json", [], "AP50", class_names="data.yaml")
