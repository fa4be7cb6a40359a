# SPDX-License-Identifier: Apache-2.0
"""A ring with hidden errors whose closed orbits are found exactly, to try an alignment on without a server.

A reading is the mean over some hundredths of a second. Orbits are found with all strengths and corrections as they
stand at that moment, nonlinear and in six dimensions; magnets shake about them; BPMs have offsets, gains, rolls, noise.
"""

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ringmaster.bba.magnets import Target, targets_of
from ringmaster.bba.plant import BeamLost, Floats, Readings, Sine, SupplyFailed
from ringmaster.errors import TwinNoAnswer
from ringmaster.machine.knobs import Knobs
from ringmaster.machine.mapping import Mapping as MachineMapping
from ringmaster.twin.elements import MAGNETS, Kind
from ringmaster.twin.lattice import Lattice
from ringmaster.twin.orbit import find_orbit
from ringmaster.twin.response import orbit_response
from ringmaster.twin.twin import Twin

GROWTH = 6
"""Steps in which errors grow while correctors steer the orbit: 30 µm at once would lose the beam."""
STEERINGS = 3
"""In each step, and after the last …"""
LAST_STEERINGS = 6
STEERED = 1e-3
"""Singular values below this share of the largest are left out."""
CUT_SIGMA = 2.0
SAMPLES = 22
"""Orbits in the common period of a swing: its second harmonics must be below half of it."""
READING_HZ = 9642.0
NM = 1e9
_LONGEST_S = 0.016
"""Of one sample: the correlation time of the ground's motion."""
_PIECE = re.compile(r"^([A-Z]+\d?)[LH]?(_.*)$")


@dataclass(frozen=True)
class Errors:
    """RMS of what is drawn, cut at two sigma."""

    magnet_offset_um: float = 30.0
    gradient: float = 0.001
    """Relative, of quadrupoles."""
    bpm_offset_um: float = 200.0
    bpm_gain: float = 0.03
    bpm_roll_mrad: float = 5.0
    noise_um: float = 0.2
    """Of a reading at 9642 Hz."""
    ground_nm: float = 20.0
    """Of each magnet, below ``ground_hz``; above it falls."""
    ground_hz: float = 10.0


