"""A page in Chromium, driven over its debugging pipe: no driver and no port."""

import base64
import contextlib
import itertools
import json
import os
import selectors
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
in_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
PATIENCE = 60.0  # seconds for an answer
KEYS = {
    "Enter": 13,
    " ": 32,
    "z": 90,
    "Tab": 9,
    "ArrowDown": 40,
    "ArrowUp": 38,
    "Escape": 27,
    "ArrowRight": 39,
    "ArrowLeft": 37,
}

# Puts the pipes where Chromium looks for them, out of each other's way, and becomes Chromium.
START = """
import os, sys
read, write = (os.dup(int(end)) for end in sys.argv[1:3])
os.dup2(read, 3), os.dup2(write, 4)
os.set_inheritable(3, True), os.set_inheritable(4, True)  # also where they were there already
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One page; ``troubles`` are its errors, ``requests`` the addresses it asked for."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._number = itertools.count(1)
        self._rest = b""
        self._ready = selectors.DefaultSelector()
        self._ready.register(read, selectors.EVENT_READ)
        self._session: str | None = None
        self._loaded = 0
        self.troubles: list[str] = []
        self.requests: list[str] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._number)
        message = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            got = self._next()
            if got.get("id") == number:
                assert "error" not in got, (method, got)
                return dict(got["result"])

    def open(self, path: Path) -> None:
        self.visit(path.as_uri())

    def visit(self, address: str) -> None:
        before = self._loaded
        self.requests.clear()
        self.ask("Page.navigate", url=address)
        while self._loaded == before:
            self._next()
        self.settle()

    def settle(self) -> None:
        """Wait for two frames, after which observers of sizes have been told."""
        self.value(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def eventually(self, expression: str, expected: Any) -> None:
        """Ask again until the value is the expected one, however busy the machine is."""
        end = time.monotonic() + PATIENCE
        while (got := self.value(expression)) != expected:
            assert time.monotonic() < end, (expression, got, expected)
            time.sleep(0.02)

    def value(self, expression: str) -> Any:
        """What an expression of JavaScript is."""
        got = self.ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in got, got
        return got["result"].get("value")

    def press(self, key: str, *, alt: bool = False, ctrl: bool = False) -> None:
        held = {"modifiers": int(alt) + 2 * int(ctrl)}
        code = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key], **held}
        typed = {"text": {"Enter": "\r"}.get(key, key)} if key in ("Enter", " ") else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **code, **typed)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **code)

    def type(self, text: str) -> None:
        self.ask("Input.insertText", text=text)

    def size(self, width: int, height: int = 900) -> None:
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        self.settle()

    def media(self, media: str = "", scheme: str = "light") -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", media=media, features=features)

    def picture(self, path: Path, **clip: float) -> None:
        options = {"clip": {"scale": 1, **clip}} if clip else {}
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=True, **options)
        path.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.ask("Page.printToPDF")["data"]))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert self._ready.select(PATIENCE), "the browser does not answer"
            self._rest += os.read(self._read, 2**20)
        line, _, self._rest = self._rest.partition(b"\0")
        got: dict[str, Any] = json.loads(line)
        self._note(got.get("method"), got.get("params", {}))
        return got

    def _note(self, method: str | None, parameters: dict[str, Any]) -> None:
        match method:
            case "Page.loadEventFired":
                self._loaded += 1
            case "Runtime.exceptionThrown" | "Log.entryAdded":
                self.troubles.append(json.dumps(parameters))
            case "Runtime.consoleAPICalled":
                self.troubles.append(json.dumps(parameters))
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])


@contextlib.contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser of its own, which ends with the block."""
    assert CHROMIUM is not None
    theirs_read, write = os.pipe()
    read, theirs_write = os.pipe()
    command = [
        CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--hide-scrollbars", f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank",
    ]  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-c", START, str(theirs_read), str(theirs_write), *command],
        pass_fds=(theirs_read, theirs_write),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_read)
    os.close(theirs_write)
    try:
        yield Browser(write, read)
    finally:
        os.close(write)
        os.close(read)
        process.terminate()
        process.wait(PATIENCE)
