"""Text files as trec_eval reads them, where that is not how germane's readers do.

To trec_eval a byte-order mark is part of the first field, lines end at line feeds alone, all that C
calls blank separates fields, and a run line without a tag is an error.
"""

import os
import re

import numpy as np

from germane.readers.files import BOM, Block, TextFile
from germane.readers.streams import compression

_UNTAGGED = re.compile(rb"^[ \t]*(?!#)\S+(?:[ \t]+\S+){4}[ \t]+\r?$", re.MULTILINE)

_BLANK_END = np.frombuffer(b" \n", np.uint16)[0]


def whole(path: str) -> bytes:
    """All bytes of a file, decompressed. Raises InputError for one that cannot be read."""
    with TextFile("./-" if path == "-" else path) as file:
        data = b"".join(block.data for block in file.blocks())
    return BOM + data if _start(path).startswith(BOM) else data


def oddity(path: str) -> str:
    """What germane would read otherwise than trec_eval; nothing, as a rule, and in compressed files."""
    start = _start(path)
    if start.startswith(BOM):
        return "a byte-order mark, which is part of the first query's id to trec_eval"
    if compression(start):
        return ""
    with TextFile(path) as file:
        return next(filter(None, map(_oddity, file.blocks())), "")


def _oddity(block: Block) -> str:
    if b"\v" in block.data or b"\f" in block.data:
        return "a vertical tab or a form feed, which separates fields in trec_eval"
    if b"\r" in block.data and re.search(rb"\r(?!\n)", block.data):
        return "a carriage return within a line, which separates fields in trec_eval"
    if _trailing_blank(block) and (found := _UNTAGGED.search(block.data)):
        return f"a line without a tag: {found[0].decode('utf-8', 'replace').strip()!r}"
    return ""


def _trailing_blank(block: Block) -> bool:
    """Does a line end with a blank? As a rule no line does, which is seen two bytes at a time."""
    given = np.frombuffer(block.data, np.uint8)
    if block.data[-1:] in (b" ", b"\t"):  # the last line, without a line feed
        return True
    if b"\t" in block.data or b"\r" in block.data:
        after, before = given[1:], given[:-1]
        return bool(((after <= ord("\r")) & (before <= ord(" ")) & (before != ord("\n"))).any())
    pairs = (given[start : start + (len(given) - start) // 2 * 2] for start in (0, 1))
    return any((pair.view(np.uint16) == _BLANK_END).any() for pair in pairs)


def _start(path: str) -> bytes:
    """The first bytes; none of a pipe, which can be read only once."""
    if not os.path.isfile(path):
        return b""
    with open(path, "rb") as file:
        return file.read(6)
