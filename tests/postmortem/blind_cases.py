# SPDX-License-Identifier: Apache-2.0
"""The events of the blind trial: five kinds of culprit, at random strengths and places, each with a ring of its own."""

from collections.abc import Callable

import numpy as np
from blind_ring import Happening

Random = np.random.Generator
SUPPLIES = (
    ("ch_01", 35),
    ("ch_02", 35),
    ("ch_03", 12),
    ("cv_01", 35),
    ("cv_02", 35),
    ("cv_03", 12),
)
BPMS, LYING_TURN_BY_TURN = 96, 14


def _size(random: Random, low: float, high: float) -> float:
    """Evenly in its logarithm, three digits."""
    return float(f"{np.exp(random.uniform(np.log(low), np.log(high))):.3g}")


def supply(random: Random, seed: int) -> Happening:
    """A corrector trips, or gets a ripple."""
    chain, count = SUPPLIES[random.integers(len(SUPPLIES))]
    name = f"sr/ps/{chain}_{random.integers(1, count + 1):02d}"
    ampere = _size(random, 3e-4, 0.5)
    if random.random() < 0.6:
        before = {"supplies": [{"supplies": name, "initial": ampere * int(random.choice([-1, 1]))}]}
        return Happening(
            "supply",
            name,
            seed,
            f"trip of {ampere} A",
            ({"event": "trip", "supply": name},),
            (),
            before,
        )
    hz = _size(random, 30, 1500)
    event = {"event": "ripple", "supply": name, "amplitude": ampere, "hz": hz}
    return Happening("supply", name, seed, f"ripple of {ampere} A at {hz} Hz", (event,))


def rf(random: Random, seed: int) -> Happening:
    """The cavities trip, or their phase or voltage jumps."""
    which = random.integers(3)
    if which == 0:
        return Happening("rf", "", seed, "trip", ({"event": "rf_trip"},))
    if which == 1:
        degrees = _size(random, 1e-3, 2)
        return Happening("rf", "", seed, f"phase by {degrees}°", (), (f"machine/rf_phase={degrees}",))
    share = _size(random, 1e-4, 0.1)
    return Happening(
        "rf",
        "",
        seed,
        f"voltage less by {share}",
        (),
        (f"machine/rf_voltage={1 - share}",),
    )


def bpm(random: Random, seed: int) -> Happening:
    """A BPM lies: an offset, more noise, always the same, or the wrong sign."""
    if random.random() < 0.75:
        name = f"bpm{random.integers(1, BPMS + 1):02d}"
        instrument = name
    else:
        number = int(random.integers(LYING_TURN_BY_TURN))
        name = instrument = f"tbt{number // 2 + 1:02d}/{number % 2 + 1}"
    event: dict[str, object]
    which = random.choice(["offset", "offset", "noisy", "frozen", "inverted"])
    event = {"event": str(which), "instrument": instrument}
    if which in ("offset", "noisy"):
        size = _size(random, 0.05, 100)
        event |= {"x_um": size, "y_um": float(f"{size * random.uniform(0, 1):.3g}")}
    return Happening("bpm", name, seed, f"{which} {event.get('x_um', '')}".strip(), (event,))


def kick(random: Random, seed: int) -> Happening:
    """The injection kicker fires when it should not."""
    size, angle = _size(random, 0.3, 300), random.uniform(0, np.pi / 2)
    x, y = (float(f"{size * part:.3g}") for part in (np.cos(angle), np.sin(angle)))
    return Happening(
        "kick",
        "injection",
        seed,
        f"{size} µm",
        ({"event": "kick", "x_um": x, "y_um": y},),
    )


def loss(random: Random, seed: int) -> Happening:
    """Beam is lost at an aperture, and the orbit is as before."""
    ma = _size(random, 1e-5, 100)
    event = {"event": "injection", "misfires": True, "ma": ma}
    return Happening("loss", "", seed, f"{ma} mA", (event,), lost_share=ma / 310)


KINDS: dict[str, Callable[[Random, int], Happening]] = {
    "supply": supply,
    "rf": rf,
    "bpm": bpm,
    "kick": kick,
    "loss": loss,
}


def cases(each: int, seed: int) -> list[Happening]:
    """So many of each kind; of the same seed the same. Each ring has its own noise, errors and disturbances."""
    random = np.random.default_rng(seed)
    made = []
    for i in range(each):
        for k, make in enumerate(KINDS.values()):
            made.append(make(random, 1000 * seed + len(KINDS) * i + k + 1))
    return made
