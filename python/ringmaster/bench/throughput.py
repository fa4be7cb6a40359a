# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench throughput`: datagrams of all sizes, as fast as they go, by DPDK and by the kernel's sockets.

The slides' measurement: throughput and datagram rate over the size of the datagrams, with the CPU load by kind of the
sender's and the receiver's core. All kinds are measured by turns: in each round, for each size, one after the other.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field

from ringmaster.bench import throughput_section as tell
from ringmaster.bench.carried import own_words
from ringmaster.bench.links import Pair, linked
from ringmaster.bench.log import Log, NotMeasured
from ringmaster.bench.throughput_cases import KINDS, SENDERS, SIZES, Case, about, cases, link_kind, senders_words
from ringmaster.bench.throughput_charts import charts
from ringmaster.bench.throughput_window import Cores, Window, measure_window
from ringmaster.bench.zero_loss import Search, Trial, most_trials, search
from ringmaster.programs.program import ProgramFailed
from ringmaster.report import published
from ringmaster.report.conditions import StallFloor, core_to_core_ns, stall_floor
from ringmaster.report.section import Section
from ringmaster.report.verdicts import conditions_of, number

FLOOR_S = 0.5
FANOUT_TRIES = 4
"""DPDK's af_packet names its fanout group by process id XOR interface: those of two senders may be one, which the
kernel refuses. Started again they have other process ids."""
NONE_LOST = "no datagram was lost: not at the sender, on the link, in the port, in the ring, in the application"
UDP = "udp"
"""The kernel's way that the others are set beside: as the slides' programs, one datagram per system call."""
WARM_UP_S = 0.2
"""Of the first window of each kind and MTU, which is not counted."""


@dataclass(frozen=True)
class Options:
    """What to measure, and for how long."""

    cores: Cores
    sizes: tuple[int, ...] = SIZES
    kinds: tuple[str, ...] = KINDS
    senders: tuple[int, ...] = SENDERS
    mtu: str = "both"
    """A name out of throughput_cases.MTUS."""
    seconds: float = 0.5
    """Of each window."""
    rounds: int = 2
    zero_loss: tuple[int, ...] = ()
    """Sizes to search the highest rate without loss for."""
    tolerance: int = 0
    """Datagrams that a trial of that search may lose."""
    trial_seconds: float = 1.0
    resolution: float = 0.02
    """Of the search: share of the rate found unpaced."""
    endpoints: tuple[tuple[str, str], ...] = ()
    """Links of one's own, left and right, one of each kind for each sender; else the bench makes some."""
    drop_every: int = 0
    """For tests: the senders leave out every so many-th datagram."""

    def cases(self) -> list[Case]:
        """Raises NotMeasured for a size that does not fit."""
        return cases(self.kinds, self.sizes, self.mtu, self.senders)

    def searched(self) -> list[Case]:
        """Those of the search; one sender. Raises NotMeasured as well."""
        return cases(self.kinds, self.zero_loss, self.mtu, (1,)) if self.zero_loss else []


@dataclass
class _Run:
    """What is there so far, and the links that are kept for all windows."""

    options: Options
    log: Log
    stack: ExitStack
    found: tell.Found = field(default_factory=tell.Found)
    pairs: dict[tuple[str, int], Pair] = field(default_factory=dict)
    refused: set[tuple[str, int]] = field(default_factory=set)
    """Links that cannot be had."""
    probes_ns: list[float] = field(default_factory=list)
    floors: list[StallFloor] = field(default_factory=list)
    interrupted: bool = False

    def pair(self, case: Case) -> Pair:
        """Made when first asked for. Raises NotMeasured."""
        key = (link_kind(case.kind), case.mtu)
        if key not in self.pairs:
            self.pairs[key] = self.stack.enter_context(
                linked(key[0], max(self.options.senders), case.mtu, self.options.endpoints)
            )
        return self.pairs[key]

    def window(self, case: Case, seconds: float, pps: float = 0.0) -> Window:
        """One. Raises NotMeasured, ProgramFailed."""
        pair, options = self.pair(case), self.options
        for _ in range(FANOUT_TRIES - 1):
            try:
                return measure_window(pair, case, options.cores, seconds, pps, options.drop_every)
            except ProgramFailed as error:
                if "PACKET_FANOUT" not in str(error):
                    raise
        return measure_window(pair, case, options.cores, seconds, pps, options.drop_every)


