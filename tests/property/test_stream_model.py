# SPDX-License-Identifier: Apache-2.0
"""A stream's writer and reader against a model that is a dictionary.

Hypothesis makes up what happens to a stream (records in any order, silence, restarts of the machine's counter, killed
servers), and after every step all that a reader could ask for must be what the model says. The rings are tiny, so that
laps, margins and what an old turn-counter epoch left in the slots are met within a few steps.

Needs the library that Meson builds from ring.c, below $BUILD_DIR (default: build).
"""

import os
from enum import IntEnum
from pathlib import Path
from typing import Any

from cffi import FFI
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / os.environ.get("BUILD_DIR", "build") / "tests/property/libproperty_ring.so"
TURN_NONE = 2**64 - 1
PRESENCE_TURNS = 65536
FAR = [9, 17, 63, 64, 65, 130, 1000, PRESENCE_TURNS - 9, PRESENCE_TURNS - 1, PRESENCE_TURNS, 3 * PRESENCE_TURNS]
"""Records: about a lap of the ring, or of the writer's presence bitmap."""

FUNCTIONS = """
struct test_ring *property_ring_make(uint64_t capacity, uint64_t margin, uint64_t period, uint64_t late_turns);
void property_ring_free(struct test_ring *ring);
bool property_ring_reopen(struct test_ring *ring, uint64_t late_turns);
int property_ring_put(struct test_ring *ring, uint64_t const word[8]);
void property_ring_publish(struct test_ring *ring);
void property_ring_pass_over(struct test_ring *ring, uint64_t turn);
void property_ring_restart(struct test_ring *ring);
bool property_ring_find(struct test_ring *ring, uint64_t turn);
uint64_t property_ring_skipped(struct test_ring const *ring);
uint64_t property_ring_turn_epoch(struct test_ring const *ring);
uint64_t property_ring_head(struct test_ring const *ring);
uint64_t property_ring_oldest(struct test_ring const *ring, uint64_t head, uint64_t slack);
int property_ring_read(struct test_ring const *ring, uint64_t turn, uint64_t word[8]);
"""

Words = tuple[int, ...]
"""A record: turn, tag, and the lanes two by two; 8 words of 64 bits."""


class Put(IntEnum):
    """enum rm_put"""

    NEW = 0
    LATE = 1
    DUPLICATE = 2
    BEHIND = 3


class Read(IntEnum):
    """enum rm_read"""

    OK = 0
    NOT_YET = 1
    MISSING = 2
    LAPPED = 3
    BEFORE = 4


ffi = FFI()
ffi.cdef(FUNCTIONS)


def record(turn: int, copy: int) -> Words:
    """A record that differs from every other copy of its turn."""
    return (turn, *((turn * 8 + i) * 0x9E3779B97F4A7C15 + copy * 0xC2B2AE3D27D4EB4F & 2**64 - 1 for i in range(1, 8)))


