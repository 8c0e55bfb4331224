"""A gallery: a folder with the figures of experiments, and a page that describes them."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from germane._version import VERSION
from germane.core.progress import Progress, make_progress
from germane.errors import InputError
from germane.explanation.simulation.api import simulate
from germane.explanation.simulation.experiment import Design, Experiment
from germane.explanation.simulation.figures import ExperimentDisplay
from germane.output import writing
from germane.output.tables import Table

INDEX = "index.md"


def write_gallery(
    folder: str,
    designs: Iterable[Design],
    *,
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> None:
    """Make experiments, and write each one's figure, as SVG, and ``index.md`` about all of them.

    The folder is made if it does not exist, but not its parent. Files of these names are replaced,
    all of them or none. ``progress`` is called before each experiment with its name, the number of
    experiments that are done, and the number of all. Raises InputError where the folder cannot be
    written.
    """
    progress = make_progress(progress)
    designs = tuple(designs)
    pages = [_write_heading(folder, designs, seed)]
    with _keep_all_or_nothing(
        folder, [INDEX, *(f"{design.name}.svg" for design in designs)]
    ) as place:
        for done, design in enumerate(designs):
            if progress is not None:
                progress(design.name, done, len(designs))
            experiment = simulate(design.name, rng=seed)
            (place / f"{design.name}.svg").write_bytes(ExperimentDisplay(experiment).picture("svg"))
            pages.append(_write_page(experiment, seed))
        (place / INDEX).write_bytes("\n".join(pages).encode())


def _write_heading(folder: str, designs: tuple[Design, ...], seed: int) -> str:
    name = "all" if len(designs) > 1 else designs[0].name
    target = os.path.basename(os.path.realpath(folder))
    return (
        "# Experiments on the measures themselves\n\nEach experiment varies one quantity and shows"
        " how the measures respond. germane computes every number; an equal seed gives equal"
        f" numbers. Made with germane {VERSION}:\n\n```sh\ngermane simulate {name} --seed {seed} -o"
        f" {target}/\n```\n"
    )


def _write_page(experiment: Experiment, seed: int) -> str:
    name, table = experiment.name, experiment.table()
    claims = "\n".join(f"- {claim}" for claim in experiment.claims)
    defined = "\n".join(f"- `{column.name}`: {column.definition}" for column in experiment.columns)
    return (
        f"## {experiment.title}\n\n{experiment.design.line}\n\n"
        f"![{experiment.title}: {experiment.design.line}]({name}.svg)\n\n{claims}\n\n"
        f"{Table(table.columns, table.rows).markdown()}\n{defined}\n\n"
        f"Made by `germane simulate {name} --seed {seed} -o {name}.svg`\n"
    )


@contextmanager
def _keep_all_or_nothing(folder: str, names: Iterable[str]) -> Iterator[Path]:
    """Make a place for files of these names, which get to the folder all together."""
    writing.check(folder)
    target = os.path.realpath(folder)
    is_folder = os.path.isdir(target)
    if os.path.exists(target) and not is_folder:
        raise InputError(f"{folder}: this is a file; the figures need a folder.")
    ends = {name: os.path.realpath(os.path.join(target, name)) for name in names}
    for name, end in ends.items():
        if os.path.isdir(end):
            raise InputError(
                f"{os.path.join(folder, name)}: this is a folder; it has to be a file."
            )
    beside = target if is_folder else os.path.dirname(target)
    place = Path(writing.make_part(beside))
    try:
        try:
            place.mkdir(0o700)
            yield place
            os.makedirs(target, exist_ok=True)
            for name, end in ends.items():
                os.replace(place / name, end)
        finally:
            shutil.rmtree(place, ignore_errors=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror}).") from None
