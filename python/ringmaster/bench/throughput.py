# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench throughput`: datagrams of all sizes, as fast as they go, by DPDK and by the kernel's sockets.

The slides' measurement: throughput and datagram rate over the size of the datagrams, with the CPU load by kind of the
sender's and the receiver's core. All kinds are measured by turns: in each round, for each size, one after the other.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import click

from ringmaster.bench import throughput_section as tell
from ringmaster.bench.link_options import LinkOptions, kinds_option
from ringmaster.bench.links import Pair, linked
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measurement import Measurement, Turn, fitted
from ringmaster.bench.options import COUNT, SECONDS, Finite, Integers, WrongOptions, option
from ringmaster.bench.throughput_cases import KINDS, MTUS, SENDERS, SIZES, Case, about, cases, link_kind, senders_words
from ringmaster.bench.throughput_charts import charts
from ringmaster.bench.throughput_window import Cores, Window, measure_window
from ringmaster.bench.zero_loss import Search, Trial, most_trials, search
from ringmaster.programs.cores import allowed_cores
from ringmaster.programs.program import ProgramFailed
from ringmaster.report import published
from ringmaster.report.section import Chart, Table
from ringmaster.report.verdicts import Headline, number

FANOUT_TRIES = 4
"""DPDK's af_packet names its fanout group by process id XOR interface: those of two senders may be one, which the
kernel refuses. Started again they have other process ids."""
NONE_LOST = "no datagram was lost: not at the sender, on the link, in the port, in the ring, in the application"
UDP = "udp"
"""The kernel's way that the others are set beside: as the slides' programs, one datagram per system call."""
WARM_UP_S = 0.2
"""Of the first window of each kind and MTU, which is not counted."""


@dataclass(frozen=True, kw_only=True)
class Options(LinkOptions):
    """What to measure, and for how long."""

    sizes: tuple[int, ...] = option(SIZES, "Payloads.", Integers(1), metavar="B,…")
    kinds: tuple[str, ...] = kinds_option(KINDS, KINDS)
    senders: tuple[int, ...] = option(
        SENDERS,
        "Numbers of senders; more than one at the smallest and the largest size of each MTU.",
        Integers(1),
        metavar="N,…",
    )
    mtu: str = option("both", "Of the link; with both, what fits 1500 is sent with 1500.", click.Choice(tuple(MTUS)))
    seconds: float = option(0.5, "Length of a window.", SECONDS)
    rounds: int = option(2, "Windows of each, by turns.", COUNT)
    sender_cores: tuple[int, ...] = option(
        (), "One for each sender.  [default: the first]", Integers(0), metavar="CORE,…"
    )
    receiver_core: int | None = option(None, "[default: the second]", click.IntRange(min=0), metavar="CORE")
    zero_loss: tuple[int, ...] = option(
        (), "Search the highest rate without loss for these sizes.", Integers(1), metavar="B,…"
    )
    tolerance: int = option(0, "Datagrams that a trial may lose.", click.IntRange(min=0))
    trial_seconds: float = option(1.0, "Of each trial.", SECONDS)
    resolution: float = option(0.02, "Of the search, as share of the rate found unpaced.", Finite(0.001, 0.5))
    drop_every: int = option(0, "", click.IntRange(min=0), hidden=True)
    """For tests: the senders leave out every so many-th datagram."""

    def __post_init__(self) -> None:
        """Raises WrongOptions."""
        super().__post_init__()
        if self.left and max(self.senders) > self.own_count:
            raise WrongOptions(
                f"--senders: found {max(self.senders)}, expected up to {self.own_count}, for so many --left there are "
                "of each kind"
            )

    @property
    def _receiver(self) -> tuple[int, ...]:
        return () if self.receiver_core is None else (self.receiver_core,)

    @property
    def cores(self) -> Cores:
        """Those asked for; else the second that we may use receives, and the first and what there is more send."""
        allowed, asked = allowed_cores(), {*self.sender_cores, *self._receiver}
        if not asked <= set(allowed):
            raise WrongOptions(f"found cores {sorted(asked)}, expected some of {allowed}")
        if len(allowed) < 2:
            raise NotMeasured("throughput: needs two cores, one to send and one to receive; there is one")
        free = [core for core in allowed[1::-1] if core not in self.sender_cores[:1]]
        receiver = (*self._receiver, *free)[0]
        if receiver in self.sender_cores:
            raise NotMeasured(
                f"throughput: core {receiver} is to send and to receive: expected a core for each; "
                "choose with --sender-cores and --receiver-core"
            )
        return Cores(self.sender_cores or tuple(core for core in allowed if core != receiver)[:2], receiver)

    @property
    def cases(self) -> list[Case]:
        """Raises NotMeasured for a size that does not fit."""
        return cases(self.chosen, self.sizes, self.mtu, self.senders)

    @property
    def searched(self) -> list[Case]:
        """Those of the search; one sender. Raises NotMeasured as well."""
        return cases(self.chosen, self.zero_loss, self.mtu, (1,)) if self.zero_loss else []


