# SPDX-License-Identifier: Apache-2.0
"""Cameras in the test's memory, as the viewer sees them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.viewer.frame import Head
from ringmaster.viewer.source import ReceiverEnded


@dataclass
class FakeFrame:
    """A frame of pixels that lie unpacked."""

    head: Head
    pixels: NDArray[Any]
    came: NDArray[np.bool_] = field(default_factory=lambda: np.ones(0, np.bool_))
    read: list[NDArray[np.intp]] = field(default_factory=list)
    """Lines, by each call that read some."""

    def lines(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        """As ``Frame.lines``."""
        self.read.append(rows)
        return self.pixels[rows]

    def arrived(self) -> NDArray[np.bool_]:
        """As ``Frame.arrived``."""
        return self.came


def fake_frame(pixels: NDArray[Any], number: int = 1, bits: int = 8, **more: Any) -> FakeFrame:
    """A whole frame of these pixels."""
    came = more.pop("came", np.ones(0, np.bool_))
    size = pixels.itemsize
    head = Head(
        sequence=more.pop("sequence", number),
        number=number,
        width=pixels.shape[1],
        height=pixels.shape[0],
        format_name=f"Mono{bits}",
        bits=bits,
        line_bytes=pixels.shape[1] * size,
        pixel_bits=8 * size,
        fragments=came.size,
        placed=int(came.sum()),
        **more,
    )
    return FakeFrame(head, pixels, came)


@dataclass
class FakeSource:
    """Frames by camera, the oldest first."""

    frames: dict[str, list[FakeFrame]]
    leased: set[str] = field(default_factory=set)
    lives: bool = True

    @property
    def names(self) -> list[str]:
        """Of all cameras."""
        return list(self.frames)

    @contextmanager
    def frame(self, name: str, following: bool = False) -> Iterator[FakeFrame | None]:
        """As ``Source.frame``."""
        if not self.lives:
            raise ReceiverEnded
        assert name not in self.leased
        waiting = self.frames[name]
        if not waiting:
            yield None
            return
        self.leased.add(name)
        taken = waiting.pop(0) if following else waiting[-1]
        if not following:
            waiting.clear()
        try:
            yield taken
        finally:
            self.leased.remove(name)

    def attach_again(self) -> bool:
        """As ``Source.attach_again``."""
        return self.lives
