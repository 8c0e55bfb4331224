"""The targets of ``fuzz/`` on their corpus, and on mutations of it that are the same on every run."""

import importlib.util
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import germane
from germane import cli

from sizes import set_sizes

ROOT = Path(__file__).parents[1] / "fuzz"
MUTATIONS = {
    "trec": 200,
    "names": 2000,
    "trec_eval": 300,
    "columns": 300,
    "records": 40,
    "coco": 100,
}
TOKENS = (
    b" ", b"  ", b"\t", b"\n", b"\r\n", b"\r", b"\0", b"#", b"-", b".", b"+", b"1e5", b"nan", b"\xff",
    b"\xc3\xa9", b"\xef\xbb\xbf", b"0", b"00000000", b"1234567.12345678", b"\n%%\n", b'"', b",", b"@", b":",
    b"\x1f\x8b", b"\xe2\x80\xa8", b"9" * 40,
)  # fmt: skip

spec = importlib.util.spec_from_file_location("germane_fuzz_targets", ROOT / "targets.py")
assert spec
assert spec.loader
targets: Any = importlib.util.module_from_spec(spec)
spec.loader.exec_module(targets)


def corpus(target: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "corpus" / target).iterdir())]


def mutated(inputs: list[bytes], number: int) -> Iterator[bytes]:
    """Inputs with a few bytes changed, left out, put in, repeated, or taken from another one."""
    rng = random.Random(number)
    for _ in range(number):
        data = bytearray(rng.choice(inputs))
        for _ in range(rng.randint(1, 4)):
            at, more = rng.randint(0, len(data)), rng.randint(1, 12)
            other = rng.choice(inputs)
            start = rng.randint(0, len(other))
            match rng.randrange(5):
                case 0:
                    data[at : at + 1] = bytes([rng.randrange(256)])
                case 1:
                    del data[at : at + more]
                case 2:
                    data[at:at] = rng.choice(TOKENS)
                case 3:
                    data[at:at] = data[at : at + more]
                case _:
                    data[at : at + more] = other[start : start + more]
        yield bytes(data)


def run(target: str, inputs: Iterator[bytes]) -> None:
    for data in inputs:
        try:
            targets.TARGETS[target](data)
        except Exception as error:
            raise AssertionError(f"{target}({data!r})") from error


@pytest.mark.parametrize("target", targets.TARGETS)
def test_the_corpus(target: str) -> None:
    run(target, iter(corpus(target)))


@pytest.mark.slow
@pytest.mark.parametrize("target", targets.TARGETS)
def test_mutations_of_the_corpus(target: str) -> None:
    run(target, mutated(corpus(target), MUTATIONS[target]))


@pytest.mark.long
@pytest.mark.parametrize("target", targets.TARGETS)
def test_many_mutations_of_the_corpus(target: str) -> None:
    run(target, mutated(corpus(target), 100 * MUTATIONS[target]))


def test_what_is_wrong_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that reads wrong, and an error that is not germane's, get out of their targets."""
    split = targets.trec._split_each

    def wrong(*given: Any) -> Any:
        found = split(*given)
        if len(found):
            found.number[0] += 1
        return found

    monkeypatch.setattr(targets.trec, "_split_each", wrong)
    with pytest.raises(AssertionError):
        run("trec", iter(corpus("trec")))
    monkeypatch.setattr(germane, "parse", wrong_parse)
    with pytest.raises(AssertionError, match=r"names\(b'"):
        run("names", iter(corpus("names")))


def wrong_parse(text: str) -> Any:
    raise KeyError(text)


def test_the_corpus_is_small() -> None:
    sizes = [path.stat().st_size for path in (ROOT / "corpus").rglob("*") if path.is_file()]
    assert sum(sizes) < 200_000
    kinds = {path.name for path in (ROOT / "corpus").iterdir()}
    assert kinds == {*targets.TARGETS, "reduce"}  # the latter is that of the kernel


# ------------------------------------------------------- what fuzzing found, and what is right there


def written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def test_a_column_whose_name_is_not_utf8(tmp_path: Path) -> None:
    path = written(tmp_path, "run.jsonl", b'{"query\xff":"q1","doc_id":"a","score":1}\n')
    with pytest.raises(
        germane.errors.FormatError, match=r"run\.jsonl: the name of a column is not UTF-8"
    ):
        germane.read_run(path)


@pytest.mark.parametrize("end", ["\v", "\f", "\x1c", "\x85", "\u2028"])
def test_a_header_ends_with_its_line(end: str, tmp_path: Path) -> None:
    """Python's splitlines knows more ends of lines than files of columns have."""
    text = f"qid\tdocno\tscore{end}rank\nq1\ta\t2.5\n"
    path = written(tmp_path, "run.tsv", text.encode())
    with pytest.raises(germane.errors.InputError, match=r"run\.tsv.*column"):
        germane.evaluate({"q1": {"a": 1}}, path, "AP", input_format="tsv")


def test_a_query_that_is_not_utf8_and_nobody_judged(tmp_path: Path) -> None:
    """Is it judged under another spelling? Bytes beyond UTF-8 are looked for as addresses write them."""
    run = written(tmp_path, "run", b"q/\xb5 Q0 d 1 2 t\nr Q0 d 1 2 t\n")
    with pytest.warns(germane.GermaneWarning, match="differs in HTML or URL escapes"):
        germane.evaluate({"q%2F%B5": {"d": 1}, "r": {"d": 1}}, run, "AP")


def test_a_last_line_whose_tag_is_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Evaluating reads it, and trec_eval does not; so it is an error of its stand-in, and no traceback."""
    qrels = written(tmp_path, "qrels", b"q 0 d 1\n")
    run = written(tmp_path, "run", b"q Q0 d 1 1.5 t\nq Q0 e 2 1 \n")
    assert germane.evaluate(qrels, run, "AP")["AP"].mean == 1.0
    assert cli.main(["trec_eval", "-m", "runid", str(qrels), str(run)]) == 2
    assert "run:2: 5 fields where a run line has 6" in capsys.readouterr().err


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_lines_are_counted_by_all_their_ends(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of blocks that were read before as well: three lines by CR, two by LF, two by CR and LF."""
    lines = [f"q{n} Q0 d 1 1.5 tag" for n in range(7)]
    ends = ["\r"] * 3 + ["\n"] * 2 + ["\r\n"] * 2
    before = "".join(map("".join, zip(lines, ends, strict=True)))
    qrels = {f"q{n}": {"d": 1} for n in range(9)}
    for block in (32, 64, 1 << 20):
        set_sizes(monkeypatch, block=block)
        for bad, says in (("q8 Q0 d 1 x tag", "a score"), ("q0 Q0 d 9 9 tag", ".*on line 1\\b")):
            for last in (bad + end, bad):
                text = before + "q7 Q0 d 1 1 t" + end + last
                run = written(tmp_path, "run", text.encode())
                with pytest.raises(germane.errors.InputError, match=rf"run:9: {says}"):
                    germane.evaluate(qrels, run, "AP")
        found = germane.check(qrels, written(tmp_path, "run", (before + "x").encode()), "AP")
        assert "run:8: 1 field" in found.serious[0].examples[0]