def steps(options: Options) -> int:
    """As often as measure() calls its `step`, at most."""
    return options.rounds * len(options.cases()) + len(options.searched()) * (1 + most_trials(options.resolution))


def command(options: Options) -> str:
    """All options spelled out."""

    def listed(values: Iterable[object]) -> str:
        return ",".join(map(str, values))

    over = own_words(options.endpoints) or f"--kinds {listed(options.kinds)}"
    words = f"ringmaster bench throughput --sizes {listed(options.sizes)} {over} "
    words += f"--senders {listed(options.senders)} --mtu {options.mtu} --seconds {options.seconds:g} "
    words += f"--rounds {options.rounds} --sender-cores {listed(options.cores.senders)} "
    words += f"--receiver-core {options.cores.receiver}"
    if options.zero_loss:
        words += f" --zero-loss {listed(options.zero_loss)} --tolerance {options.tolerance} "
        words += f"--trial-seconds {options.trial_seconds:g} --resolution {options.resolution:g}"
    return words + (f" --drop-every {options.drop_every}" if options.drop_every else "")


def measure(options: Options, say: Callable[[str], None], step: Callable[[], None]) -> Section:
    """Measures by turns, then searches. An interrupt ends it early and in good order.

    Raises NotMeasured for sizes that do not fit, for senders on the receiver's core, and where nothing can be had.
    """
    if options.cores.receiver in options.cores.senders:
        raise NotMeasured(
            f"throughput: core {options.cores.receiver} is to send and to receive: expected a core for each; "
            "choose with --sender-cores and --receiver-core"
        )
    steps(options)
    with ExitStack() as stack:
        run = _Run(options, Log(say), stack)
        _note_shared_core(run)
        try:
            _probe(run, floor=True)
            _rounds(run, step)
            for case in options.searched():
                _search(run, case, step)
            _probe(run, floor=True)
        except KeyboardInterrupt:
            run.interrupted = True
            run.log.note("interrupted: what follows is what was measured until then")
        if not run.found.windows and not run.interrupted:
            raise NotMeasured("throughput: " + "; ".join(dict.fromkeys(run.log.notes)))
        return _section(run)


def _note_shared_core(run: _Run) -> None:
    most = max(run.options.senders)
    if most > len(run.options.cores.senders):
        core = run.options.cores.senders[-1]
        run.log.note(
            f"{senders_words(most)} share core {core}: what two senders on two cores carry cannot be had with these "
            "cores; choose more with --sender-cores"
        )


def _probe(run: _Run, floor: bool = False) -> None:
    pair = (run.options.cores.sender(0), run.options.cores.receiver)
    if floor:
        run.floors.append(stall_floor(FLOOR_S, pair))
    run.probes_ns.append(core_to_core_ns(*pair))


def _rounds(run: _Run, step: Callable[[], None]) -> None:
    warm: set[tuple[str, int]] = set()
    for number_of_round in range(run.options.rounds):
        size = 0
        for case in run.options.cases():
            if case.size != size:
                size = case.size
                _probe(run)
            if (case.kind, case.mtu) not in warm:
                warm.add((case.kind, case.mtu))
                _attempt(run, case, WARM_UP_S)
            if (window := _attempt(run, case, run.options.seconds)) is not None:
                run.found.windows.append(window)
                run.log.say(f"round {number_of_round + 1}, {case.name}: {_words(window)}")
            step()


def _attempt(run: _Run, case: Case, seconds: float) -> Window | None:
    """None where it cannot be measured, with a note; a kind that has no link is not tried again."""
    group = (link_kind(case.kind), case.mtu)
    if group in run.refused:
        return None
    try:
        return run.window(case, seconds)
    except NotMeasured as error:
        run.refused.add(group)
        run.log.note(f"not to be had here: {group[0]} with an MTU of {case.mtu}: {error}")
    except ProgramFailed as error:
        run.log.note(f"{case.name}: not measured: {error}")
    return None


