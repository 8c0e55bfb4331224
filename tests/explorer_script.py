"""The explorer's script, run in Node."""

import json
import re
import shutil
import subprocess
from functools import cache
from typing import Any

import pytest

import germane

NODE = shutil.which("node")
in_node = pytest.mark.skipif(NODE is None, reason="there is no Node here")


def read_data() -> dict[str, Any]:
    """What the page's script looks up: measures, examples, tools."""
    found = re.findall(r'id="data">(.*?)</script>', germane.explorer().html, re.DOTALL)
    return dict(json.loads(found[0]))


@cache
def script() -> str:
    found = re.findall(r"<script>(.*?)</script>", germane.explorer().html, re.DOTALL)
    assert len(found) == 1
    return str(found[0])


def run_node(program: str, given: object) -> Any:
    assert NODE is not None
    whole = f"{script()}\nprocess.stdout.write(JSON.stringify(({program})(JSON.parse(require('fs').readFileSync(0)))))"
    done = subprocess.run(
        [NODE, "-e", whole], input=json.dumps(given), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)
