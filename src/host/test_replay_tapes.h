// SPDX-License-Identifier: Apache-2.0
/** For the test of replay: a live host that does all that a step can depend on, and tapes of its streams. */
#ifndef RM_HOST_TEST_REPLAY_TAPES_H
#define RM_HOST_TEST_REPLAY_TAPES_H

#include "host/test_host_rig.h"

#include "base/zeroed.h"
#include "host/test_replayed.h"

enum {
    TAPES = 8,
    /** Records of an input in a step that takes runs. */
    RUN = 4,
    TAPE_RECORDS = 65536,
    STEPS = 4000,
    ADOPTIONS = 8,
    CLOSING = 6,
};

/** One stream, as it was recorded while it ran. */
struct tape {
    struct rm_stream stream;
    char const *name;
    struct rm_stream_view view;
    struct rm_record *record;
    uint32_t count;
};

static char const *const NAMES[TAPES] = {
    "bpm01/fast",   "bpm02/fast", "app/decision", "app/settings_adopted",
    "app/missing0", "app/sent0",  "app/sum",      "app/unfinished0",
};
enum { BPM, DECISION = 2, ADOPTED, MISSING, SENT, SUM, UNFINISHED = TAPES - 1 };

/** Records of an input in a step: 1 or RUN. */
static unsigned of_a_step;

struct replay_test {
    struct tape tape[TAPES];
    /** [step] the vectors, and whether there was one. */
    double (*vector)[ACTUATORS];
    bool *committed;
    uint32_t steps;
    /** [tape] turn behind the last one that was looked at. */
    rm_turn next[TAPES];
    /** [input] turn of the record that it sends next. */
    rm_turn fed[TEST_INPUTS];
    struct rm_workspace *workspace;
    uint64_t random;
};

/** Turns from one step to the next. */
static inline rm_turn steps_period(void) { return of_a_step * TEST_PERIOD; }

/** Only what takes runs has the last tape. */
static inline unsigned tapes(void) { return of_a_step > 1 ? TAPES : UNFINISHED; }

static inline uint64_t draw(struct replay_test *replay) {
    replay->random = replay->random * 6364136223846793005ull + 1442695040888963407ull;
    return replay->random >> 33;
}

/* ── recording ── */

static inline void look_at_streams(struct replay_test *replay) {
    struct rm_error error;
    if (rm_workspace_attach("demo", 0, &replay->workspace, &error) != RM_OK)
        fail_msg("%s", error.text);
    for (unsigned i = 0; i < tapes(); ++i) {
        replay->tape[i].name = NAMES[i];
        if (rm_workspace_stream(replay->workspace, NAMES[i], &replay->tape[i].view, &error) != RM_OK)
            fail_msg("%s", error.text);
        replay->tape[i].stream = *replay->tape[i].view.header;
        if (replay->tape[i].record == NULL)
            replay->tape[i].record = rm_zeroed(TAPE_RECORDS, sizeof(struct rm_record));
        assert_non_null(replay->tape[i].record);
    }
    /* Its code says that records are of half a step before; those of decisions are of their turn. */
    assert_true(replay->tape[SUM].stream.group_delay_turns == 0.5 * (double)steps_period());
    assert_true(replay->tape[DECISION].stream.group_delay_turns == 0.0);
}

static inline void record_tape(struct replay_test *replay, unsigned i, rm_turn turn) {
    struct tape *tape = &replay->tape[i];
    for (; replay->next[i] <= turn; replay->next[i] += TEST_PERIOD) {
        assert_true(tape->count < TAPE_RECORDS);
        tape->count += rm_stream_read(&tape->view, replay->next[i], &tape->record[tape->count]) == RM_READ_OK;
    }
}

/** Records of all turns up to this one; of inputs in runs some steps later, when late ones have come. */
static inline void record_turns(struct replay_test *replay, rm_turn turn) {
    for (unsigned i = 0; i < tapes(); ++i)
        record_tape(replay, i, i < DECISION && of_a_step > 1 ? turn - 4 * steps_period() : turn);
}

static inline uint32_t lane(struct replay_test const *replay, unsigned tape, uint32_t record, unsigned number) {
    return (uint32_t)replay->tape[tape].record[record].lane[number].i;
}

/** Records a step, and the vector that it has committed. Returns its turn. */
static inline rm_turn record_step(struct host_test *test, struct replay_test *replay) {
    rm_turn const turn = rm_stream_head(&replay->tape[DECISION].view);
    record_turns(replay, turn);
    struct rm_setpoints_place place = {.next = 0};
    struct rm_setpoint_reading reading = {.input_turn = RM_TURN_NONE};
    uint32_t const step = replay->steps++;
    assert_int_equal(replay->tape[DECISION].count, replay->steps);
    bool const has = rm_setpoints_copy(test->host->vectors, rm_setpoint_vector_bytes(ACTUATORS), &place, &reading,
                                       replay->vector[step], ACTUATORS);
    replay->committed[step] = has && reading.input_turn == turn;
    assert_int_equal(replay->committed[step],
                     (lane(replay, DECISION, step, RM_DECISION_FLAGS) & RM_DECISION_COMMITTED) != 0);
    return turn;
}

/** An input sends what it has until `turn`: in runs of all turns, and now and then it ends in their midst, and sends the
 * rest in the next cycle, too late for the step. */
