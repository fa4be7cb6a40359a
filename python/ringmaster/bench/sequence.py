# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench sequence`: what a step of a sequence takes, and whether its bits are the same each time.

The steps are those of `ringmaster-cost sequence`, on one core, by rounds: 100 ramps that are all under way, each with a
supply of its own, beside the same as a C `switch` that is written by hand and neither watches nor judges anything. For
the bits a shipped sequence is simulated twice, and its recorded streams are replayed through the host, which compares
every step with its decision record.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measurement import Measurement
from ringmaster.bench.options import COUNT, option
from ringmaster.bench.printed import printed
from ringmaster.errors import SimulationError
from ringmaster.places import CONFIGS, find_program
from ringmaster.programs.cores import cores
from ringmaster.report.headlines import Figure, exact, of_values
from ringmaster.report.section import Columns, Table
from ringmaster.report.verdicts import Headline
from ringmaster.simulation import Simulation, replay, simulate

COST = "ringmaster-cost"
RAMPS, BY_HAND = "100 ramps", "100 ramps by hand"
MOST_NS = 1000.0
"""Of 100 actions; the target."""
ROUND_S = 3.0
SIMULATED_S = 0.3
LIMIT_S = 120.0
_LINE = re.compile(r"^(.+?) +([0-9.]+) ns a step")


@dataclass(frozen=True)
class Options:
    """How much of it."""

    rounds: int = option(5, "Of the steps, and of two simulations and a replay.", COUNT)
    repeats: int = option(21, "Of each case, in a round.", COUNT)


@dataclass(frozen=True)
class Steps:
    """A round of the cost: nanoseconds a step, by case."""

    ns: dict[str, float]

    @property
    def words(self) -> str:
        """On one line."""
        return ", ".join(f"{case} {ns:.0f} ns" for case, ns in self.ns.items())


@dataclass(frozen=True)
class Bits:
    """Two simulations of one sequence, and a replay."""

    steps: int
    different_setpoints: int
    """Between the two."""
    steps_replayed: int
    """The same to the bit as on record."""

    @property
    def words(self) -> str:
        """On one line."""
        return (
            f"{self.steps} steps simulated twice, {self.different_setpoints} setpoints differ; "
            f"{self.steps_replayed} replayed the same to the bit"
        )


class SequenceSteps(Measurement[Options, Any]):
    """Measure what a step of a sequence with 100 actions takes, and whether its bits are the same each time.

    Beside it the same ramps as a C `switch` that is written by hand. Ctrl-C prints what was measured so far.
    """

    name, title, options_type = "sequence", "Sequences", Options
    examples = ("", "--json > sequence.json", "--rounds 2")
    about = (
        "One core. A step in which 100 actions move a supply each, beside the same ramps as a C switch that is written "
        "by hand; a shipped sequence simulated twice, and replayed from its records."
    )

    @classmethod
    def peers(cls, _options: Options) -> Sequence[str]:
        """The steps, and their bits."""
        return ("steps", "bits")

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """Fewer rounds."""
        return Options(rounds=max(1, min(5, int(seconds / ROUND_S))))

    def take(self, peer: str) -> Any:
        """One of them."""
        return self._steps() if peer == "steps" else bits()

    def _steps(self) -> Steps:
        command = [find_program(COST), "sequence", "--rounds", str(self.options.repeats)]
        return steps_of(printed(COST, ["taskset", "-c", str(cores()[0]), *command], LIMIT_S))

    def _figure(self, value: Callable[[Steps], float]) -> Figure | None:
        return of_values((value(row) for row in self.rows if isinstance(row, Steps)), "rounds")

    @property
    def bits(self) -> list[Bits]:
        """Of all rounds."""
        return [row for row in self.rows if isinstance(row, Bits)]

    def headlines(self) -> list[Headline]:
        """The step, its peer, and the bits."""
        seen = self.bits
        differ = float(sum(row.different_setpoints + row.steps - row.steps_replayed for row in seen)) if seen else None
        return [
            Headline("step_ns", self._figure(lambda row: row.ns[RAMPS]), "ns", MOST_NS, about="100 ramps under way"),
            Headline("by_hand_ns", self._figure(lambda row: row.ns[BY_HAND]), "ns", about="the same, a switch in C"),
            Headline(
                "ratio_to_by_hand", self._figure(lambda row: row.ns[RAMPS] / row.ns[BY_HAND]), "×",
                about="with limits, watching and requests",
            ),
            Headline("different_bits", exact(differ, "rounds"), "steps", 0.0, about="simulated again, or replayed"),
        ]  # fmt: skip

    def tables(self) -> list[Table]:
        """All cases."""
        cases = list(dict.fromkeys(case for row in self.rows if isinstance(row, Steps) for case in row.ns))
        columns: Columns = {
            "in a step": lambda case: case,
            "ns": lambda case: self._figure(lambda row: row.ns[case]),
        }
        return [Table.of("A step", cases, columns)] if cases else []

    def data(self) -> dict[str, object]:
        """Every turn."""
        return {"turns": [asdict(row) for row in self.rows]}


def steps_of(said: str) -> Steps:
    """From the lines of the cost. Raises NotMeasured where the two that are compared are not among them."""
    found = [match for line in said.splitlines() if (match := _LINE.match(line))]
    ns = {match[1].strip(): float(match[2]) for match in found}
    if not {RAMPS, BY_HAND} <= set(ns):
        raise NotMeasured(f"{COST} sequence printed no figures of {RAMPS!r} and {BY_HAND!r}")
    return Steps(ns)


def bits() -> Bits:
    """Raises NotMeasured where a sequence cannot be simulated."""
    with TemporaryDirectory(prefix="ringmaster-bench-sequence-") as folder:
        try:
            first, second = (_simulated(Path(folder) / name) for name in ("first", "second"))
            replayed = replay(CONFIGS / "sequence.yaml", "sequence", first.recorded)
        except SimulationError as error:
            raise NotMeasured(f"a sequence: {error}") from None
        same = np.asarray(first.setpoints).view(np.uint64) == np.asarray(second.setpoints).view(np.uint64)
        return Bits(first.cycles, int((~same).sum()), replayed.steps_same)


def _simulated(out: Path) -> Simulation:
    config, overlay = CONFIGS / "sequence.yaml", CONFIGS / "sequence-ring.yaml"
    return simulate(config, overlay, "sequence", out, seconds=SIMULATED_S, at=["0.01:sequence/run=2"],
                    record="all,decisions")  # fmt: skip
