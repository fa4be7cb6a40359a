# SPDX-License-Identifier: Apache-2.0
"""What `ringmaster response plan` and `measure` share: which machine, what is moved, and how much."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ringmaster.cli.options import ServerFile, workspace_option

if TYPE_CHECKING:
    from ringmaster.response.expected import Expected
    from ringmaster.response.plan import Forecast, Plan

Command = TypeVar("Command", bound=Callable[..., Any])
PLANES = {"x": "horizontal", "y": "vertical", "rf": "dispersion"}

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
PATTERNS: dict[str, Any] = {"multiple": True, "metavar": "PATTERN"}
SHOWN: dict[str, Any] = {"show_default": True}
BAND = (click.FloatRange(0.1), click.FloatRange(1))

_OPTIONS = (
    click.argument("lattice"),
    click.option(
        "--mapping",
        "--map",
        "mapping",
        type=FILE,
        required=True,
        metavar="FILE",
        help="Which element is which reading and supply.",
    ),
    click.option(
        "--server", type=ServerFile(), metavar="CONFIG", help="Its configuration; else that of the running one."
    ),
    click.option(
        "--mode",
        type=click.Choice(["users", "machine"]),
        default="users",
        help="users: a tenth of the beam's size at most, at every BPM. machine: 30 µm RMS of orbit.",
        **SHOWN,
    ),
    click.option("--seconds", type=click.FloatRange(0.5), default=10.0, help="Of data in all.", **SHOWN),
    click.option(
        "--band",
        type=BAND,
        default=(120.0, 320.0),
        metavar="LOW HIGH",
        help="Hz, between which supplies are moved: above ground motion, below what supplies can.",
        **SHOWN,
    ),
    click.option("--groups", type=click.IntRange(1), default=1, help="Moved one after the other.", **SHOWN),
    click.option(
        "--at", "at_hz", type=click.FloatRange(0.1), metavar="HZ", help="Frequencies as near to it as can be."
    ),
    click.option("--mains", "mains_hz", type=click.FloatRange(0), default=50.0, help="Hz; 0: none.", **SHOWN),
    click.option("--wander", type=click.FloatRange(0, 0.1), default=0.001, help="Of the mains, relative.", **SHOWN),
    click.option("--clear", "clear_hz", type=click.FloatRange(0), default=1.0, help="Hz from each line.", **SHOWN),
    click.option(
        "--avoid", type=click.FloatRange(0.1), multiple=True, metavar="HZ", help="A further line. Repeatable."
    ),
    click.option("--supplies", help="Only these. Repeatable.", **PATTERNS),
    click.option("--application", default="excite", metavar="NAME", help="That moves them.", **SHOWN),
    click.option("--coupling", type=click.FloatRange(0, 1), default=0.01, help="Of the emittances.", **SHOWN),
    click.option("--noise-um", type=click.FloatRange(0), default=0.2, help="Of a reading, for the forecast.", **SHOWN),
    click.option("--plants", type=FILE, metavar="FILE", help="With the key `families`, as a feedback's file."),
    workspace_option,
)


def of_a_plan(command: Command) -> Command:
    """LATTICE, and all that a plan needs."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class Asked:
    """What the options say."""

    lattice: str
    mapping: Path
    server: Path | None
    mode: str
    seconds: float
    band: tuple[float, float]
    groups: int
    at_hz: float | None
    mains_hz: float
    wander: float
    clear_hz: float
    avoid: tuple[float, ...]
    supplies: tuple[str, ...]
    application: str
    coupling: float
    noise_um: float
    plants: Path | None
    workspace: str | None

    def expect(self, server: Mapping[str, Any]) -> "Expected":
        """The machine."""
        from ringmaster.response.expected import expect

        return expect(
            self.lattice,
            self.mapping,
            server,
            application=self.application,
            patterns=self.supplies,
            coupling=self.coupling,
            plants=self.plants,
        )

    def make(self, expected: "Expected", stands: Mapping[str, float] | None = None) -> "Plan":
        """The plan, with a progress bar."""
        from ringmaster.cli.tune_options import progress_bar
        from ringmaster.response.frequencies import Mains
        from ringmaster.response.plan import make_plan

        if self.band[0] >= self.band[1]:
            raise click.UsageError(f"--band: found {self.band[0]:g} {self.band[1]:g}, expected the lower one first")
        mains = Mains(self.mains_hz, self.wander, self.clear_hz, self.avoid)
        with progress_bar("phases for a small crest") as progress:
            return make_plan(
                expected,
                self.mode,
                self.seconds,
                self.band,
                mains=mains,
                groups=self.groups,
                at_hz=self.at_hz,
                stands=stands,
                progress=progress,
            )


def server_of(asked: Asked) -> dict[str, Any]:
    """The configuration that --server names, or that of the running server."""
    from ringmaster.machine.server_file import of_workspace, read_yaml

    if asked.server is not None:
        read = read_yaml(asked.server)
        return read if isinstance(read, dict) else {}
    from ringmaster.fabric.workspace import attach

    with attach(asked.workspace) as ws:
        return of_workspace(ws)


def tell_plan(plan: "Plan", expected: "Expected", noise_um: float, err: bool = False) -> "Forecast":
    """What it will come to."""
    from ringmaster.response.plan import forecast

    found = forecast(expected, plan, 1e3 * noise_um)
    hz = [plan.hz(tone) for group in plan.groups for tone in group]
    groups = f" in {len(plan.groups)} groups" if len(plan.groups) > 1 else ""
    click.echo(
        f"{len(hz)} supplies{groups} at {min(hz):.1f} to {max(hz):.1f} Hz, mode {plan.mode}, {plan.seconds:.1f} s",
        err=err,
    )
    for plane in "xy":
        click.echo(
            f"  {plane}: orbit {found.orbit_um[plane]:.3g} µm RMS, at most {100 * found.size_share[plane]:.3g} % "
            f"of the beam's size at any BPM",
            err=err,
        )
    click.echo(f"  crest factor {found.crest:.2f}; {found.at_most} supplies are at their own limit or slew", err=err)
    for plane, error in found.relative.items():
        click.echo(
            f"  {PLANES[plane]}: error of an element {100 * error:.2g} % of the RMS of its column, "
            f"{100 * found.worst[plane]:.2g} % at worst, by {noise_um:g} µm of noise alone",
            err=err,
        )
    return found


def plan_json(plan: "Plan", found: "Forecast") -> dict[str, Any]:
    """For scripts."""
    return {
        "mode": plan.mode,
        "seconds": plan.seconds,
        "records": plan.records,
        "groups": len(plan.groups),
        "orbit_um": dict(found.orbit_um),
        "size_share": dict(found.size_share),
        "crest": found.crest,
        "relative_error": dict(found.relative),
        "worst_relative_error": dict(found.worst),
        "held_back": found.at_most,
        "tones": [
            {
                "supply": tone.supply,
                "group": number,
                "hz": plan.hz(tone),
                "amplitude": tone.amplitude,
                "phase": tone.phase,
            }
            for number, group in enumerate(plan.groups)
            for tone in group
        ],
    }