class StreamModel(RuleBasedStateMachine):
    """The stream, and beside it what is known to have been put into it in this turn-counter epoch."""

    def __init__(self) -> None:
        super().__init__()
        self.lib: Any = ffi.dlopen(str(LIBRARY))
        self.records: dict[int, Words] = {}
        self.head: int | None = None
        self.first: int | None = None
        self.seen_head: int | None = None
        self.adopted = False
        self.own: int | None = None
        """First turn that this owner put."""
        self.stored = False
        """Something may lie in the slots."""
        self.turn_epoch = 0
        self.skipped = 0
        self.copies = 0

    @initialize(
        capacity=st.sampled_from([8, 16, 64]),
        margin=st.sampled_from([1, 2, 5]),
        period=st.sampled_from([1, 12]),
        late_records=st.sampled_from([0, 3, 10, 100000]),
        start=st.sampled_from([0, 5, 1000, 2**59]),
    )
    def make(self, capacity: int, margin: int, period: int, late_records: int, start: int) -> None:
        """A stream of some shape: ``period`` in turns, the rest in records."""
        self.capacity, self.margin, self.period = capacity, margin, period
        self.asked_late = late_records * period
        self.late = min(late_records, capacity - margin, PRESENCE_TURNS) * period
        self.start = start * period
        self.ring = self.lib.property_ring_make(capacity, margin, period, self.asked_late)
        assert self.ring != ffi.NULL

    def teardown(self) -> None:
        """Hypothesis calls it after each example."""
        self.lib.property_ring_free(self.ring)

    def expected_put(self, turn: int) -> Put:
        """What the writer should answer; keeps the model's books."""
        if self.adopted and self.head is not None and turn <= self.head:
            self.forget()
        if self.head is None or self.first is None:
            self.first = self.head = self.own = turn
        elif turn <= self.head:
            if turn < self.first or self.head - turn >= self.late:
                return Put.BEHIND
            if turn in self.records:
                return Put.DUPLICATE
            # Late from before this owner's first: skipped by nobody, so it counts as both, and lost stays exact.
            self.skipped += self.own is not None and turn < self.own
            return Put.LATE
        else:
            if self.adopted:
                self.own = turn
            else:
                self.skipped += (turn - self.head) // self.period - 1
            self.head = turn
        self.adopted = False
        return Put.NEW

    def forget(self) -> None:
        """A new turn-counter epoch begins."""
        self.records.clear()
        self.head = self.first = self.seen_head = None
        self.adopted = False
        self.turn_epoch += 1

    def put(self, turn: int) -> None:
        """One record, into the stream and into the model."""
        self.copies += 1
        words = record(turn, self.copies)
        expected = self.expected_put(turn)
        assert Put(self.lib.property_ring_put(self.ring, words)) == expected
        if expected in (Put.NEW, Put.LATE):
            self.records[turn] = words
            self.stored = True

    @rule(skipped=st.sampled_from([0, 1, 2, 7]), count=st.sampled_from([1, 2, 10, 70]), published=st.booleans())
    def put_onwards(self, skipped: int, count: int, published: bool) -> None:
        """A burst of records in order, with or without a gap before them."""
        first = self.start if self.head is None else self.head + (1 + skipped) * self.period
        for i in range(count):
            self.put(first + i * self.period)
        if published:
            self.publish()

    @precondition(lambda self: self.head is not None)
    @rule(back=st.integers(0, 80))
    def put_back(self, back: int) -> None:
        """A late record, a duplicate, or one that is too old."""
        assert self.head is not None
        self.put(max(0, self.head - back * self.period))

    @precondition(lambda self: self.head is not None)
    @rule(records=st.sampled_from(FAR))
    def put_far_ahead(self, records: int) -> None:
        """A jump over a lap of the ring, or of the presence bitmap."""
        assert self.head is not None
        self.put(self.head + records * self.period)

    @rule()
    def publish(self) -> None:
        """The end of a burst."""
        self.lib.property_ring_publish(self.ring)
        assert self.lib.property_ring_head(self.ring) == (TURN_NONE if self.head is None else self.head)

    @precondition(lambda self: self.head is not None)
    @rule(records=st.sampled_from([-3, 0, 1, 5, 20, 100, PRESENCE_TURNS + 7]))
    def pass_over(self, records: int) -> None:
        """The instrument is silent."""
        assert self.head is not None
        turn = max(0, self.head + records * self.period)
        self.lib.property_ring_pass_over(self.ring, turn)
        if not self.adopted and turn > self.head:
            self.skipped += (turn - self.head) // self.period
            self.head = turn

    @rule(back=st.sampled_from([0, 1, 4, 15, 40, 150]))
    def restart(self, back: int) -> None:
        """The machine counts anew, a little lower, where the slots still hold turns that will come again."""
        self.start = max(0, (self.start if self.head is None else self.head) - back * self.period)
        self.lib.property_ring_restart(self.ring)
        self.forget()

    @rule()
    def kill_and_reopen(self) -> None:
        """What was not published is lost; the rest is there for the next owner."""
        head = self.lib.property_ring_head(self.ring)
        assert self.lib.property_ring_reopen(self.ring, self.asked_late)
        self.skipped = 0
        self.own = 0
        lost = {turn for turn in self.records if head == TURN_NONE or turn > head}
        if head == TURN_NONE:
            self.records.clear()
            self.head = self.first = None
            # A number that was in use for records nobody could read is not used again.
            turn_epoch = self.lib.property_ring_turn_epoch(self.ring)
            assert turn_epoch - self.turn_epoch in ((0, 1) if self.stored else (0,))
            self.turn_epoch = turn_epoch
            self.stored = False
            return
        for turn in lost:
            del self.records[turn]
        self.head = head
        self.adopted = True

    @invariant()
    def epoch_and_counts(self) -> None:
        """The turn-counter epoch, and how many turns were skipped."""
        assert self.lib.property_ring_turn_epoch(self.ring) == self.turn_epoch
        assert self.lib.property_ring_skipped(self.ring) == self.skipped

    @invariant()
    def head_keeps_the_margin(self) -> None:
        """Published heads rise, and no record is stored further than the margin above them."""
        head = self.lib.property_ring_head(self.ring)
        if head == TURN_NONE:
            assert self.seen_head is None
            return
        assert self.head is not None
        assert (self.seen_head or 0) <= head <= self.head
        self.seen_head = head
        assert max(self.records, default=0) <= head + self.margin * self.period

    def expected_read(self, turn: int, head: int) -> Read:
        """What a reader should be told of a turn, given the head that it sees."""
        if head == TURN_NONE:
            return Read.BEFORE
        if turn > head:
            return Read.NOT_YET
        assert self.first is not None
        if turn < self.first:
            return Read.BEFORE
        if turn + (self.capacity - self.margin) * self.period <= head:
            return Read.LAPPED
        return Read.OK if turn in self.records else Read.MISSING

    @invariant()
    def reader_agrees(self) -> None:
        """Every turn around the ring, and what else the slots might hold, reads as the model says."""
        head = self.lib.property_ring_head(self.ring)
        around = self.start if head == TURN_NONE else head
        words = ffi.new("uint64_t[8]")
        for i in range(-2 * self.capacity - 4, self.capacity + 4):
            turn = around + i * self.period
            if turn < 0:
                continue
            verdict = Read(self.lib.property_ring_read(self.ring, turn, words))
            assert verdict == self.expected_read(turn, head), turn
            if verdict == Read.OK:
                assert tuple(words) == self.records[turn]

    @invariant()
    def oldest_agrees(self) -> None:
        """The oldest turn worth asking for, with and without time to spare."""
        head = self.lib.property_ring_head(self.ring)
        kept = self.capacity - self.margin
        for slack in (0, 1, kept, kept + 1):
            oldest = self.lib.property_ring_oldest(self.ring, head, slack)
            if head == TURN_NONE:
                assert oldest == TURN_NONE
                continue
            assert self.first is not None
            assert oldest == max(self.first, head - (max(1, kept - slack) - 1) * self.period)

    @invariant()
    def writer_finds_its_own(self) -> None:
        """The writer's own look, within the late window."""
        if self.head is None or self.first is None:
            return
        for back in range(0, self.late, self.period):
            turn = self.head - back
            if turn >= self.first:
                assert self.lib.property_ring_find(self.ring, turn) == (turn in self.records)


StreamModel.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
test_stream_model = StreamModel.TestCase
