# SPDX-License-Identifier: Apache-2.0
"""The guard against a model written from its rules, and against promises that need no model.

Hypothesis makes up what hostile applications, operators, supplies and crashes do: vectors of any numbers, grant numbers
and turns, puts, grants, deaths, faults, joins, and cycles, whole, in pieces or repeated. After every step every
setpoint, target, state, counter and offence must be the model's, bit by bit. And whatever the model says, from one
cycle to the next no setpoint may leave its limits, move by more than its slew, or move for a client that does not own
it.

Needs the library that Meson builds from guard.c, below $BUILD_DIR (default: build).
"""

import math
import os
import struct
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from pathlib import Path
from typing import Any

from cffi import FFI
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / os.environ.get("BUILD_DIR", "build") / "tests/property/libproperty_guard.so"
TURN_NONE = WHOLE_VECTOR = OPERATORS_VECTOR = 2**64 - 1
OPERATOR = 0
REFUSALS = 10

DECLARATIONS = """
struct property_supply { double low, high, slew, safe, safe_slew; };
struct property_application {
    uint64_t freshness_turns, future_turns;
    uint32_t supply_count, watchdog_cycles, period_cycles, stop;
};
struct property_seen {
    uint64_t state, vectors, stalls, stopped;
    uint64_t refused[10];
    uint64_t refusal, actuator, turn, vector;
    double value, limit;
};
struct rm_guard *property_guard_new(struct property_supply const *supply, uint32_t supply_count,
    struct property_application const *application, uint32_t application_count, uint32_t const *owned);
void property_guard_free(struct rm_guard *guard);
void property_guard_join(struct rm_guard *guard, uint32_t supply, double value);
void property_guard_follow(struct rm_guard *guard, uint32_t supply, double value);
void property_guard_fault(struct rm_guard *guard, uint32_t supply, bool faulty);
void property_guard_grant(struct rm_guard *guard, uint32_t application, uint64_t grant_number, bool died);
bool property_guard_vector(struct rm_guard *guard, uint32_t application, uint64_t vector, uint64_t grant_number,
    uint64_t input,
    double const *values, uint64_t turn);
int property_guard_put(struct rm_guard *guard, uint32_t supply, double value, uint64_t turn, double *limit);
void property_guard_begin(struct rm_guard *guard, uint64_t turn);
void property_guard_advance(struct rm_guard *guard, uint32_t end);
float const *property_guard_setpoints(struct rm_guard const *guard);
double const *property_guard_exact(struct rm_guard const *guard);
bool property_guard_slewing(struct rm_guard const *guard, uint32_t supply);
void property_guard_see(struct rm_guard const *guard, uint32_t application, struct property_seen *seen);
"""


class Refusal(IntEnum):
    """enum rm_refusal"""

    NOTHING = 0
    GRANT = 1
    STALE = 2
    FUTURE = 3
    NUMBER = 4
    LOW = 5
    HIGH = 6
    SLEW = 7
    OWNERSHIP = 8
    FAULT = 9


class State(IntEnum):
    """enum rm_application_state"""

    ABSENT = 0
    JOINED = 1
    RUNNING = 2
    STALLED = 3
    DEAD = 4


HOLD, RAMP = 0, 1

ffi = FFI()
ffi.cdef(DECLARATIONS)


def f32(value: float) -> float:
    """The nearest f32."""
    rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return rounded


def f32_beside(value: float, direction: int) -> float:
    """The f32 next to an f32, upwards with 1, downwards with -1."""
    if value == 0:
        return direction * 2.0**-149
    bits = struct.unpack("<i", struct.pack("<f", abs(value)))[0] + (direction if value > 0 else -direction)
    return math.copysign(struct.unpack("<f", struct.pack("<i", bits))[0], value)


def same(a: float, b: float) -> bool:
    """Equal, or both no number."""
    return a == b or (math.isnan(a) and math.isnan(b))


