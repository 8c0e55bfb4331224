"""Temporary files: where they are, and the sentence for one that cannot be written."""

import contextlib
import os
from collections.abc import Iterator

from germane.errors import InputError


@contextlib.contextmanager
def explained(why: str) -> Iterator[None]:
    """Turn what the system raises into one sentence that names the folder, and says what it is for."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{_folder()}: cannot be written ({error.strerror or error}). {why} TMPDIR names another "
            "folder."
        ) from None


def _folder() -> str:
    import tempfile  # which seldom is needed

    try:
        return tempfile.gettempdir()
    except OSError:  # not one of those that Python tries can be written
        return os.environ.get("TMPDIR", "the folder of temporary files")