class ModelPlant:
    """Such a ring. ``fails`` is called before each move with its number and may raise, for tests."""

    def __init__(
        self,
        lattice: Lattice,
        mapping: MachineMapping,
        errors: Errors,
        seed: int,
        settle_s: float = 0.1,
        fails: Callable[[int, Mapping[str, float]], None] = lambda _number, _offsets: None,
    ) -> None:
        self.mapping, self.rows, self.settle_s = mapping, mapping.rows, settle_s
        self._errors, self._fails = errors, fails
        self._random = np.random.default_rng(seed)
        self.twin = Twin(lattice)
        if len(lattice.get_cavities()):
            self.twin.enable_6d()
        self._bpms = list(mapping.bpms)
        self._guess: Floats | None = None
        self._grow()
        self._draw_bpms()
        self._knobs = Knobs(self.twin, mapping)
        self.moved: dict[str, float] = {}
        """Offsets of supplies that do not stand where they stood."""
        self._sines: tuple[Sine, ...] = ()
        self._began_s = 0.0
        self._now_s = 0.0
        self._moves = 0
        self._cycle: tuple[float, Floats] | None = None
        self.is_lost = False
        """Set it to lose the beam."""

    # ---- what a plant is

    @property
    def machine_s(self) -> float:
        """Time of the machine since it was made."""
        return self._now_s

    def swing(self, sines: Sequence[Sine]) -> None:
        """Starts them together."""
        self._sines, self._cycle = tuple(sines), None
        self._began_s = self._now_s
        self._now_s += 2 * self.settle_s

    def still(self) -> None:
        """Ends them."""
        self._sines, self._cycle = (), None
        self._now_s += self.settle_s

    def move(self, offsets: Mapping[str, float]) -> None:
        """All of them together."""
        self._moves += 1
        self._fails(self._moves, offsets)
        self._set(offsets)
        self._now_s += self.settle_s

    def read(self, seconds: float) -> Readings:
        """From now on."""
        if self.is_lost:
            raise BeamLost("the beam was lost")
        period_s, cycle = self._periodic()
        step_s = period_s / cycle.shape[1]
        if step_s > _LONGEST_S:
            raise ValueError(f"{step_s:g} s from one orbit to the next is more than {_LONGEST_S:g} s")
        count = max(1, round(seconds / step_s))
        time_s = self._now_s - self._began_s + step_s * np.arange(count)
        place = time_s / period_s % 1.0
        orbit = _between(cycle, place) + self._shaken(count, step_s)
        read = self._read(orbit)
        noise = self._errors.noise_um * 1e3 / math.sqrt(max(1.0, READING_HZ * step_s))
        self._now_s += seconds
        return Readings(time_s, read + self._random.normal(0.0, noise, read.shape), np.full(len(read), noise))

    def put_back(self) -> None:
        """All that was moved or swings."""
        self._sines, self._cycle = (), None
        self._set(dict.fromkeys(self.moved, 0.0))
        self._now_s += self.settle_s

    # ---- the truth

    def truth_m(self, target: Target) -> Floats:
        """What the BPM reads where the beam goes through the magnet's centre: x and y, m."""
        centre = self.offset_of_magnet(target.magnet.elements[0])
        return np.asarray(self._gain[target.bpm] @ centre + self._offset[target.bpm], np.float64)

    def offset_of_magnet(self, element: int) -> Floats:
        """By how much it is displaced, m."""
        return np.asarray(self._displaced[element], np.float64)

    def orbit_to_centres_m(self) -> Floats:
        """[target, plane]: of the beam as it stands, less the centres of the magnets, at the BPMs; m."""
        targets, _ = targets_of(self.twin, self.mapping)
        orbit = self._orbit()
        centres = [self._displaced[target.magnet.elements[0]] for target in targets]
        return np.asarray(orbit[[t.bpm for t in targets]] - np.array(centres), np.float64)

    # ---- making it

    def _normal(self, sigma: float, shape: tuple[int, ...]) -> Floats:
        drawn = self._random.normal(0.0, 1.0, shape)
        while (far := np.abs(drawn) > CUT_SIGMA).any():
            drawn[far] = self._random.normal(0.0, 1.0, int(far.sum()))
        return sigma * drawn

    @cached_property
    def _magnets(self) -> list[list[int]]:
        """Elements of each magnet: pieces of one name, and the parts B2L, B2H, B2L of one dipole."""
        lattice = self.twin.lattice
        chosen = [i for i in range(len(lattice)) if lattice[i].kind in MAGNETS]

        def key(i: int) -> str:
            name, match = lattice.names[i], _PIECE.match(lattice.names[i])
            return "".join(match.groups()) if match and lattice[i].kind == Kind.DIPOLE else name

        return [list(pieces) for _, pieces in itertools.groupby(chosen, key)]

    def _grow(self) -> None:
        offsets = self._normal(self._errors.magnet_offset_um * 1e-6, (len(self._magnets), 2))
        self._displaced = {i: offset for pieces, offset in zip(self._magnets, offsets, strict=True) for i in pieces}
        for i in self.twin.lattice.find(kind=Kind.QUADRUPOLE):
            gradient = float(self.twin[int(i)].PolynomB[1]) * (1 + float(self._normal(self._errors.gradient, (1,))[0]))
            self.twin.set_polynom(int(i), "B", 1, gradient)
        steerers = [(e, p) for group in self.mapping.groups for e, p in ((e, group.plane) for e in group.elements)]
        response = orbit_response(self.twin, self._bpms, steerers)[:, :, :-1]
        inverse = np.linalg.pinv(response.reshape(-1, len(steerers)), rcond=STEERED)
        for share in np.linspace(1 / GROWTH, 1.0, GROWTH):
            for i, offset in self._displaced.items():
                self.twin.set_misalignment(i, *(share * offset))
            for _ in range(LAST_STEERINGS if share == 1.0 else STEERINGS):
                kicks = -inverse @ self._orbit().T.ravel()
                for (element, plane), kick in zip(steerers, kicks, strict=True):
                    place = "xy".index(plane)
                    now = float(self.twin[element].KickAngle[place])
                    self.twin.set_kick(element, **{("horizontal", "vertical")[place]: now + kick})

    def _draw_bpms(self) -> None:
        count = len(self._bpms)
        gains = 1 + self._normal(self._errors.bpm_gain, (count, 2))
        roll = self._normal(self._errors.bpm_roll_mrad * 1e-3, (count,))
        turn = np.array([[np.cos(roll), np.sin(roll)], [-np.sin(roll), np.cos(roll)]]).transpose(2, 0, 1)
        self._gain = gains[:, :, None] * turn
        """[bpm, 2, 2]: what it reads of a displacement. May be changed, for BPMs that lie."""
        self._offset = self._normal(self._errors.bpm_offset_um * 1e-6, (count, 2))

    # ---- orbits

    def _set(self, offsets: Mapping[str, float]) -> None:
        self._knobs.set(offsets)
        self.moved |= offsets
        self.moved = {name: value for name, value in self.moved.items() if value}
        self._cycle = None

    def _orbit(self) -> Floats:
        """At the BPMs, [bpm, plane], m."""
        try:
            self._guess, orbit = find_orbit(self.twin, self._bpms, guess=self._guess, convergence=1e-11)
        except TwinNoAnswer as error:
            raise BeamLost(f"there is no closed orbit: {error}") from error
        return orbit[:, [0, 2]]

    def _periodic(self) -> tuple[float, Floats]:
        """A period of the swing, and the orbit at SAMPLES places in it: [bpm, sample, plane]."""
        if self._cycle is None:
            base = math.gcd(*(round(1e3 * sine.hz) for sine in self._sines)) * 1e-3 if self._sines else 10.0
            samples = SAMPLES if self._sines else 1
            orbits = []
            for k in range(samples):
                time_s = k / samples / base
                self._knobs.set(
                    {
                        name: self.moved.get(name, 0.0)
                        + sum(
                            one.amplitude * math.sin(2 * math.pi * one.hz * time_s + one.phase_rad)
                            for one in self._sines
                            if one.supply == name
                        )
                        for name in {sine.supply for sine in self._sines}
                    }
                )
                orbits.append(self._orbit())
            self._knobs.set({sine.supply: self.moved.get(sine.supply, 0.0) for sine in self._sines})
            many = np.stack(orbits, axis=1)
            if samples == 1:
                many = np.repeat(many, 10, axis=1)
            self._cycle = 1 / base, many
        return self._cycle

    # ---- what shakes, and what electronics make of it

    @cached_property
    def _ground(self) -> Floats:
        """[bpm · plane, magnet · plane]: orbit per displacement of a magnet with a gradient."""
        columns = []
        for pieces in self._magnets:
            strengths = [float(self.twin[i].PolynomB[1]) * float(self.twin[i].Length) for i in pieces]
            if not any(strengths):
                continue
            for plane, sign in ((0, 1.0), (1, -1.0)):
                response = orbit_response(self.twin, self._bpms, [(i, plane) for i in pieces])[:, :, :-1]
                columns.append(sign * (response @ np.array(strengths)).T.ravel())
        return np.array(columns).T

    def _shaken(self, count: int, step_s: float) -> Floats:
        """[bpm, sample, plane] of magnets that move at random, with a memory of 1/(2π corner)."""
        errors = self._errors
        if not errors.ground_nm:
            return np.zeros((len(self._bpms), count, 2))
        kept = math.exp(-2 * math.pi * errors.ground_hz * step_s)
        moved = np.empty((self._ground.shape[1], count))
        fast = self._random.normal(0.0, 1.0, len(moved))
        slow = fast / 2 + math.sqrt(0.25) * self._random.normal(0.0, 1.0, len(moved))
        for k in range(count):
            moved[:, k] = math.sqrt(2.0) * slow
            fast = kept * fast + math.sqrt(1 - kept**2) * self._random.normal(0.0, 1.0, len(moved))
            slow = kept * slow + (1 - kept) * fast
        orbit: NDArray[np.float64] = self._ground @ moved * errors.ground_nm * 1e-9
        return orbit.reshape(len(self._bpms), 2, count).transpose(0, 2, 1)

    def _read(self, orbit: Floats) -> Floats:
        """[row, sample] nm, of [bpm, sample, plane] m."""
        read = np.einsum("bij,bsj->bsi", self._gain, orbit) + self._offset[:, None, :]
        return np.asarray(read.transpose(0, 2, 1).reshape(2 * len(orbit), -1) * NM, np.float64)


def _between(cycle: Floats, place: Floats) -> Floats:
    """Of a periodic [bpm, sample, plane], by its harmonics: at the places, 0 to 1."""
    count = cycle.shape[1]
    harmonics = np.fft.rfft(cycle, axis=1) / count
    number = np.arange(harmonics.shape[1])
    twice = np.where((number == 0) | (2 * number == count), 1.0, 2.0)
    waves = twice[:, None] * np.exp(2j * np.pi * number[:, None] * place)
    return np.asarray(np.einsum("bkp,ks->bsp", harmonics, waves).real, np.float64)


def fail_of(supply: str, move: int) -> Callable[[int, Mapping[str, float]], None]:
    """Of ``fails``: this supply trips at the first move from that number on that needs it."""

    def fails(number: int, offsets: Mapping[str, float]) -> None:
        if number >= move and offsets.get(supply):
            raise SupplyFailed(supply, f"{supply}: tripped")

    return fails
