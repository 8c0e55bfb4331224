"""The commands that teach: simulate and explorer."""

import argparse
import os
from collections.abc import Sequence

import germane
from germane.cli.parser import PICTURES, Command
from germane.cli.terminal import as_json, format_table, is_picture, make_progress_line
from germane.errors import InputError
from germane.output import writing
from germane.output.tables import FORMATS, add_schema
from germane.teaching.experiments import ALL, EXPERIMENTS, Design, Experiment, find_design, simulate


def _run_simulate(options: argparse.Namespace) -> None:
    path = options.output
    designs = EXPERIMENTS if options.name == ALL else (find_design(options.name),)
    picture = is_picture(options)
    if picture and len(designs) > 1:
        raise InputError(f"{path}: all experiments need a folder, as in -o gallery/")
    folder = path not in (None, "-") and not picture and _is_folder(path, designs)
    if (picture or folder) and options.format != "table":
        raise InputError(f"{path}: a picture has no --format; leave out -o or --format.")
    if picture:
        from germane.teaching.experiment_figures import ExperimentDisplay

        ExperimentDisplay(simulate(designs[0].name, rng=options.rng or 0)).save(path)
    elif folder:
        from germane.teaching.experiments import write_gallery

        with make_progress_line("drawing", after=1.0) as progress:
            write_gallery(path, designs, seed=options.rng or 0, progress=progress)
    else:
        experiments = [simulate(design.name, rng=options.rng or 0) for design in designs]
        writing.write(path, _write(experiments, options))


def _is_folder(path: str, designs: Sequence[Design]) -> bool:
    return len(designs) > 1 or path.endswith(("/", os.sep)) or os.path.isdir(path)


def _write(experiments: Sequence[Experiment], options: argparse.Namespace) -> str:
    match form := options.format:
        case "json":
            return as_json(
                add_schema({"experiments": [experiment.to_dict() for experiment in experiments]})
            )
        case "table":
            return "\n\n".join(map(str, experiments))
        case "csv" | "tsv":
            if len(experiments) > 1:
                raise InputError(f"--format {form} is one table; name one experiment.")
            return format_table(experiments[0].table(digits=None), options)
        case "markdown":
            return "\n".join(
                f"## {shown.title}\n\n{shown.design.line}\n\n{shown.table().markdown()}"
                for shown in experiments
            )
        case _:
            return "\n".join(FORMATS[form](experiment.table()) for experiment in experiments)


def _list_experiments() -> str:
    names = [*(design.name for design in EXPERIMENTS), ALL]
    lines = [*(design.line for design in EXPERIMENTS), "All of these."]
    widest = max(map(len, names))
    listed = (f"  {name:<{widest}}  {line}" for name, line in zip(names, lines, strict=True))
    return "experiments:\n" + "\n".join(listed)


def _run_explorer(options: argparse.Namespace) -> None:
    writing.write(options.output, germane.explorer().html)


COMMANDS = {
    "explorer": Command(
        _run_explorer,
        "Write one HTML page that needs no network: move, grade and tie the items of a list, or the"
        " boxes of an image, and see each measure's terms, value and calculation.",
        extra="output",
    ),
    "simulate": Command(
        _run_simulate,
        "Change one quantity, such as the ranks of the relevant items, and show how the measures"
        " respond.\nDraw an experiment with -o FILE.svg, .png or .pdf, or draw and describe it with"
        " -o FOLDER/.",
        "name",
        "format spreadsheet output",
        pictures=PICTURES,
        epilog=_list_experiments(),
    ),
}
