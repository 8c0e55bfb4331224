"""Record agreement of judges by other tools, and corrected means of prediction-powered inference.

    python tests/data/record_judges.py

writes judges.json beside this file. Needs NumPy, pandas, scikit-learn, krippendorff, irrCAC and ppi-python.
"""

import json
import warnings
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
from irrCAC.raw import CAC
from ppi_py import ppi_mean_pointestimate
from sklearn.metrics import cohen_kappa_score

SHAPES = (
    (40, [0.5, 0.3, 0.2], 0.3), (60, [0.9, 0.1], 0.1), (30, [0.25] * 4, 0.6), (50, [0.94, 0.02, 0.02, 0.02], 0.05),
)  # fmt: skip


def record_pair(rng, size, shares, noise):
    first = rng.choice(len(shares), size, p=shares)
    second = np.where(rng.random(size) < noise, rng.choice(len(shares), size), first)
    first[0] = second[1] = len(shares) - 1
    both, frame = np.array([first, second]), pd.DataFrame({"a": first, "b": second})

    def compute_gwet(weights):
        return CAC(frame, weights=weights, digits=12).gwet()["est"]["coefficient_value"]

    numbers = {
        "raw": (first == second).mean(),
        "kappa": cohen_kappa_score(first, second),
        "kappa_linear": cohen_kappa_score(first, second, weights="linear"),
        "kappa_quadratic": cohen_kappa_score(first, second, weights="quadratic"),
        "alpha": krippendorff.alpha(both, level_of_measurement="nominal"),
        "alpha_ordinal": krippendorff.alpha(both, level_of_measurement="ordinal"),
        "ac1": compute_gwet("identity"),
        "ac2": compute_gwet("quadratic"),
    }
    return {"both": both.tolist(), **{name: float(number) for name, number in numbers.items()}}


def record_several(rng, size, grades):
    truth = rng.choice(grades, size)
    rows = [np.where(rng.random(size) < 0.3, rng.choice(grades, size), truth) for _ in range(4)]
    given = np.array(rows, float)
    given[rng.random(given.shape) < 0.25] = np.nan
    shown = [[None if grade != grade else grade for grade in row] for row in given.tolist()]
    alpha, ordinal = (
        float(krippendorff.alpha(given, level_of_measurement=level))
        for level in ("nominal", "ordinal")
    )
    return {"grades": shown, "alpha": alpha, "alpha_ordinal": ordinal}


def record_means(rng, total, drawn):
    model = rng.random(total)
    people = np.clip(model[:drawn] + rng.normal(0, 0.2, drawn) - 0.1, 0, 1)
    means = [
        float(ppi_mean_pointestimate(people, model[:drawn], model[drawn:], lam=lam)[0])
        for lam in (0, 1)
    ]
    return {
        "people": people.tolist(),
        "model": model.tolist(),
        "lam_0": means[0],
        "lam_1": means[1],
    }


def main():
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(3)
    recorded = {
        "by": "scikit-learn 1.9.1, krippendorff 0.9.0, irrCAC 0.4.4, ppi-python 0.2.3",
        "pairs": [record_pair(rng, *shape) for shape in SHAPES],
        "several": [record_several(rng, 25, 3), record_several(rng, 30, 4)],
        "means": record_means(rng, 80, 20),
    }
    Path(__file__).with_name("judges.json").write_text(json.dumps(recorded) + "\n", "utf-8")


if __name__ == "__main__":
    main()