class Throughput(Measurement[Options, Window]):
    """Measure throughput, datagram rate and CPU load by kind over the size of the datagrams.

    DPDK beside the kernel's sockets, by turns in one run; standard and jumbo frames; one and two senders; and where
    datagrams were lost. Uses two cores: sender and receiver. Over virtual links that it makes, or between two cards
    with a cable. Ctrl-C prints what was measured so far.
    """

    name, title, options_type = "throughput", "Throughput", Options
    meanings = "\b\nKinds:\n" + "".join(f"  {kind:9s}  {about(kind)}\n" for kind in KINDS) + "\n"
    examples = (
        "",
        "--kinds memif,udp --sizes 64,1472 --mtu 1500 --senders 1",
        "--zero-loss 64,1472 --senders 1 --rounds 1 --report throughput",
        "--senders 1 --mtu 1500 --left pci:0000:03:00.0 --right pci:0000:03:00.1",
    )

    def __init__(self, options: Options, *watch: Any) -> None:
        self.cores = options.cores
        chosen = replace(options, sender_cores=self.cores.senders, receiver_core=self.cores.receiver)
        super().__init__(chosen, *watch)
        self.found = tell.Found(self.rows)
        self._links = ExitStack()
        """That are kept for all windows."""
        self._pairs: dict[tuple[str, int], Pair] = {}
        self._refused: set[tuple[str, int]] = set()
        """Links that cannot be had."""
        self._warm: set[tuple[str, int]] = set()
        self._size = 0

    @classmethod
    def steps(cls, options: Options) -> int:
        """A step for each window, and each trial of the search."""
        return options.rounds * len(options.cases) + len(options.searched) * (1 + most_trials(options.resolution))

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """Fewer sizes and kinds, and a coarse search for the highest rate without loss."""
        options = Options(
            sizes=(18, 256, 1472, 8972),
            kinds=("memif", "af_xdp", "udp", "raw"),
            sender_cores=Options().cores.senders[:1],
            zero_loss=(64,),
            trial_seconds=0.5,
            resolution=0.1,
        )
        return fitted(options, cls.steps, seconds)  # type: ignore[no-any-return]

    def on(self) -> Sequence[int]:
        """Of the first sender, and the receiver's."""
        return self.cores.sender(0), self.cores.receiver

    @contextmanager
    def around(self) -> Iterator[None]:
        """Links are kept for all windows."""
        most = max(self.options.senders)
        if most > len(self.cores.senders):
            self.note(
                f"{senders_words(most)} share core {self.cores.senders[-1]}: what two senders on two cores carry "
                "cannot be had with these cores; choose more with --sender-cores"
            )
        with self._links, super().around():
            yield

    def turns(self) -> Generator[Turn]:
        """By turns; then the search."""
        options = self.options
        for number_of_round in range(options.rounds):
            for case in options.cases:
                yield Turn(case.name, partial(self._try, case, options.seconds), f"round {number_of_round + 1}, ")
        for case in options.searched:
            yield Turn(f"zero loss, {case.name}", partial(self._search, case))

    def _try(self, case: Case, seconds: float) -> list[Window]:
        """Nothing of links that cannot be had, with a note; those are not tried again. Raises ProgramFailed."""
        group = (link_kind(case.kind), case.mtu)
        if group in self._refused:
            return []
        try:
            if (case.kind, case.mtu) not in self._warm:
                self._warm.add((case.kind, case.mtu))
                self._window(case, WARM_UP_S)
            if case.size != self._size:
                self._size = case.size
                self.probe_distance()
            return [self._window(case, seconds)]
        except NotMeasured as error:
            self._refused.add(group)
            self.note(f"not to be had here: {group[0]} with an MTU of {case.mtu}: {error}")
            return []

    def _window(self, case: Case, seconds: float, pps: float = 0.0) -> Window:
        """One. Raises NotMeasured, ProgramFailed."""
        pair, options = self._pair(case), self.options
        for _ in range(FANOUT_TRIES - 1):
            try:
                return measure_window(pair, case, self.cores, seconds, pps, options.drop_every)
            except ProgramFailed as error:
                if "PACKET_FANOUT" not in str(error):
                    raise
        return measure_window(pair, case, self.cores, seconds, pps, options.drop_every)

    def _pair(self, case: Case) -> Pair:
        """Made when first asked for. Raises NotMeasured."""
        key, options = (link_kind(case.kind), case.mtu), self.options
        if key not in self._pairs:
            links = linked(key[0], max(options.senders), case.mtu, options.endpoints)
            self._pairs[key] = self._links.enter_context(links)
        return self._pairs[key]

    def _search(self, case: Case) -> list[Window]:
        """Its trials are kept by themselves."""
        options = self.options
        found = self.found.searches.setdefault(case, Search())

        def trial(pps: float) -> Trial:
            window = self._window(case, options.trial_seconds, pps)
            unsent = window.losses.sender
            made = Trial(pps, window.losses.on_the_way, unsent, window.longest_gap_us, options.tolerance)
            self.say(f"zero loss, {case.name}: {number(pps / 1e3)} kHz: {made.why or 'passed'}")
            self.step()
            return made

        for unpaced in self._try(case, options.seconds):
            search(trial, unpaced.sent / unpaced.seconds, options.resolution, found)
        return []

    @property
    def about(self) -> str:  # type: ignore[override]
        """Which programs, where, over which links."""
        options, cores = self.options, self.cores
        kinds = "; ".join(f"{kind}: {about(kind, options.endpoints)}" for kind in options.chosen)
        sending = " and ".join(map(str, cores.of_senders(max(options.senders))))
        return (
            f"ringmaster-generator sends as fast as the link takes it, from core {sending}; ringmaster-receiver "
            f"receives on core {cores.receiver}. Windows of {options.seconds:g} s, {options.rounds} of each, by "
            f"turns; a first one of {WARM_UP_S:g} s of each kind is not counted. {kinds}. On a veth link the kernel "
            "does the receiver's soft IRQ work on the sender's core."
        )

    def headlines(self) -> list[Headline]:
        """Rates of the smallest datagrams, throughput of the largest."""
        return tell.headlines(self.found)

    def charts(self) -> list[Chart]:
        """As the slides have them."""
        return charts(self.found)

    def tables(self) -> list[Table]:
        """In the form of the slides, and beside them."""
        found, options, made = self.found, self.options, []
        for mtu, senders in found.groups():
            if senders == min(options.senders) and UDP in options.chosen:
                made.append(tell.beside_table(found, mtu, senders, UDP))
            made += [tell.throughput_table(found, mtu, senders), tell.cpu_table(found, mtu, senders)]
        made += [losses] if (losses := tell.loss_table(found)).rows else []
        if found.searches:
            made.append(tell.zero_loss_table(found, options.tolerance, options.trial_seconds, options.resolution))
        if found.windows:
            others = [one for one in published.THROUGHPUT if one.source != published.SLIDES]
            made.append(tell.slides_table(found))
            made.append(published.table("Published CPU load", published.CPU_LOAD))
            made.append(published.table("Published throughput, with DPDK", others))
        return made

    def core_shares(self) -> Sequence[float]:
        """Of all that polled: senders and receiver of each window."""
        polled = [window for window in self.found.windows if window.case.polls]
        return [share for window in polled for share in (window.sender_share, window.receiver_share)]

    def more_notes(self) -> list[str]:
        """How many windows do not count; and that nothing was lost."""
        found, notes = self.found, []
        cut = [window for window in found.windows if not window.whole]
        if cut:
            only = len({window.case for window in cut if not any(w.whole for w in found.of(window.case))})
            kept = f"; for {only} cases there was no other, and they are shown" if only else ""
            notes.append(
                f"{len(cut)} of {len(found.windows)} windows had less than 95 % of a polled core and do not count"
                f"{kept}: others use this machine"
            )
        return notes + ([NONE_LOST] if found.windows and not tell.loss_table(found).rows else [])

    def data(self) -> dict[str, object]:
        """Every window, every trial."""
        return {
            "windows": [asdict(window) for window in self.found.windows],
            "zero_loss": [asdict(case) | asdict(one) for case, one in self.found.searches.items()],
            "group": "32 instruments, one datagram of each per cycle",
        }
