# SPDX-License-Identifier: Apache-2.0
"""What is wrong is told with its place and what to do, by `ringmaster twin` and by Python alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from ringmaster.cli.twin import twin as command
from ringmaster.errors import LatticeAbsent, LatticeInvalid, TwinArgument, TwinError, TwinNoAnswer
from ringmaster.twin import Kind, OrbitResponseMatrix, Twin, load_lattice, ohmi_envelope, orbit_response

CELL = "atquadrupole('QF', .3, {k})\natsbend('B', 1, 0.3)\natquadrupole('QD', .3, -1.2)\natdrift('D', 2)"
APERTURE = "ataperture('AP', [1e-3 2e-3 -1e-3 1e-3])\n"


def ring(k: str = "1.2", more: str = "") -> str:
    return f"r = {{\natdrift('D1', 1, 'Energy', 1e9)\n{more}{CELL.format(k=k)}\n}};\n"


FILES: dict[str, tuple[str, str, type[TwinError], str]] = {
    "no MATLAB file": ("a.mat", "hello\n", LatticeInvalid, r"a\.mat: this is no MATLAB file"),
    "no lattice": ("a.m", "hello\n", LatticeInvalid, r"a\.m: line 1: expected '=' behind hello; a lattice is NAME ="),
    "no MAD-X": ("a.madx", "\nhello;\n", LatticeInvalid, r"a\.madx: line 2: hello is no command"),
    "no format": ("a.txt", "hello\n", LatticeInvalid, r"a\.txt: its name tells no format"),
    "an unknown pass": ("a.m", ring(more="atquadrupole('Q', 1, 'IdTablePass')\n"), LatticeInvalid,
                        r"a\.m: line 3 \(Q\): the twin does not track IdTablePass; use"),
    "a NaN strength": ("a.m", ring(k="NaN"), LatticeInvalid, r'a\.m: line 3 \(QF\): element 1 \("QF"\): .*is nan'),
    "an infinite one": ("a.madx", "q: quadrupole, l = 1,\nk1 = 1/0;\nr: line = (q); beam;\n", LatticeInvalid,
                        r'a\.madx: line 1 \(q\): element 0 \("q"\): polynom_b\[1\] is inf'),
    "unstable": ("a.m", ring(k="50"), TwinNoAnswer, "unstable in the horizontal plane: .*; change the strengths"),
    "no way through": ("a.m", ring(more=APERTURE), TwinNoAnswer, r"lost at element 1 \(AP\), outside its aperture"),
}  # fmt: skip


def ask(path: Path) -> None:
    Twin(load_lattice(path)).linopt6()


@pytest.mark.parametrize("name", FILES)
def test_tells_what_is_wrong_with_a_file(name: str, tmp_path: Path) -> None:
    file, text, error, words = FILES[name]
    path = tmp_path / file
    path.write_text(text)
    with pytest.raises(error, match=words):
        ask(path)
    done = CliRunner().invoke(command, [str(path)])
    assert done.exit_code != 0
    assert isinstance(done.exception, error)
    assert done.output == ""


def test_tells_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(LatticeAbsent, match=r"nowhere\.mat: No such file or directory; name"):
        load_lattice(tmp_path / "nowhere.mat")
    with pytest.raises(LatticeInvalid, match=f"{tmp_path}: this is no ordinary file; name one"):
        load_lattice(tmp_path)


@pytest.fixture
def twin(tmp_path: Path) -> Twin:
    """Without cavity, BPM and corrector."""
    path = tmp_path / "ring.m"
    path.write_text(ring())
    return Twin(load_lattice(path))


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (lambda t: t.find_orbit6(), "find_orbit6 needs a cavity that is on; this lattice has none"),
        (lambda t: ohmi_envelope(t), "ohmi_envelope needs a cavity that is on; this lattice has none"),
        (lambda t: t.set_value_refpts("QF", "K", np.nan), "element 1 'QF' would be nan: give a finite number"),
        (lambda t: t.set_polynom(Kind.QUADRUPOLE, "B", 1, np.inf), "element 1 'QF' would be inf"),
        (lambda t: t.set_misalignment("B", x=np.nan), "misalignment of element 2 'B' is not finite"),
        (lambda t: t.set_value_refpts("D", "K", 1.0), "element 4 'D' has no polynom_b"),
        (lambda t: t.find_orbit4(dp=np.nan), "is not finite"),
        (lambda t: t.find_orbit4(refpts="X*"), r"no element of .*is named X\*"),
        (lambda t: orbit_response(t), "no BPMs to answer"),
        (lambda t: OrbitResponseMatrix(t, "h", bpmrefs="QD"), "no correctors to steer with"),
    ],
)
def test_tells_what_cannot_be_asked(do: Callable[[Any], Any], words: str, twin: Twin) -> None:
    with pytest.raises(TwinArgument, match=words):
        do(twin)


def test_tells_where_the_orbit_is_lost(tmp_path: Path) -> None:
    """Not only at the file's own strengths: the error of a magnet moves the orbit into an aperture."""
    path = tmp_path / "ring.m"
    path.write_text(ring(more=APERTURE.replace("[1e-3", "[-1e-3")))
    machine = Twin(load_lattice(path))
    assert np.all(machine.find_orbit4()[0] == 0)
    machine.set_misalignment("QD", x=5e-3)
    with pytest.raises(TwinNoAnswer, match=r"lost at element 1 \(AP\), outside its aperture"):
        machine.get_optics()