static inline void feed_input(struct host_test *test, struct replay_test *replay, unsigned input, rm_turn turn) {
    if (of_a_step == 1)
        replay->fed[input] = turn;
    for (; replay->fed[input] <= turn; replay->fed[input] += TEST_PERIOD) {
        if (of_a_step > 1 && draw(replay) % 64 == 0)
            return;
        if (draw(replay) % 16 != 0)
            test_server_record(&test->server, input, replay->fed[input], (int32_t)draw(replay));
    }
}

/** A cycle: most inputs come; most cycles the supplies are sent something else; now and then turns are left out. */
static inline void run_cycle(struct host_test *test, struct replay_test *replay) {
    test->turn += steps_period() * (draw(replay) % 64 == 0 ? 3 : 1);
    rm_turn const turn = test->turn;
    if (draw(replay) % 4 != 0)
        test_server_send(&test->server, (double)draw(replay) * 1e-9);
    duty(test); // which reads what was sent, as nothing of the turn has come
    for (unsigned input = 0; input < TEST_INPUTS; ++input)
        feed_input(test, replay, input, turn);
    for (rm_turn stepped = 0; stepped < turn;) {
        if (duty(test) == 1)
            stepped = record_step(test, replay);
        else
            test->turn = turn + CLOSING + test->setup.deadline_turns;
    }
    test->turn = turn;
}

static inline void put_setting(struct host_test *test, char const *name, uint64_t first, double const *values,
                               size_t count) {
    struct host_asker asker = asker_open();
    struct rm_reply const reply = reply_to(test, &asker, ask_part(&asker, name, first, values, count));
    if (reply.verdict != RM_VERDICT_DONE)
        fail_msg("%s: %s", name, reply.reason);
    asker_close(&asker);
}

static inline void begin_grant(struct host_test *test, struct replay_test *replay) {
    uint64_t const before = counter(test, RM_APPLICATION_STEPS);
    grant(test);
    test->turn += steps_period();
    for (unsigned i = 0; i < TEST_INPUTS; ++i) { // it waits for inputs that have begun
        test_server_record(&test->server, i, test->turn, 1);
        replay->fed[i] = test->turn + TEST_PERIOD;
    }
    turn_until(test, RM_APPLICATION_STEPS, before + 1);
    record_step(test, replay);
}

static inline uint32_t adopted_last(struct replay_test const *replay) {
    return lane(replay, DECISION, replay->steps - 1, RM_DECISION_ADOPTED);
}

/** Cycles, with people who set something else in between, and until the steps have adopted so many results of `work`,
 * whose thread may have to wait for a core. */
static inline void run_life(struct host_test *test, struct replay_test *replay, uint32_t steps, uint32_t adoptions) {
    uint32_t const end = replay->steps + steps;
    uint64_t const give_up_ns = rm_monotonic_ns() + 3 * TIMEOUT_NS;
    double values[REPLAYED_LENGTH];
    put_setting(test, "app/enable", 0, (double[]){1.0}, 1);
    while (replay->steps < end || adopted_last(replay) < adoptions) {
        assert_true(rm_monotonic_ns() < give_up_ns);
        if (replay->steps >= end)
            usleep(5000);
        run_cycle(test, replay);
        if (draw(replay) % 512 != 0)
            continue;
        for (unsigned i = 0; i < REPLAYED_LENGTH; ++i)
            values[i] = (double)draw(replay) * 1e-9;
        put_setting(test, "app/weight", 0, values, REPLAYED_LENGTH);
        put_setting(test, "app/gain", 0, values, 1);
    }
    for (unsigned i = 0; i < 2 * REPLAYED_LENGTH; ++i) // all settings are told
        run_cycle(test, replay);
    for (unsigned i = 0; i < DECISION; ++i)
        record_tape(replay, i, rm_stream_head(&replay->tape[i].view));
    assert_true((counter(test, RM_APPLICATION_LOST) > 0) == (of_a_step > 1));
}

static inline void open_recorded(struct host_test *test, struct replay_test *replay) {
    open_host(test);
    look_at_streams(replay);
    begin_grant(test, replay);
}

/** Two processes, of which the first is granted twice. */
static inline void make_recording(struct host_test *test, struct replay_test *replay) {
    test->setup.input_count = TEST_INPUTS;
    test->setup.input = inputs;
    replay->random = 20261125;
    test->setup.period_turns = steps_period();
    test->setup.deadline_turns = 2 * steps_period();
    for (unsigned i = 0; i < TAPES; ++i)
        replay->next[i] = test->turn;
    replay->vector = calloc(TAPE_RECORDS, sizeof *replay->vector);
    replay->committed = calloc(TAPE_RECORDS, sizeof *replay->committed);
    assert_true(replay->vector != NULL && replay->committed != NULL);
    open_recorded(test, replay);
    run_life(test, replay, STEPS, ADOPTIONS);
    begin_grant(test, replay);
    run_life(test, replay, STEPS / 4, 0);
    rm_host_close(test->host);
    rm_workspace_detach(replay->workspace);
    open_recorded(test, replay);
    run_life(test, replay, STEPS / 4, 0);
    rm_workspace_detach(replay->workspace);
    rm_host_close(test->host);
    test->host = NULL;
}

#endif
