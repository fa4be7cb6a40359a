# SPDX-License-Identifier: Apache-2.0
"""The steps of a commissioning: measure, find, correct; align; steer; close the loop."""

from dataclasses import dataclass

from ringmaster.commissioning.session import Step

MAPPING = "mapping.yaml"
"""In the session's folder."""
UNDO = ("change", "undo")


@dataclass(frozen=True)
class Machine:
    """What is commissioned."""

    workspace: str
    lattice: str
    feedback: str
    """The application whose loop is closed at the end; empty: none."""


def steps_of(machine: Machine) -> list[Step]:
    """In their order. Files are in the session's folder, where the commands run.

    Optics before alignment, as that tells magnets apart by the optics; and twice behind it: an orbit that has moved to
    the centres feeds down otherwise in sextupoles, by some percent of beating, of which a correction leaves a tenth.
    """
    return [
        *_optics(machine, 1),
        *_alignment(machine),
        _steered(machine, 1),
        *(step for number in (2, 3) for step in (*_optics(machine, number), _steered(machine, number))),
        *(_closed(machine) if machine.feedback else []),
    ]


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
            computes=True,
        ),
        Step(
            f"correct-{number}",
            "the change of quadrupoles and skew windings that takes the errors away",
            ("loco", "correct", fit, "-o", change, *_here(machine)),
            computes=True,
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
            computes=True,
        ),
        Step(
            "apply-golden",
            "the feedback is to want this orbit",
            ("change", "apply", "golden.yaml", *_here(machine)),
            (*UNDO, "golden.yaml", *_here(machine)),
        ),
    ]


def _steered(machine: Machine, number: int) -> Step:
    """Currents of reverse bends bend, too, so the orbit is steered after each correction of the optics."""
    change = f"orbit-{number}.yaml"
    response = ("--response", f"response-{number}.h5", "--mapping", MAPPING)
    how = ("--target", "golden.yaml", "--apply", "--rounds", "3", "-o", change)
    about = "the beam goes through the centres"
    words = ("orbit", "correct", *response, *how, *_here(machine))
    return Step(f"orbit-{number}", about, words, (*UNDO, change, *_here(machine)))


def _closed(machine: Machine) -> list[Step]:
    """The feedback holds the orbit that there is."""
    named = ("--name", machine.feedback, *_here(machine))
    return [
        Step("golden", "the feedback is to hold the orbit that there is", ("feedback", "golden", "current", *named)),
        Step("close", "the loop is closed", ("feedback", "on", *named), ("feedback", "off", *named)),
    ]
