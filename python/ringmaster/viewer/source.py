# SPDX-License-Identifier: Apache-2.0
"""Where frames come from, as the viewer sees it."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from ringmaster.viewer.frame import Frame


class ReceiverEnded(RuntimeError):
    """The receiver has ended; what it published is gone."""


class Source(Protocol):
    """Cameras by name. At most one frame of each is leased at a time."""

    @property
    def names(self) -> Sequence[str]:
        """Of the cameras that there are."""

    def frame(self, name: str, following: bool = False) -> AbstractContextManager[Frame | None]:
        """Leases the newest frame that was not had yet, or with ``following`` the one after the last that was had.

        None: there is no newer one. The lease ends with the context. Raises ReceiverEnded.
        """

    def attach_again(self) -> bool:
        """After ReceiverEnded: whether a receiver is there again. Then ``names`` may have changed."""