def _words(window: Window) -> str:
    load = f"sender {window.sender.total:.0%}, receiver {window.receiver.total:.0%} busy"
    lost = f", {window.losses.total} lost" if window.losses.total else ""
    share = "" if window.whole else "  (no whole core)"
    return f"{number(window.gbps)} Gb/s, {number(window.pps / 1e3)} kHz, {load}{lost}{share}"


def _search(run: _Run, case: Case, step: Callable[[], None]) -> None:
    options = run.options
    unpaced = _attempt(run, case, options.seconds)
    if unpaced is None:
        return
    step()
    found = run.found.searches.setdefault(case, Search())

    def trial(pps: float) -> Trial:
        window = run.window(case, options.trial_seconds, pps)
        unsent = window.losses.sender
        made = Trial(pps, window.losses.on_the_way, unsent, window.longest_gap_us, options.tolerance)
        run.log.say(f"zero loss, {case.name}: {number(pps / 1e3)} kHz: {made.why or 'passed'}")
        step()
        return made

    try:
        search(trial, unpaced.sent / unpaced.seconds, options.resolution, found)
    except ProgramFailed as error:
        run.log.note(f"zero loss, {case.name}: ended early: {error}")


def _section(run: _Run) -> Section:
    options, found = run.options, run.found
    made = Section(
        name="throughput",
        title="Throughput",
        about=_about(options),
        command=command(options),
        headlines=tell.headlines(found),
        charts=charts(found),
        conditions=conditions_of(run.probes_ns, run.floors, _core_shares(found.windows)),
        interrupted=run.interrupted,
        data={
            "options": asdict(options),
            "windows": [asdict(window) for window in found.windows],
            "zero_loss": [asdict(case) | asdict(one) for case, one in found.searches.items()],
            "group": "32 instruments, one datagram of each per cycle",
        },
    )
    for mtu, senders in found.groups():
        if senders == min(options.senders) and UDP in options.kinds:
            made.tables.append(tell.beside_table(found, mtu, senders, UDP))
        made.tables += [tell.throughput_table(found, mtu, senders), tell.cpu_table(found, mtu, senders)]
    losses = tell.loss_table(found)
    made.tables += [losses] if losses.rows else []
    if found.searches:
        zero = tell.zero_loss_table(found, options.tolerance, options.trial_seconds, options.resolution)
        made.tables.append(zero)
    if found.windows:
        others = [one for one in published.THROUGHPUT if one.source != published.SLIDES]
        made.tables.append(tell.slides_table(found))
        made.tables.append(published.table("Published CPU load", published.CPU_LOAD))
        made.tables.append(published.table("Published throughput, with DPDK", others))
    none_lost = [NONE_LOST] if found.windows and not losses.rows else []
    made.notes = list(dict.fromkeys([*run.log.notes, *_halves(found), *none_lost]))
    return made


def _core_shares(windows: Sequence[Window]) -> list[float]:
    """Of all that polled: senders and receiver of each window."""
    return [share for window in windows if window.case.polls for share in (window.sender_share, window.receiver_share)]


def _halves(found: tell.Found) -> list[str]:
    """How many windows do not count."""
    cut = [window for window in found.windows if not window.whole]
    if not cut:
        return []
    cases_ = len({window.case for window in cut if not any(w.whole for w in found.of(window.case))})
    kept = f"; for {cases_} cases there was no other, and they are shown" if cases_ else ""
    return [
        f"{len(cut)} of {len(found.windows)} windows had less than 95 % of a polled core and do not count{kept}: "
        "others use this machine"
    ]


def _about(options: Options) -> str:
    kinds = "; ".join(f"{kind}: {about(kind, options.endpoints)}" for kind in options.kinds)
    sending = " and ".join(map(str, options.cores.of_senders(max(options.senders))))
    return (
        f"ringmaster-generator sends as fast as the link takes it, from core {sending}; ringmaster-receiver "
        f"receives on core {options.cores.receiver}. Windows of {options.seconds:g} s, {options.rounds} of each, by "
        f"turns; a first one of {WARM_UP_S:g} s of each kind is not counted. {kinds}. On a veth link the kernel does "
        "the receiver's soft IRQ work on the sender's core."
    )
