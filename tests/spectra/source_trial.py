# SPDX-License-Identifier: Apache-2.0
"""The blind trial of the ranking of sources: ripples on supplies of the virtual ring, and rings without a culprit.

    .venv/bin/python tests/spectra/source_trial.py --seeds 100 --first 3101 --jobs 2 --out trial.json

Each seed is a ring of its own, with four questions (``source_cases``). What is true, and whether it can be seen at all
(d >= 8; d < 3 is nothing), is known from the ring before anything is ranked.
"""

import argparse
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from source_cases import Case, cases, draw_ring
from source_ring import design, record

from ringmaster.spectra.sources import NONE, NOTHING, rank_at

SEEN = 8.0
BINS = ((0.02, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 0.95), (0.95, 0.99), (0.99, 1.01))
KINDS = ("shown", "hidden", "quiet", "mains")


@dataclass(frozen=True)
class Outcome:
    """One question, and what was answered."""

    seed: int
    what: str
    where: str
    hz: float
    hidden: int
    truth: str
    d: float
    answer: list[str]
    first: str
    said: dict[str, float]
    """Probabilities of at least 2 %."""

    @property
    def size(self) -> str:
        """Whether it can be seen."""
        if self.truth == NOTHING:
            return "nothing"
        return "seen" if self.d >= SEEN else "faint"


def judge(seed: int, case: Case) -> Outcome:
    """Ranks the sources of one case."""
    matrix = design()
    found = rank_at(case.hz, case.window.series(set(case.hidden)), matrix.rows, matrix.columns, case.response)
    said = {one.name: one.probability for one in found.ranked} | {NONE: found.none, NOTHING: found.nothing}
    return Outcome(
        seed,
        case.what,
        case.where,
        case.hz,
        len(case.hidden),
        case.truth,
        case.d,
        found.answer,
        max(said, key=said.__getitem__),
        {name: round(one, 4) for name, one in said.items() if one >= BINS[0][0]},
    )


def ring_of(seed: int) -> list[Outcome]:
    """All questions about one ring."""
    with tempfile.TemporaryDirectory(prefix="source-trial-") as folder:
        ring, where = draw_ring(seed)
        return [judge(seed, case) for case in cases(ring, where, record(Path(folder), ring))]


def answers(outcomes: Iterable[Outcome]) -> str:
    """By kind and by whether the truth can be seen: how often it is first, and in the group that is answered."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for one in outcomes:
        truth = one.truth if one.truth in (NONE, NOTHING) else "a supply"
        for kind in (one.what, "all"):
            count = counts.setdefault((kind, f"{truth}, {one.size}" if truth != NOTHING else truth), Counter())
            count.update({"cases": 1, "first": int(one.first == one.truth), "group": int(one.truth in one.answer)})
            count["names"] += len(one.answer)
    lines = ["| question | truth | cases | first | in the group | names of a group |", "|---|---|---|---|---|---|"]
    for (kind, truth), count in sorted(counts.items(), key=lambda one: ((*KINDS, "all").index(one[0][0]), one[0][1])):
        size = count["names"] / count["cases"]
        lines.append(f"| {kind} | {truth} | {count['cases']} | {count['first']} | {count['group']} | {size:.1f} |")
    return "\n".join(lines)


def calibration(outcomes: Iterable[Outcome]) -> str:
    """How often what was said with a probability is true; and how often it ought to be, with its binomial error."""
    pairs = [(said, name == one.truth) for one in outcomes for name, said in one.said.items()]
    lines = ["| said | times | true | expected |", "|---|---|---|---|"]
    for low, high in BINS:
        some = [(said, right) for said, right in pairs if low <= said < high]
        said = np.array([one for one, _ in some])
        error = float(np.sqrt(np.sum(said * (1 - said))))
        true = sum(right for _, right in some)
        expected = f"{said.sum():.1f} ± {error:.1f}"
        lines.append(f"| {100 * low:.0f} to {100 * min(high, 1):.0f} % | {len(some)} | {true} | {expected} |")
    return "\n".join(lines)


def main() -> None:
    """Runs it, and prints the tables."""
    parser = argparse.ArgumentParser(description="the blind trial of the ranking of sources")
    parser.add_argument("--seeds", type=int, default=100, help="rings (100)")
    parser.add_argument("--first", type=int, default=3101, help="seed of the first (3101)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--out", type=Path, help="JSON file for all outcomes")
    given = parser.parse_args()
    os.environ.setdefault("RINGMASTER_LIBEXEC", str(Path(__file__).resolve().parents[2] / "build/libexec"))
    outcomes: list[Outcome] = []
    with Pool(given.jobs) as pool:
        for made in pool.imap(ring_of, range(given.first, given.first + given.seeds)):
            outcomes += made
            for one in made:
                print(f"{one.seed} {one.what} {one.hz:.1f} Hz d = {one.d:.3g}: {one.truth}; {one.said}", flush=True)
            if given.out:
                given.out.write_text(json.dumps([asdict(one) for one in outcomes], indent=1))
    print(answers(outcomes), calibration(outcomes), sep="\n\n")


if __name__ == "__main__":
    main()
