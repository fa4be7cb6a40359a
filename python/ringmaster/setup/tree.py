# SPDX-License-Identifier: Apache-2.0
"""A folder with a host's files: it has no drivers to ask, and no time passes in it."""

from ringmaster.doctor.ethtool import Coalescing, Driver, Rings


class Silent:
    """Drivers that say nothing."""

    def driver(self, _interface: str) -> Driver | None:
        """None."""
        return None

    def coalescing(self, _interface: str) -> Coalescing | None:
        """None."""
        return None

    def rings(self, _interface: str) -> Rings | None:
        """None."""
        return None

    def pause(self, _interface: str) -> tuple[bool, bool] | None:
        """None."""
        return None


def no_wait(seconds: float) -> float:
    """At once."""
    return seconds