@dataclass
class Supply:
    """One supply: what it may do, and where it stands."""

    low: float
    high: float
    slew: float
    safe: float
    safe_slew: float
    owner: int | None = None
    setpoint: float = 0.0
    target: float = 0.0
    safely: bool = False
    """On its way to its safe value, by its safe slew."""
    joined: bool = False
    faulty: bool = False

    def step(self) -> float:
        """How far it may go in a cycle."""
        return self.safe_slew if self.safely else self.slew

    def sent(self) -> float:
        """The nearest f32 that is within the limits."""
        value = f32(self.setpoint)
        if value < self.low:
            return f32_beside(value, 1)
        return f32_beside(value, -1) if value > self.high else value

    def judge(self, value: float) -> tuple[Refusal, float]:
        """What becomes of a value, and what it was held against."""
        if not math.isfinite(value):
            return Refusal.NUMBER, 0.0
        if value < self.low:
            return Refusal.LOW, self.low
        if value > self.high:
            return Refusal.HIGH, self.high
        return (Refusal.FAULT if self.faulty or not self.joined else Refusal.NOTHING), self.setpoint


@dataclass
class Application:
    """One application: what it may do, and what is known of it."""

    supplies: list[int]
    freshness: int
    future: int
    watchdog: int
    stop: int
    state: State
    grant_number: int = 0
    ever_granted: bool = False
    stopped: bool = False
    paused: bool = False
    good_vector: bool = False
    silent: int = 0
    vectors: int = 0
    stalls: int = 0
    refused: list[int] = field(default_factory=lambda: [0] * REFUSALS)
    offence: tuple[int, int, float, float, int, int] = (0, 0, 0.0, 0.0, 0, 0)


# Few enough to meet one another, limits, and their neighbours.
NUMBERS = st.one_of(
    st.sampled_from([-2.0, -1.0, -0.5, -0.1, 0.0, -0.0, 0.1, 0.25, 0.5, 1.0, 1.1, 2.0, 5e-324, -1e-40]),
    st.sampled_from([math.nan, math.inf, -math.inf, 1e300, -1e300, 3.5e38]),
    st.floats(-2, 2),
)
SLEWS = st.sampled_from([2.0**-50, 1e-9, 0.01, 0.1, 0.3, 1.0, 7.0, 1e30, 1e300])


@st.composite
def supply_limits(draw: st.DrawFn) -> Supply:
    """Limits that the guard takes: with an f32 between them."""
    low, high = sorted(
        [draw(st.sampled_from([-1.0, -0.7, -0.1, 0.0, 0.1, 1e-40])), draw(st.sampled_from([0.1, 0.25, 1.1]))]
    )
    if low == high:
        low = 0.0
    safe = draw(st.sampled_from([low, high, (low + high) / 2]))
    return Supply(low, high, draw(SLEWS), safe, draw(SLEWS))


