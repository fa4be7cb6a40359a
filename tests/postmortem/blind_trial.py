# SPDX-License-Identifier: Apache-2.0
"""The blind trial of the ranking of causes: five kinds of culprit, many strengths, places and noises.

    .venv/bin/python tests/postmortem/blind_trial.py --each 40 --seed 2 --out trial.json

The ranking gets what a trigger would hand over: streams, the machine as designed, and a turn zero that is up to 5 ms
late. Whether an event can be seen at all is told beforehand, from the truth and the noise: of the readings with it less
those without it, as the best linear filter sees them over the noise, the length d (``blind_visible``). d >= 8 counts as
visible, d < 3 as invisible.
"""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from blind_cases import cases
from blind_ring import EVENT_TURN, Happening, evidence_of, machine, record
from blind_store import load_event, save_event
from blind_visible import visible_length

from ringmaster.postmortem.causes import Ranking, rank_causes
from ringmaster.postmortem.evidence import Series
from ringmaster.postmortem.machine import Machine

VISIBLE, INVISIBLE = 8.0, 3.0
LATEST_TURNS = 5785


@dataclass(frozen=True)
class Outcome:
    """One event, and what was made of it."""

    kind: str
    name: str
    strength: str
    seed: int
    length: float
    """d."""
    verdict: str
    names: list[str]
    probability: float
    ranking: list[tuple[str, float]]
    turns_off: int

    @property
    def is_right(self) -> bool:
        """Whether the first is the culprit, or a group that the BPMs cannot tell apart and that it is in."""
        return self.verdict == self.kind and (not self.name or self.name in self.names)


def happen(path: Path, truth: Happening) -> tuple[float, list[Series]]:
    """Lets it happen and keeps it there, or takes what was kept: d, and all streams."""
    kept = load_event(path, truth)
    if kept is not None:
        return kept
    folder = path.with_suffix("")
    with_it, without = record(folder, truth), record(folder, truth.quiet)
    length = visible_length(truth, with_it, without)
    save_event(path, truth, length, with_it)
    return length, with_it


def judge(path: Path, truth: Happening, described: Machine, late: int) -> tuple[Outcome, Ranking]:
    """Lets it happen, and has it explained."""
    length, with_it = happen(path, truth)
    ranking = rank_causes(evidence_of(with_it, described, late))
    verdict = ranking.verdict
    listed = [(cause.title, round(cause.probability, 4)) for cause in ranking.causes[:4]]
    said = (
        verdict.kind,
        list(verdict.names),
        verdict.probability,
        listed,
        verdict.turn - EVENT_TURN,
    )
    return Outcome(truth.kind, truth.name, truth.strength, truth.seed, length, *said), ranking


def summary(outcomes: Iterable[Outcome]) -> Mapping[str, Mapping[str, int]]:
    """Counts by kind, and of all."""
    counts: dict[str, Counter[str]] = {}
    for one in outcomes:
        size = "visible" if one.length >= VISIBLE else "invisible" if one.length < INVISIBLE else "between"
        answer = "right" if one.is_right else "unknown" if one.verdict == "unknown" else "wrong"
        for kind in (one.kind, "all"):
            counts.setdefault(kind, Counter()).update([size, f"{size} {answer}"])
    return counts


def table(counts: Mapping[str, Mapping[str, int]]) -> str:
    """In Markdown."""
    columns = [
        f"{size} {what}" for size in ("visible", "between", "invisible") for what in ("right", "unknown", "wrong")
    ]
    lines = [
        "| culprit | " + " | ".join(columns) + " |",
        "|---|" + "---|" * len(columns),
    ]
    for kind, count in sorted(counts.items(), key=lambda one: one[0] == "all"):
        lines.append(f"| {kind} | " + " | ".join(str(count.get(column, 0)) for column in columns) + " |")
    return "\n".join(lines)


def reliability(outcomes: Iterable[Outcome]) -> str:
    """How often an answer was right that was as probable as it said."""
    named = [one for one in outcomes if one.verdict != "unknown"]
    lines = ["| said | answers | right |", "|---|---|---|"]
    for low, high in ((0.65, 0.8), (0.8, 0.95), (0.95, 0.99), (0.99, 1.01)):
        some = [one.is_right for one in named if low <= one.probability < high]
        lines.append(f"| {low:g} to {min(high, 1):g} | {len(some)} | {sum(some)} |")
    return "\n".join(lines)


def _task(given: tuple[Path | None, Happening, int]) -> Outcome:
    kept, truth, late = given
    with tempfile.TemporaryDirectory(prefix="blind-trial-") as folder:
        return judge((kept or Path(folder)) / f"{truth.seed}.npz", truth, _machine(), late)[0]


@cache
def _machine() -> Machine:
    return machine()


def main() -> None:
    """Runs it, and prints the tables."""
    parser = argparse.ArgumentParser(description="the blind trial of the ranking of causes")
    parser.add_argument("--each", type=int, default=40, help="events of each kind (40)")
    parser.add_argument("--seed", type=int, default=2, help="of the events and their rings (2)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--events", type=Path, help="folder to keep the events in, and to take them from next time")
    parser.add_argument("--out", type=Path, help="JSON file for all outcomes")
    given = parser.parse_args()
    random = np.random.default_rng(given.seed + 1)
    tasks = [(given.events, truth, int(random.integers(0, LATEST_TURNS))) for truth in cases(given.each, given.seed)]
    if given.events:
        given.events.mkdir(parents=True, exist_ok=True)
    outcomes = []
    with Pool(given.jobs) as pool:
        for outcome in pool.imap(_task, tasks):
            outcomes.append(outcome)
            what = "right" if outcome.is_right else outcome.verdict
            of = f"{outcome.kind} {outcome.name} {outcome.strength}"
            print(
                f"{of}: d = {outcome.length:.3g}, {what} {outcome.ranking[:2]}",
                flush=True,
            )
            if given.out:
                given.out.write_text(json.dumps([asdict(one) for one in outcomes], indent=1))
    print(table(summary(outcomes)), reliability(outcomes), sep="\n\n")


if __name__ == "__main__":
    main()
