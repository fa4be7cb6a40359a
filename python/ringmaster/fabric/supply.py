# SPDX-License-Identifier: Apache-2.0
"""Power supplies and the chains that they hang on, as the server publishes them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ringmaster.fabric import layout
from ringmaster.fabric.counters import CounterBlock
from ringmaster.fabric.layout import ChainStatus, SupplyState
from ringmaster.fabric.naming import Named
from ringmaster.fabric.parameter import Parameter
from ringmaster.fabric.stream import Stream


@dataclass(frozen=True)
class Supply:
    """One power supply."""

    name: str
    index: int
    """In the row of ``workspace.setpoints["sent"]`` and in "supply/state"."""
    setpoint: Parameter
    """What was sent last; writable where it belongs to the operator."""
    readback: Parameter | None
    """Its current; None where its chain sends none."""
    _states: Parameter

    @property
    def state(self) -> list[SupplyState]:
        """What the server makes of it now: nothing, where all is well."""
        word = int(np.atleast_1d(np.asarray(self._states.value))[self.index])
        return [bit for bit in SupplyState if word & bit]

    @property
    def words(self) -> str:
        """The state in words: "good", or "tripped, deviates"."""
        return ", ".join(bit.name.lower() for bit in self.state) or "good"


def find_supplies(names: tuple[str, ...], parameters: Named[Parameter]) -> Named[Supply]:
    """All supplies by name; none where the server publishes none."""

    def make(index: int, name: str) -> Supply:
        readback = f"{name}/readback"
        return Supply(
            name,
            index,
            parameters[f"{name}/setpoint"],
            parameters.get(readback),
            parameters["supply/state"],
        )

    return Named("supply", {name: partial(make, index, name) for index, name in enumerate(names)})


@dataclass(frozen=True)
class Chain:
    """One daisy chain of supplies."""

    name: str
    counters: CounterBlock
    streams: tuple[Stream, ...]
    """Its readbacks, of ten supplies each; none where it sends none."""

    @property
    def status(self) -> list[str]:
        """What its newest readback says of the chain: nothing, where all is well."""
        word = 0
        for stream in self.streams:
            newest = stream.latest(1)
            word |= int(newest.status[0]) if len(newest) and newest.ok[0] else 0
        return layout.words(ChainStatus, word)


def find_chains(blocks: Named[CounterBlock], streams: Named[Stream]) -> Named[Chain]:
    """All chains by name."""

    def maker(name: str, block: str) -> Callable[[], Chain]:
        parts = [f"{name}/raw", *(f"{name}_{part}/raw" for part in "abcd")]
        return lambda: Chain(name, blocks[block], tuple(streams[part] for part in parts if part in streams))

    chains = {block.removeprefix("chain/"): block for block in blocks if block.startswith("chain/")}
    return Named("chain", {name: maker(name, block) for name, block in chains.items()})
