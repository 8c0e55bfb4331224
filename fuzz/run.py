"""Fuzz one target, guided by coverage: python fuzz/run.py TARGET [folder …] [libFuzzer's
options].
"""

import os
import pkgutil
import sys
from importlib import import_module

import atheris

atheris.enabled_hooks.add("str")

with atheris.instrument_imports(include=["germane"]):
    from targets import TARGETS, germane

    for module in pkgutil.walk_packages(germane.__path__, "germane."):
        if not module.name.startswith(
            ("germane.__main__", "germane.plot", "germane.presentation.pictures")
        ):
            import_module(module.name)  # now: what is imported later is not seen


def main() -> None:
    if sys.argv[1:2] == [] or sys.argv[1] not in TARGETS:
        sys.exit(f"python fuzz/run.py {'|'.join(TARGETS)} [folder …] [libFuzzer's options]")
    chosen = sys.argv.pop(1)
    corpus = os.path.join(os.path.dirname(__file__), "corpus", chosen)
    folders = [word for word in sys.argv[1:] if not word.startswith("-")]
    atheris.Setup([*sys.argv, *([] if folders else [corpus])], TARGETS[chosen])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