class GuardModel(RuleBasedStateMachine):
    """The guard, and beside it what it should do."""

    def __init__(self) -> None:
        super().__init__()
        self.lib: Any = ffi.dlopen(str(LIBRARY))
        self.guard: Any = ffi.NULL
        self.turn = 0
        self.vector_number = 0
        self.advanced = 0

    @initialize(
        supplies=st.lists(supply_limits(), min_size=5, max_size=23),
        owners=st.lists(st.sampled_from([None, 0, 1, 1, 1, 2, 2]), min_size=23, max_size=23),
        backwards=st.booleans(),
        watchdogs=st.lists(st.integers(1, 3), min_size=3, max_size=3),
        periods=st.lists(st.integers(1, 3), min_size=3, max_size=3),
        stops=st.permutations([HOLD, RAMP]),
        freshness=st.sampled_from([0, 5, 1000, 2**64 - 1]),
        future=st.sampled_from([0, 3, 2**64 - 1]),
        turn=st.sampled_from([0, 7, 100_000, 2**64 - 400]),
    )
    def make(
        self,
        supplies: list[Supply],
        owners: list[int | None],
        backwards: bool,
        watchdogs: list[int],
        periods: list[int],
        stops: list[int],
        freshness: int,
        future: int,
        turn: int,
    ) -> None:
        """A guard of some supplies, for the operator and two applications."""
        self.turn = turn
        self.supplies = supplies
        self.applications = []
        owned: list[int] = []
        for number in range(3):
            own = [i for i in range(len(supplies)) if owners[i] == number]
            if backwards:
                own.reverse()
            for i in own:
                supplies[i].owner = number
            stop = stops[number - 1] if number else HOLD
            state = State.ABSENT if number else State.RUNNING
            watchdog = watchdogs[number] * periods[number]
            self.applications.append(Application(own, freshness, future, watchdog, stop, state))
            owned += own
        for supply in supplies:
            supply.setpoint = supply.target = supply.safe
        limits = [(s.low, s.high, s.slew, s.safe, s.safe_slew) for s in supplies]
        told = [
            (freshness, future, len(a.supplies), watchdogs[i], periods[i], a.stop)
            for i, a in enumerate(self.applications)
        ]
        self.guard = self.lib.property_guard_new(
            ffi.new("struct property_supply[]", limits),
            len(supplies),
            ffi.new("struct property_application[]", told),
            3,
            ffi.new("uint32_t[]", owned or [0]),
        )
        assert self.guard != ffi.NULL
        self.advanced = len(supplies)
        self.last_turn: int | None = None

    def teardown(self) -> None:
        """Hypothesis calls it after each example."""
        self.lib.property_guard_free(self.guard)

    def aim(self, supply: Supply) -> None:
        """The target that no vector gives."""
        supply.target, supply.safely = supply.setpoint, False
        if supply.owner is None or not supply.joined or supply.faulty:
            return
        owner = self.applications[supply.owner]
        if owner.stopped and not owner.paused and owner.stop == RAMP:
            supply.target, supply.safely = supply.safe, True

    def aim_all(self, application: Application) -> None:
        """All of an application's."""
        for i in application.supplies:
            self.aim(self.supplies[i])

    def refuse(self, application: Application, refusal: Refusal, actuator: int, value: float, limit: float) -> None:
        """Counts, and keeps the offence."""
        application.refused[refusal] += 1
        application.offence = (refusal, actuator, value, limit, self.turn, self.vector_number)

    @rule(which=st.integers(0, 22), value=NUMBERS)
    def join(self, which: int, value: float) -> None:
        """A supply says where it stands."""
        which %= len(self.supplies)
        self.lib.property_guard_join(self.guard, which, value)
        supply = self.supplies[which]
        if not math.isfinite(value):
            return
        supply.setpoint = min(max(value, supply.low), supply.high)
        supply.joined = True
        self.aim(supply)

    @rule(which=st.integers(0, 22), value=NUMBERS)
    def follow(self, which: int, value: float) -> None:
        """Another server sent a supply something."""
        which %= len(self.supplies)
        self.lib.property_guard_follow(self.guard, which, value)
        supply = self.supplies[which]
        if not math.isfinite(value) or not supply.joined:
            return
        supply.setpoint = min(max(value, supply.low), supply.high)
        owner = None if supply.owner is None else self.applications[supply.owner]
        if owner is None or supply.faulty or owner.state != State.RUNNING:
            self.aim(supply)

    @rule()
    def join_all(self) -> None:
        """As at a start."""
        for i in range(len(self.supplies)):
            self.join(i, 0.05)

    @rule(which=st.integers(0, 22), faulty=st.booleans())
    def fault(self, which: int, faulty: bool) -> None:
        """A supply trips, or is back."""
        which %= len(self.supplies)
        self.lib.property_guard_fault(self.guard, which, faulty)
        supply = self.supplies[which]
        if supply.faulty != faulty:
            supply.faulty = faulty
            self.aim(supply)

    @rule(number=st.integers(0, 2), grant_number=st.sampled_from([0, 1, 2, 2**64 - 1]), died=st.booleans())
    def grant(self, number: int, grant_number: int, died: bool) -> None:
        """An instance comes, or goes."""
        self.lib.property_guard_grant(self.guard, number, grant_number, died)
        if number == OPERATOR:
            return
        application = self.applications[number]
        vectors_stop = application.stopped or application.state == State.RUNNING
        application.grant_number, application.silent, application.good_vector = grant_number, 0, False
        if grant_number:
            application.state, application.ever_granted = State.JOINED, True
            application.stopped = application.paused = vectors_stop
            self.aim_all(application)
        else:
            application.state = State.DEAD if died else State.ABSENT
            if died or application.ever_granted:
                self.stop(application)

    def stop(self, application: Application) -> None:
        """A stop's action."""
        application.stopped, application.paused = True, False
        self.aim_all(application)

    @rule(
        number=st.integers(0, 2),
        grant_number=st.sampled_from([None, None, None, None, 0, 1, 2]),
        age=st.sampled_from([0, 0, 0, 1, 5, 6, -3, -4, 1001, 10**6, -(10**6)]),
        none=st.sampled_from([False] * 9 + [True]),
        values=st.lists(NUMBERS, min_size=23, max_size=23),
        times=st.integers(1, 2),
    )
    def any_vector(
        self, number: int, grant_number: int | None, age: int, none: bool, values: list[float], times: int
    ) -> None:
        """A vector by a client that may mean harm."""
        if grant_number is None:
            grant_number = self.applications[number].grant_number
        for _ in range(times):
            self.vector(number, grant_number, TURN_NONE if none else (self.turn - age) % 2**64, values)

    @rule(
        number=st.integers(1, 2),
        choice=st.lists(st.integers(0, 4), min_size=23, max_size=23),
        spoiled=st.sampled_from([None, 0, 1]),
    )
    def good_vector(self, number: int, choice: list[int], spoiled: int | None) -> None:
        """A vector all within the limits: at their edges, between them, or where the supply stands; but for one
        value.
        """
        application = self.applications[number]
        values = []
        for i, pick in zip(application.supplies, choice, strict=False):
            s = self.supplies[i]
            values.append([s.low, s.high, (s.low + s.high) / 2, s.setpoint, min(s.setpoint + s.step(), s.high)][pick])
        if spoiled is not None and spoiled < len(values):
            values[spoiled] = math.nan
        if application.grant_number == 0:
            self.grant(number, 1, False)
        self.vector(number, application.grant_number, self.turn, values)

    def vector(self, number: int, grant_number: int, input_turn: int, values: list[float]) -> None:
        """A vector, given to both."""
        application = self.applications[number]
        self.vector_number += 1
        good = self.lib.property_guard_vector(
            self.guard,
            number,
            self.vector_number,
            grant_number,
            input_turn,
            ffi.new("double[]", values or [0.0]),
            self.turn,
        )
        assert good == self.expected_vector(application, grant_number, input_turn, values)

    def expected_vector(
        self, application: Application, grant_number: int, input_turn: int, values: list[float]
    ) -> bool:
        """What should become of it; keeps the model's books."""
        if grant_number == 0 or grant_number != application.grant_number:
            self.refuse(application, Refusal.GRANT, WHOLE_VECTOR, float(grant_number), float(application.grant_number))
            return False
        if self.turn - input_turn > application.freshness:
            oldest = float(self.turn - application.freshness)
            self.refuse(application, Refusal.STALE, WHOLE_VECTOR, float(input_turn), oldest)
            return False
        if input_turn == TURN_NONE or input_turn - self.turn > application.future:
            newest = float(self.turn) + float(application.future)
            self.refuse(application, Refusal.FUTURE, WHOLE_VECTOR, float(input_turn), newest)
            return False
        own = [self.supplies[i] for i in application.supplies]
        mine = values[: len(own)]
        if own and not any(s.low <= v <= s.high for s, v in zip(own, mine, strict=True)):
            for i, (supply, value) in enumerate(zip(own, mine, strict=True)):
                refusal, limit = supply.judge(value)
                self.refuse(application, refusal, i, value, limit)
            return False
        if application.stopped:
            application.stopped = application.paused = False
            self.aim_all(application)
        self.take(application, own, mine)
        application.state, application.good_vector = State.RUNNING, True
        application.vectors += 1
        return True

    def take(self, application: Application, own: list[Supply], values: list[float]) -> None:
        """Value by value of a good vector."""
        shortened = None
        before = sum(application.refused)
        for i, (supply, value) in enumerate(zip(own, values, strict=True)):
            refusal, limit = supply.judge(value)
            if refusal:
                self.refuse(application, refusal, i, value, limit)
                continue
            most, least = supply.setpoint + supply.step(), supply.setpoint - supply.step()
            if not least <= value <= most:
                shortened = (Refusal.SLEW, i, value, most if value > most else least, self.turn, self.vector_number)
                application.refused[Refusal.SLEW] += 1
                before += 1
            supply.target = value
        if shortened and sum(application.refused) == before:
            application.offence = shortened

    @rule(which=st.integers(0, 24), value=NUMBERS)
    def put(self, which: int, value: float) -> None:
        """A person sets a supply by hand."""
        told: Any = ffi.new("double *")
        verdict = Refusal(self.lib.property_guard_put(self.guard, which, value, self.turn, told))
        operator = self.applications[OPERATOR]
        owner = self.supplies[which].owner if which < len(self.supplies) else None
        refusal, limit = Refusal.OWNERSHIP, -1.0 if owner is None else float(owner)
        if owner == OPERATOR:
            refusal, limit = self.supplies[which].judge(value)
        assert (verdict, told[0]) == (refusal, limit)
        if refusal:
            operator.refused[refusal] += 1
            operator.offence = (refusal, which, value, limit, self.turn, OPERATORS_VECTOR)
        else:
            self.supplies[which].target = value
            operator.vectors += 1

    @rule(times=st.integers(1, 7), turns=st.sampled_from([1, 12]))
    def cycles(self, times: int, turns: int) -> None:
        """Time goes on, as far as there are turns."""
        for _ in range(times):
            self.turn = min(self.turn + turns, TURN_NONE - 1)
            self.begin()
            self.advance(len(self.supplies))
            self.begin()

    @rule()
    def begin(self) -> None:
        """The watchdogs, once for each turn."""
        self.lib.property_guard_begin(self.guard, self.turn)
        if self.last_turn == self.turn:
            return
        self.last_turn = self.turn
        self.advanced = 0
        self.before = [(s.setpoint, s.sent()) for s in self.supplies]
        for application in self.applications[1:]:
            application.silent = 0 if application.good_vector else application.silent + 1
            application.good_vector = False
            running = application.state == State.RUNNING
            if application.silent >= application.watchdog and (running or application.paused):
                if running:
                    application.state = State.STALLED
                    application.stalls += 1
                self.stop(application)

    @rule(end=st.integers(0, 30))
    def advance(self, end: int) -> None:
        """Some supplies go their step, each at most once in a cycle."""
        exact, sent = self.lib.property_guard_exact(self.guard), self.lib.property_guard_setpoints(self.guard)
        before = [(exact[i], sent[i]) for i in range(len(self.supplies))]
        self.lib.property_guard_advance(self.guard, end)
        for i, supply in enumerate(self.supplies):
            if self.advanced <= i < end:
                least, most = supply.setpoint - supply.step(), supply.setpoint + supply.step()
                supply.setpoint = min(max(supply.target, least), most)
            elif (exact[i], sent[i]) != before[i]:
                raise AssertionError(f"supply {i} moved out of its turn")
            self.check_move(supply, before[i], (exact[i], sent[i]))
        self.advanced = max(self.advanced, min(end, len(self.supplies)))

    @staticmethod
    def check_move(supply: Supply, before: tuple[float, float], after: tuple[float, float]) -> None:
        """Promises that need no model: as far as the slew, and what rounding is stated; nobody's supply stays."""
        largest = max(supply.slew, supply.safe_slew)
        moved = abs(Fraction(after[0]) - Fraction(before[0]))
        assert after[0] == before[0] or moved <= Fraction(largest) + Fraction(
            math.ulp(max(map(abs, (after[0], before[0])))) / 2
        )
        top = max(abs(before[1]), abs(after[1]))
        unit = Fraction(f32_beside(top, 1)) - Fraction(top)
        assert abs(Fraction(after[1]) - Fraction(before[1])) <= Fraction(largest) + unit
        if supply.owner is None or not supply.joined or supply.faulty:
            assert after == before

    @invariant()
    def every_setpoint_is_the_models_and_within_its_limits(self) -> None:
        """Bit by bit, but for the sign of a zero."""
        if self.guard == ffi.NULL:
            return
        exact, sent = self.lib.property_guard_exact(self.guard), self.lib.property_guard_setpoints(self.guard)
        for i, supply in enumerate(self.supplies):
            assert supply.low <= exact[i] <= supply.high
            assert supply.low <= sent[i] <= supply.high
            assert exact[i] == supply.setpoint
            assert sent[i] == supply.sent()
            assert self.lib.property_guard_slewing(self.guard, i) == (supply.setpoint != supply.target)

    @invariant()
    def every_application_is_seen_as_the_model_sees_it(self) -> None:
        """State, counters, and the newest offence."""
        if self.guard == ffi.NULL:
            return
        seen: Any = ffi.new("struct property_seen *")
        for number, application in enumerate(self.applications):
            self.lib.property_guard_see(self.guard, number, seen)
            assert State(seen.state) == application.state
            assert (seen.vectors, seen.stalls, seen.stopped) == (
                application.vectors,
                application.stalls,
                application.stopped,
            )
            assert list(seen.refused) == application.refused
            refusal, actuator, value, limit, turn, vector = application.offence
            assert (seen.refusal, seen.actuator, seen.turn, seen.vector) == (refusal, actuator, turn, vector)
            assert same(seen.value, value)
            assert same(seen.limit, limit)


GuardModel.TestCase.settings = settings(
    max_examples=200,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # a busy machine is no fault of the guard's
)
test_guard_model = GuardModel.TestCase
