# SPDX-License-Identifier: Apache-2.0
"""The steps of a commissioning: measure, find, correct; align; steer; close the loop."""

from dataclasses import dataclass

from ringmaster.commissioning.session import Step

MAPPING = "mapping.yaml"
"""In the session's folder."""
UNDO = ("change", "undo")
HOLD = "the orbit is that of the beginning again"
CENTRES = "the beam goes through these centres"


@dataclass(frozen=True)
class Machine:
    """What is commissioned."""

    workspace: str
    lattice: str
    feedback: str
    """The application whose loop is closed at the end; empty: none."""


def steps_of(machine: Machine) -> list[Step]:
    """In their order. Files are in the session's folder, where the commands run."""
    steps = [_kept(machine)]
    for number in (1, 2):
        steps += [*_optics(machine, number), _steered(machine, f"hold-{number}", number, "start.csv", HOLD)]
    steps += [*_alignment(machine), _steered(machine, "orbit-1", 2, "golden.yaml", CENTRES)]
    steps += [*_optics(machine, 3), _steered(machine, "orbit-2", 3, "golden.yaml", CENTRES)]
    return steps + (_closed(machine) if machine.feedback else [])


def _model(machine: Machine) -> tuple[str, ...]:
    return (machine.lattice, "--mapping", MAPPING)


def _here(machine: Machine) -> tuple[str, ...]:
    return ("-w", machine.workspace)


def _optics(machine: Machine, number: int) -> list[Step]:
    """A measured response, what it tells of the optics, and their correction."""
    response, fit, change = f"response-{number}.h5", f"loco-{number}.h5", f"optics-{number}.yaml"
    measured = ("response", "measure", *_model(machine), "--mode", "machine", "-o", response, *_here(machine))
    return [
        Step(f"measure-{number}", "the orbit's response to all correctors and the RF", measured),
        Step(
            f"fit-{number}",
            "gradients, skew, gains and rolls that explain it",
            ("loco", "fit", response, *_model(machine), "-o", fit),
        ),
        Step(
            f"correct-{number}",
            "the change of quadrupoles and skew windings that takes the errors away",
            ("loco", "correct", fit, "-o", change, *_here(machine)),
        ),
        Step(
            f"apply-{number}",
            "the optics are corrected",
            ("change", "apply", change, "--steps", "5", *_here(machine)),
            (*UNDO, change, *_here(machine)),
        ),
    ]


def _alignment(machine: Machine) -> list[Step]:
    """Where the magnets' centres are."""
    named = ("--application", machine.feedback) if machine.feedback else ()
    return [
        Step(
            "align",
            "what the BPMs read where the beam goes through the centres of magnets",
            ("bba", "measure", *_model(machine), "-o", "bba.h5", *_here(machine)),
        ),
        Step(
            "centres",
            "the golden orbit through these centres",
            ("bba", "correct", "bba.h5", "--change", "golden.yaml", *named, *_here(machine)),
        ),
        Step(
            "apply-golden",
            "the feedback is to want this orbit",
            ("change", "apply", "golden.yaml", *_here(machine)),
            (*UNDO, "golden.yaml", *_here(machine)),
        ),
    ]


def _kept(machine: Machine) -> Step:
    """The orbit of the beginning is kept: currents of reverse bends bend, too, and an orbit that moves feeds down."""
    words = ("orbit", "show", "-o", "start.csv", *_here(machine))
    return Step("start", "the orbit as it is, to come back to", words)


def _steered(machine: Machine, name: str, of_response: int, target: str, about: str) -> Step:
    change = f"{name}.yaml"
    response = ("--response", f"response-{of_response}.h5", "--mapping", MAPPING)
    how = ("--target", target, "--apply", "--rounds", "3", "-o", change)
    return Step(name, about, ("orbit", "correct", *response, *how, *_here(machine)), (*UNDO, change, *_here(machine)))


def _closed(machine: Machine) -> list[Step]:
    """The feedback holds the orbit that there is."""
    named = ("--name", machine.feedback, *_here(machine))
    return [
        Step("golden", "the feedback is to hold the orbit that there is", ("feedback", "golden", "current", *named)),
        Step("close", "the loop is closed", ("feedback", "on", *named), ("feedback", "off", *named)),
    ]
