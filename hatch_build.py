"""Compiles the kernel beside its source where there is a C compiler; elsewhere NumPy does its work.

Hatchling calls this when it builds or installs germane. ``python hatch_build.py`` compiles the
kernel of a checkout.
"""

import os
import shlex
import subprocess
import sysconfig
import zlib
from pathlib import Path

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:
    BuildHookInterface = object

SOURCE = Path(__file__).resolve().parent / "src/germane/kernel/reduce.c"
FLAGS = ["-O2", "-std=c11", "-fPIC", "-shared"]
if os.name == "nt":
    FLAGS.append("-static-libgcc")  # divides 128 bits, and is nowhere on Windows


class Kernel(BuildHookInterface):
    def initialize(self, version, build_data):  # noqa: ARG002  (hatchling calls it)
        library = name_library()
        if library.exists() or compile_library(library):
            build_data["artifacts"].append(library.relative_to(self.root).as_posix())
            build_data["pure_python"] = False
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["tag"] = f"py3-none-{platform}"


def name_library():
    """The library is named after its source, so that one made of another source is never loaded.

    It does not end in .so, which Python would take for a module.
    """
    return SOURCE.with_name(f"reduce-{zlib.crc32(SOURCE.read_bytes()):08x}.library")


def compile_library(library):
    """True where a compiler made the library; a failure is none, since germane works without."""
    part = library.with_suffix(".part")
    named = os.environ.get("CC")
    compilers = [named] if named else [sysconfig.get_config_var("CC") or "cc", "cc"]
    architecture = shlex.split(os.environ.get("ARCHFLAGS", ""))  # of a macOS build
    for compiler in compilers:
        try:
            command = [*shlex.split(compiler), *FLAGS, *architecture, "-o", part, SOURCE]
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        for old in SOURCE.parent.glob("reduce-*.library"):
            old.unlink()
        part.replace(library)
        return True
    return False


if __name__ == "__main__" and not compile_library(name_library()):
    raise SystemExit("no C compiler made a library of the kernel; germane works without it")
