"""Metadata of a run in its own file: comments before the first line, between two marks.

The marks and the fields are those of ir_metadata. The text between them is YAML; it is carried
along as text, and not read.
"""

from __future__ import annotations

from germane.errors import InputError
from germane.readers.files import TextFile

START, END = "ir_metadata.start", "ir_metadata.end"


def read_metadata(path: str) -> str | None:
    """Read the text between the marks, without the ``#`` of each line; None without marks."""
    try:
        with TextFile(path) as file:
            block = next(iter(file.read_blocks()), None)
    except InputError:
        return None
    if block is None or START.encode() not in block.data:
        return None
    comments: list[str] | None = None
    for line in block.data.decode("utf-8", "replace").splitlines():
        if not line.startswith("#"):
            break
        text = line.removeprefix("#").removeprefix(" ").rstrip()
        if text == START:
            comments = []
        elif text == END:
            return None if comments is None else "\n".join(comments) + "\n"
        elif comments is not None:
            comments.append(text)
    return None
