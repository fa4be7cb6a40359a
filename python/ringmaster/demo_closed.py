# SPDX-License-Identifier: Apache-2.0
"""What the demonstration's loop came to, and what of it is wrong."""

from dataclasses import asdict, dataclass

WHOLE = 0.97
"""Share of the cycles below which figures of a loop in real time are the host's."""


@dataclass(frozen=True)
class Closed:
    """What the loop came to; the JSON has these names under "feedback"."""

    simulated_time: bool
    """The ring waited for the loop: no cycle was missed, and time was not real."""
    real_time_ratio: float
    """Seconds of the ring per second of the clock."""
    whole_share: float
    """Of the cycles that the ring's time had: those in which the feedback had all its inputs."""
    turn_rate_hz: float
    full_turn_rate_hz: float
    cycle_hz: float
    bpms: int
    """Readings in use, of both planes."""
    actuators: int
    state: str
    why: str
    """Why it is not on; empty where it is."""
    orbit_rms_um_open: dict[str, float]
    """Of the whole orbit, what stands still too, over all readings in use."""
    orbit_rms_um_closed: dict[str, float]
    motion_rms_um_open: dict[str, float]
    """Of its motion alone, from 1 Hz on, over some BPMs."""
    motion_rms_um_closed: dict[str, float]
    mains_50_hz_um_open: dict[str, float]
    """Amplitude of the line at 50 Hz."""
    mains_50_hz_um_closed: dict[str, float]
    attenuation_50_hz_db: dict[str, float]
    steps: int
    """Cycles of the feedback."""
    skipped: int
    """Cycles that passed without a step, because the machine did something else."""
    late: int
    """Steps in which an input was missing."""
    lost: int
    """Records of the instruments: what they sent and the server never got, or could not use."""
    skipped_turns: int
    """That the ring let pass unsent, because others had its core: nobody lost them."""
    cycles: int
    """Of setpoints, that went out."""
    cycles_skipped: int
    """That did not: a server that comes a whole cycle too late sends none, so that supplies get no two steps at once.
    Their turns have no answer either, which is no loss."""
    unanswered: int
    """Datagrams to chains that no answer came to in time."""
    refused: int
    """Setpoint vectors that the guard did not take."""
    seconds: float
    """Of the clock."""

    @property
    def host_was_late(self) -> bool:
        """The host took so much time away that cycles of a loop in real time were missed: its figures say little."""
        return not self.simulated_time and self.whole_share < WHOLE

    @property
    def faults(self) -> list[str]:
        """What is wrong, in words; empty when nothing is. What a late host does to a loop is no fault of it."""
        wrong = [f"{self.lost} records of instruments lost"] if self.lost else []
        return wrong if self.host_was_late else wrong + self._loop_faults()

    def _loop_faults(self) -> list[str]:
        wrong = (
            [] if self.state == "on" else [f"the loop is {self.state}, not on: {self.why or 'the reason is not known'}"]
        )
        for plane, less in self.attenuation_50_hz_db.items():
            if not less > 0:
                wrong.append(f"the loop does not attenuate 50 Hz in {plane}: {less:.1f} dB")
        return wrong

    def as_json(self) -> dict[str, object]:
        """Plain dictionaries and numbers."""
        return asdict(self)
