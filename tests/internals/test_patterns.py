"""Texts from files and command lines are hostile: no pattern takes more than a moment on any."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from typing import Any

import pytest

import germane
from germane.forensics.published import clean_cell, unmark_name
from germane.measures.box_names import LONGEST, BoxName
from germane.readers.objects.relevance import read_typed

LENGTH = 6_000
BOUNDED = {"_GROUP": LONGEST, "_PIECE": LONGEST}  # longer names of boxes are refused before
MOST_SECONDS = 0.3  # those that try all ways to split such a text take minutes, or years


def _list_patterns() -> Iterator[tuple[str, re.Pattern[str] | re.Pattern[bytes]]]:
    for module in pkgutil.walk_packages(germane.__path__, "germane."):
        if module.name in ("germane.__main__", "germane.spark", "germane.plot", "germane.sklearn"):
            continue  # which run, or need libraries
        for name, pattern in vars(importlib.import_module(module.name)).items():
            if isinstance(pattern, re.Pattern):
                yield f"{module.name}.{name}", pattern


PATTERNS = dict(_list_patterns())


def _make_texts(pattern: re.Pattern[str] | re.Pattern[bytes], length: int) -> Iterator[str]:
    """Make texts of one repeated part, which end in what nothing matches."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode()
    signs = sorted({"a", "1", " ", ".", *(sign for sign in source if not sign.isalnum())} - {"\\"})
    for part in (*signs, *("".join(pair) for pair in product(signs[:12], repeat=2))):
        for start in ("", "a", "1", "("):
            yield start + part * (length // len(part)) + "\x00!"


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_decides_soon(name: str) -> None:
    pattern = PATTERNS[name]
    for text in _make_texts(pattern, BOUNDED.get(name.rpartition(".")[2], LENGTH)):
        subject = text.encode() if isinstance(pattern.pattern, bytes) else text
        began = time.perf_counter()
        pattern.fullmatch(subject)  # type: ignore[arg-type]
        pattern.match(subject)  # type: ignore[arg-type]
        assert time.perf_counter() - began < MOST_SECONDS, repr(text[:20])


def test_patterns_are_seen() -> None:
    assert len(PATTERNS) > 60


READERS: dict[str, Callable[[str], Any]] = {
    "a measure": germane.parse,
    "a measure of boxes": BoxName.read,
    "a typed list": read_typed,
    "a cell": clean_cell,
    "a column": unmark_name,
}


@pytest.mark.parametrize(
    "part", ["a", " ", "a ", "1", ".1", "a1", "(", "@", "=", ",", "(a=", "-", "<a"]
)
@pytest.mark.parametrize("reader", READERS)
def test_text_is_read_soon(reader: str, part: str) -> None:
    for end in ("", "!", ")", "@10"):
        began = time.perf_counter()
        with suppress(germane.GermaneError):
            READERS[reader](part * (3_000 // len(part)) + end)
        assert time.perf_counter() - began < 1
