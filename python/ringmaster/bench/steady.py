# SPDX-License-Identifier: Apache-2.0
"""What measurements of steady traffic have in common: datagrams of instruments at a fixed rate, by kinds of link.

Each kind is first asked what it carries flat out, so that it is given no more than it can take; then all have turns.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, Generic, Protocol, TypeVar

from ringmaster.bench.account import Traffic
from ringmaster.bench.carried import Carried, Cores, carry, place
from ringmaster.bench.link_options import SteadyOptions
from ringmaster.bench.links import linked, mtu_of
from ringmaster.bench.measurement import Measurement

FLAT_OUT_S = 1.0


class OneKind(Protocol):
    """What is kept of a kind."""

    kind: str

    @property
    def carried(self) -> Sequence[Carried]:
        """Its rounds."""
        ...


OptionsT = TypeVar("OptionsT", bound=SteadyOptions)
KindT = TypeVar("KindT", bound=OneKind)


class Steady(Measurement[OptionsT, Any], Generic[OptionsT, KindT]):
    """Such a measurement; KindT is what it keeps of a kind."""

    def __init__(self, options: OptionsT, *watch: Any) -> None:
        super().__init__(options, *watch)
        self.kinds: list[KindT] = []

    @cached_property
    def cores(self) -> Cores:
        """Of sender and receivers. Raises NotMeasured where these cannot be had."""
        return place(self.options.cores, self.options.count)

    def on(self) -> Sequence[int]:
        """The sender's, then the receivers'."""
        return (self.cores.sender, *self.cores.receivers)

    @classmethod
    def steps(cls, options: OptionsT) -> int:
        """A step more for each kind at the start."""
        return super().steps(options) + len(options.chosen)

    @classmethod
    def peers(cls, options: OptionsT) -> Sequence[str]:
        """Kinds of link."""
        return options.chosen

    @contextmanager
    def around(self) -> Iterator[None]:
        """What each kind carries flat out, before all turns."""
        with super().around():
            for name in self.options.chosen:
                flat_out = self.attempt(partial(self.carry, name, self.options.count, 0.0, FLAT_OUT_S))
                if flat_out is not None:
                    self.kinds.append(self.begin(name, flat_out))
                self.step()
            yield

    def begin(self, kind: str, flat_out: Carried) -> KindT:
        """What it is given, by what it carries flat out."""
        raise NotImplementedError

    def take_of(self, kind: KindT) -> Any:
        """A turn of a kind, which keeps it."""
        raise NotImplementedError

    def take(self, peer: str) -> Any:
        """A turn; nothing of a kind that could not be had."""
        return next((self.take_of(kind) for kind in self.kinds if kind.kind == peer), [])

    @property
    def measured(self) -> list[KindT]:
        """Kinds of which there is a round."""
        return [kind for kind in self.kinds if kind.carried]

    def is_empty(self) -> bool:
        """What a bare clock says is no figure of a link's."""
        return not self.measured

    def carry(self, kind: str, links: int, rate_hz: float, seconds: float, keep_rows: bool = False) -> Carried:
        """Over so many links of a kind; a rate of 0 is flat out, and without faults. Raises NotMeasured."""
        options = self.options
        faults = (options.inject_jitter_us, options.inject_drop_every) if rate_hz else ()
        traffic = Traffic(options.group, rate_hz, options.size, *faults)
        with linked(kind, links, mtu_of(options.size), options.endpoints) as pair:
            return carry(pair, self.cores.first(links), traffic, seconds, keep_rows)

    def core_shares(self) -> Sequence[float]:
        """Of all rounds."""
        return [share for kind in self.kinds for run in kind.carried for share in run.core_shares]
