"""The recipe for PyTorch's distributed processes, with two of them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parents[1]


def test_two_processes_compute_what_one_does() -> None:
    done = subprocess.run(
        [sys.executable, "examples/distributed.py"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    compared = re.findall(r"(\S+) in 2 processes, (\S+) in one", done.stdout)
    assert len(compared) == 2
    assert all(one == other and float(one) > 0 for one, other in compared)
