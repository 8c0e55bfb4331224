"""Write docs/names.md from the tables of names: ``python docs/generate_names.py``."""

from pathlib import Path

from germane.measures.spelling import ABSENT, AMBIGUOUS, OVERLAPS, SPELLINGS

TARGET = Path(__file__).parent / "names.md"

READ = """\
# Names of measures

<!-- python docs/generate_names.py writes this page from src/germane/measures/spelling.py. -->

germane understands the spellings that people and other tools use. Words can be joined by `_`, `-`, a blank or nothing, capitals do not matter, and a
cutoff can follow after `@`, after `_at_` or directly: `precision_at_10`, `NDCG10`, `hit-rate@5`, `top-5 accuracy`. In addition to the names and aliases in
[Measures](measures.md), it knows these names, where k is a cutoff:

| name | measure |
|---|---|
"""

UNCLEAR = """
## Names that mean two things

These names are refused, and the message gives both meanings, so that one is not mistaken for the other. `#` and k are numbers.

| name | one meaning | the other |
|---|---|---|
"""

LACKING = """
## Measures that germane does not have

If you use one of these names, the message says so, rather than suggesting a measure with a similar name.

| name | meaning |
|---|---|
"""


def page() -> str:
    return f"{READ}{spellings()}{UNCLEAR}{meanings()}{LACKING}{absent()}"


def spellings() -> str:
    named: dict[str, list[str]] = {}
    for words, measure in SPELLINGS.items():
        needs_cutoff = measure.endswith("@k") and "k" not in words.split()
        named.setdefault(measure, []).append(f"{words} @k" if needs_cutoff else words)
    return "".join(f"| {', '.join(words)} | `{measure}` |\n" for measure, words in named.items())


def meanings() -> str:
    rows: dict[str, list[str]] = {}
    for words, both in AMBIGUOUS.items():
        if words.split()[-1] not in map(str, OVERLAPS):
            told = " | ".join(f"`{one.measure}`, {one.says}".replace("{k}", "#") for one in both)
            rows.setdefault(told, []).append(words)
    lines = [f"| {', '.join(words)} | {told} |\n" for told, words in rows.items()]
    boxes = "| AP50, mAP50 … AP95 | `AP@50`, of the first 50 items | AP50 in [germane.boxes](which-map.md), of boxes that overlap by .50 |\n"
    persistence = "| RBP50, RBP55 … RBP95 | `RBP@50`, of the first 50 items | `RBP(p=0.50)`, of readers who go on with a probability of .50 |\n"
    return "".join([*lines, persistence, boxes])


def absent() -> str:
    return "".join(f"| {', '.join(names)} | {says} |\n" for names, says in ABSENT.items())


if __name__ == "__main__":
    TARGET.write_text(page(), "utf-8")
