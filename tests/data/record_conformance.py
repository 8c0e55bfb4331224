"""Carry recorded answers of other tools over into conformance.json: a part of them, values only.

    python tests/data/record_conformance.py FOLDER

FOLDER holds cases.json and answers/*.json. Of every function of every tool, with every choice of
options, answers to a few cases are kept; of options that are only another cutoff, all are. No text
of the folder is kept but names: of tools, functions, options and cases. Tools that the folder does
not have keep the answers that conformance.json has of them; record_answers.py records such tools.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

JSON = Path(__file__).with_name("conformance.json")
KEPT = ("kind", "k", "qrels", "run", "ranking_stable", "padded", "actual", "ranking")
KEPT += ("y_true", "y_score", "detections", "n_gt", "name")
CASES = (
    "wx_11_R6", "den_R_gt_K", "den_short_list_R_lt_L", "den_mixed_users", "qs_no_relevant_query",
    "qs_missing_from_run", "qs_missing_both_ways", "qs_empty_ranking", "tie_group_top",
    "tie_float32_bm25", "score_all_negative", "graded_0123", "judged_minus1", "interp_R06",
    "rand_12_ties_graded", "qs_qid_equals_docid",
)  # fmt: skip

WHOLE = ("autorag", "beir-custom", "deepeval", "gdeval", "longmemeval", "mempalace", "mlflow")
WHOLE += ("mteb-2.18.18", "phoenix", "replay", "trulens", "unitxt")
"""Tools with few functions, of which answers to all of these cases are kept."""


def is_kept(case: dict[str, Any]) -> bool:
    return case["name"] in CASES or case["kind"] != "ir"


def plain(value: Any) -> Any:
    """Values shortened to what double precision tells apart at 1e-12; errors to the word."""
    if isinstance(value, float):
        return float(f"{value:.13g}")
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, str) and value not in ("NaN", "Infinity", "-Infinity"):
        return "ERROR"
    return value


def few(answers: dict[str, Any], most: int) -> dict[str, Any]:
    step = max(len(answers) // most, 1)
    return dict(list(answers.items())[::step][:most])


def keep_recorded(names: set[str]) -> dict[str, Any]:
    """Return the recorded answers to the cases that there are, by tool."""
    if not JSON.exists():
        return {}
    found = json.loads(JSON.read_text("utf-8"))["answers"]
    for tool in found.values():
        for function in tool["functions"]:
            known = {n: one for n, one in function["answers"].items() if n in names}
            function["answers"] = known
        tool["functions"] = [one for one in tool["functions"] if one["answers"]]
    return dict(found)


def main(folder: Path) -> None:
    cases = json.loads((folder / "cases.json").read_text("utf-8"))["cases"]
    kept = [{key: case[key] for key in KEPT if key in case} for case in cases if is_kept(case)]
    names = {case["name"] for case in kept}
    answers = keep_recorded(names)
    for path in sorted((folder / "answers").glob("*.json")):
        recorded = json.loads(path.read_text("utf-8"))
        functions = []
        alike: dict[str, int] = {}
        for function in recorded["functions"]:
            own = {n: plain(a) for n, a in function["answers"].items() if n in names}
            key = re.sub(
                r"\d+",
                "",
                json.dumps([function["function"], function.get("params"), function["input"]]),
            )
            room = 9 - alike.get(key, 0)
            chosen = few(own, min(room, 3)) if room > 0 else {}
            chosen = own if path.stem in WHOLE else chosen
            if chosen:
                alike[key] = alike.get(key, 0) + len(chosen)
                functions.append(
                    {
                        "function": function["function"],
                        "params": function.get("params") or {},
                        "input": function["input"],
                        "answers": chosen,
                    }
                )
        answers[path.stem] = {"version": recorded["version"], "functions": functions}
    answers = dict(sorted(answers.items(), key=lambda tool: f"{tool[0]}.json"))
    text = json.dumps({"cases": kept, "answers": answers}, separators=(",", ":"))
    JSON.write_text(text.replace('},{"function"', '},\n{"function"') + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
