"""The oldest versions that pyproject.toml names, as constraints for pip."""

import re
import tomllib
from pathlib import Path

given = tomllib.loads(Path("pyproject.toml").read_text())
extras = given["project"]["optional-dependencies"]
pandas = next(one for one in given["dependency-groups"]["dev"] if one.startswith("pandas"))
for one in [
    *given["project"]["dependencies"],
    *extras["frames"],
    *extras["plot"],
    *extras["stats"],
    pandas,
]:
    name, version = re.fullmatch(r"([a-z]+)>=([\d.]+)(?:,.*)?", one).groups()  # type: ignore[union-attr]
    print(f"{name}=={version}.*")
