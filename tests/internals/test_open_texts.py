"""Texts of items and queries, from every source of them."""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import germane
from germane.readers.options.texts import Text, open_texts

from sizes import set_sizes
from test_texts import write


def find(given: Any, *ids: str) -> dict[str, Text]:
    opened = open_texts(given, "items")
    assert opened is not None
    return opened.find(ids)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", "d1\tone\nd2\ttwo words\n"),
        ("a.txt", "d1\tone\r\nd2\ttwo words"),
        ("a.tsv", "\ufeffid\ttext\nd1\tone\nd2\ttwo words\n"),
        ("a.tsv", "text\tdocno\none\td1\ntwo words\td2\n"),
        ("a.csv", 'id,text\nd1,one\nd2,"two words"\n'),
        ("a.jsonl", '{"_id": "d1", "text": "one"}\n\n{"_id": "d2", "text": "two words"}\n'),
        ("a.jsonl", '{"docno": "d1", "anything": "one"}\n{"docno": "d2", "anything": "two words"}'),
    ],
    ids=str,
)
def test_files_of_text(tmp_path: Path, name: str, content: str) -> None:
    path = write(tmp_path / name, content)
    assert find(path, "d2", "d1", "none") == {"d1": Text(body="one"), "d2": Text(body="two words")}


def test_parquet_and_whole_ids(tmp_path: Path) -> None:
    table = pa.table({"item_id": [1, 2], "title": ["One", "Two"], "text": ["1", None]})
    pq.write_table(table, tmp_path / "a.parquet")
    assert find(tmp_path / "a.parquet", "1", "2") == {
        "1": Text(title="One", body="1"), "2": Text(title="Two"),
    }  # fmt: skip


def test_pyterrier_topics_and_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "topics.tsv", "qid\tquery\nq1\thow long\nq2\twhy\n")
    for small in (16, 10**6):
        set_sizes(monkeypatch, small_texts=small)
        assert find(path, "q1") == {"q1": Text(body="how long")}
        assert find(path, "q1", "q2")["q2"].body == "why"


def test_mappings_functions_addresses_and_images(tmp_path: Path) -> None:
    given = {
        1: "one",
        "d2": {"Title": "T", "url": "https://example.org/a"},
        "d3": tmp_path / "p.png",
    }
    assert find(given, "1", "d2", "d3", "d4") == {
        "1": Text(body="one"),
        "d2": Text(title="T", link="https://example.org/a"),
        "d3": Text(image=str(tmp_path / "p.png")),
    }
    assert find({"a": 1}.get, "b") == {}
    assert find(lambda one: f"http://example.org/{one}", "d")["d"].link == "http://example.org/d"
    path = write(tmp_path / "a.tsv", "d1\timages/1.JPG\nd2\thttps://example.org/2.png\n")
    assert find(path, "d1", "d2") == {
        "d1": Text(image=str(tmp_path / "images/1.JPG")),
        "d2": Text(link="https://example.org/2.png"),
    }
    assert find({"d": {"url": "javascript:alert(1)", "text": "x"}}, "d")["d"].link == ""


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.tsv", "", "the file is empty"),
        ("a.tsv", "d1\tone\nd2\n", "a.tsv:2: a line has an id, a tab and a text"),
        ("a.jsonl", '{"id": "d1", "text": "a"}\n{"id"\n', "a.jsonl:2: this is not JSON"),
        ("a.jsonl", "[1]\n", "a.jsonl:1: a line is a JSON object"),
        ("a.jsonl", '{"a": "b"}\n', "no column contains the ids; there are 'a'. Name it id"),
    ],
    ids=str,
)
def test_faults_are_named(tmp_path: Path, name: str, content: str, says: str) -> None:
    with pytest.raises(germane.GermaneError, match=re.escape(says)):
        find(write(tmp_path / name, content), "d1")


@pytest.mark.parametrize("small", [0, 1 << 20])
def test_an_id_has_one_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: int) -> None:
    set_sizes(monkeypatch, small_texts=small)
    path = tmp_path / "items.tsv"
    path.write_text("d1\tone\nd1\tone\nd1\ttwo\nd2\tthree\n")
    says = r"d1' has two texts, 'one' and 'two'\. Keep one of them\."
    with pytest.raises(germane.errors.DuplicateError, match=rf"items\.tsv: '{says}"):
        open_texts(path, "items").find(["d1", "d2"])  # type: ignore[union-attr]
    path.write_text("d1\tone\nd1\tone\nd2\tthree\n")  # a repeated line is no other text
    assert len(open_texts(path, "items").find(["d1", "d2"])) == 2  # type: ignore[union-attr]
    path = tmp_path / "items.jsonl"
    path.write_text(
        '{"id": 1, "title": "one", "year": "1"}\n{"id": 1, "title": "one", "year": "2"}\n'
    )
    assert str(open_texts(path, "items").find([1])["1"]) == "one"  # type: ignore[union-attr]
    with pytest.raises(
        germane.errors.DuplicateError, match="items: '1' has two texts, 'a' and 'b'"
    ):
        open_texts({1: "a", "1": "b"}, "items")
    assert open_texts({1: "a", "1": "a"}, "items") is not None


def test_what_texts_are_not(tmp_path: Path) -> None:
    with pytest.raises(germane.errors.InputError, match=r"there is no such file \(items=…\)"):
        find(tmp_path / "none.tsv", "d")
    with pytest.raises(germane.errors.InputError, match="items takes the path of a file"):
        find(3, "d")
    with pytest.raises(
        germane.errors.InputError, match="items must give text, the path of an image"
    ):
        find({"d": 3}, "d")
