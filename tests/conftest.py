"""Hypothesis profiles, the two kernels that every test of a reader is run with, and files that may not be read.

The profile ``ci`` is the same on every run; ``many`` has many more cases, for ``make test-all``;
``thorough`` draws new ones: python -m pytest --hypothesis-profile=thorough
"""

import os
import stat
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from germane.kernel import library
from germane.readers.files import streams

from browser import Browser, browser

_SLOW_MACHINES = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("ci", derandomize=True, max_examples=15, database=None, **_SLOW_MACHINES)
settings.register_profile("many", settings.get_profile("ci"), max_examples=200)
settings.register_profile("thorough", max_examples=5000, print_blob=True, **_SLOW_MACHINES)
settings.load_profile("ci")

READERS = {
    "test_check_lines", "test_columns", "test_comments", "test_evaluator", "test_gauntlet", "test_gauntlet_frames",
    "test_gauntlet_objects", "test_gauntlet_siblings", "test_judging", "test_letor", "test_reduction",
    "test_ids", "test_inputs", "test_scattered", "test_sources", "test_streams",
}  # fmt: skip
"""Modules whose tests read runs: they are run with the compiled kernel and in plain NumPy."""

BOTH = {"test_reduction"}
"""Those of which ``make test`` runs both; ``make test-all`` runs both of all."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    name = metafunc.module.__name__
    if name in READERS:
        later = name not in BOTH and library.is_loaded()
        plain = pytest.param("plain", marks=pytest.mark.slow) if later else "plain"
        metafunc.parametrize("kernel", ["compiled", plain], indirect=True, scope="module")


@pytest.fixture(scope="module", autouse=True)
def kernel(request: pytest.FixtureRequest) -> Iterator[str]:
    """The kernel in use, in this process and in those that it starts."""
    wanted = getattr(request, "param", library.name_kernel())
    if wanted == "compiled" and not library.is_loaded():
        pytest.skip("there is no compiled kernel")
    with pytest.MonkeyPatch.context() as patched:
        if wanted == "plain":
            patched.setattr(library, "load_library", lambda: None)
            patched.setitem(os.environ, "GERMANE_KERNEL", "0")
        yield wanted


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser that the tests of a module share."""
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written does not reach the disk."""

    def refuse(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)


@pytest.fixture
def permissions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without permission to read is refused to everybody, also to a superuser."""

    def open_as_a_user(path: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(path, (str, os.PathLike)) and not os.stat(path).st_mode & stat.S_IRUSR:
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return open(path, *arguments, **options)

    monkeypatch.setattr(streams, "open", open_as_a_user, raising=False)
