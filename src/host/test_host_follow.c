// SPDX-License-Identifier: Apache-2.0
/** A follower makes the steps of a live host again while its records come, a few at a time and each stream at its own
 * pace; and says what is missing. Arguments: the paths of test_replayed.so, test_replayed_whole.so and
 * test_replayed_runs.so (test_host_replay.c). */
#include "host/host_follow.h"
#include "host/test_replay_tapes.h"

/** A follower in the midst of a recording. */
struct follow_test {
    struct rm_record record[TEST_INPUTS];
    struct rm_host_decisions decisions;
    struct rm_host_follow follow;
    struct rm_host_runs runs;
    struct replay_test *replay;
    struct rm_host_program *program;
    bool missing[TEST_INPUTS];
    /** Newest turn that is there, of the decision streams and of the inputs. */
    rm_turn decided, arrived;
    /** An input, a record of which is lost here; and its turn. */
    unsigned lost;
    rm_turn lost_turn;
    /** `work` was called since the last step. */
    bool has_worked;
};

static unsigned tape_of(enum rm_obey_stream stream, uint32_t number) {
    static unsigned const TAPE[] = {DECISION, ADOPTED, MISSING, SENT, UNFINISHED, BPM};
    return TAPE[stream] + number;
}

/** Index of the first record at or behind a turn. */
static uint32_t tape_find_turn(struct tape const *tape, rm_turn turn) {
    uint32_t low = 0, high = tape->count;
    while (low < high) {
        uint32_t const middle = (low + high) / 2;
        if (tape->record[middle].turn < turn)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static rm_turn there(struct follow_test const *it, enum rm_obey_stream stream) {
    return stream == RM_OBEY_INPUT ? it->arrived : it->decided;
}

static enum rm_obey_look test_at(void *context, enum rm_obey_stream stream, uint32_t number, rm_turn turn,
                                 struct rm_record const **record) {
    struct follow_test const *it = context;
    struct tape const *tape = &it->replay->tape[tape_of(stream, number)];
    uint32_t const i = tape_find_turn(tape, turn);
    if (turn > there(it, stream))
        return RM_OBEY_COMES;
    if (i == tape->count || tape->record[i].turn != turn)
        return RM_OBEY_IS_NOWHERE;
    if (stream == RM_OBEY_INPUT && number == it->lost && turn == it->lost_turn)
        return RM_OBEY_IS_NOWHERE;
    *record = &tape->record[i];
    return RM_OBEY_IS_THERE;
}

static enum rm_obey_look test_next(void *context, enum rm_obey_stream stream, rm_turn *turn,
                                   struct rm_record const **record) {
    struct follow_test const *it = context;
    struct tape const *tape = &it->replay->tape[tape_of(stream, 0)];
    uint32_t const i = tape_find_turn(tape, *turn);
    if (i == tape->count || tape->record[i].turn > there(it, stream))
        return RM_OBEY_COMES;
    *turn = tape->record[i].turn;
    *record = &tape->record[i];
    return RM_OBEY_IS_THERE;
}

static bool test_has_worked(void *context) { return ((struct follow_test const *)context)->has_worked; }

static void put_nowhere(void *context, uint32_t stream, struct rm_record const *record, uint64_t tsc) {
    (void)context;
    (void)stream;
    (void)record;
    (void)tsc;
}

static void follow_open(struct host_test *test, struct replay_test *replay, struct follow_test *it) {
    struct rm_error error;
    *it = (struct follow_test){.replay = replay, .lost = TEST_INPUTS, .decisions = {.put = put_nowhere}};
    if (rm_host_program_open(&test->setup, &it->program, &error) != RM_OK)
        fail_msg("%s", error.text);
    assert_true(rm_host_decisions_open(&it->decisions, it->program));
    assert_true(rm_host_runs_open(&it->runs, TEST_INPUTS, test->setup.period_turns));
    for (uint32_t i = 0; i < TEST_INPUTS; ++i) {
        it->program->input[i] = &replay->tape[BPM + i].stream;
        if (of_a_step > 1)
            assert_true(rm_host_runs_make_room(&it->runs, i, it->program->input[i]));
        it->record[i] = (struct rm_record){.turn = RM_TURN_NONE};
    }
    it->follow.obey = (struct rm_host_obey){
        .source = {.at = test_at, .next = test_next, .has_worked = test_has_worked, .context = it},
        .program = it->program,
        .decisions = &it->decisions,
        .runs = &it->runs,
        .record = it->record,
        .missing = it->missing,
    };
    assert_true(rm_host_follow_open(&it->follow));
    it->decided = it->arrived = replay->tape[DECISION].record[0].turn;
}

static void follow_close(struct follow_test *it) {
    rm_host_follow_close(&it->follow);
    rm_host_runs_close(&it->runs);
    rm_host_decisions_close(&it->decisions);
    rm_host_program_close(it->program);
}

/** Something more comes: decisions, inputs, or a result of `work`. */
static void let_come(struct follow_test *it) {
    rm_turn const period = it->program->setup.period_turns;
    switch (draw(it->replay) % 3) {
    case 0:
        it->decided += draw(it->replay) % 4 * period;
        return;
    case 1:
        it->arrived += draw(it->replay) % 4 * period;
        return;
    default:
        rm_host_program_work(it->program);
        it->has_worked = true;
        return;
    }
}

/** Follows until a copy is needed, or a step differs, or the records are at their end. Steps are compared with what the
 * host has committed. */
static enum rm_host_followed follow_on(struct follow_test *it, struct rm_host_replayed *told) {
    struct replay_test const *replay = it->replay;
    rm_turn const end = replay->tape[DECISION].record[replay->tape[DECISION].count - 1].turn;
    for (;;) {
        enum rm_host_followed const followed = rm_host_follow_step(&it->follow, told);
        if (followed == RM_FOLLOW_NEEDS_COPY || (followed == RM_FOLLOW_STEPPED && told->differs != RM_REPLAY_SAME))
            return followed;
        if (followed == RM_FOLLOW_WAITING) {
            if (told->turn == RM_TURN_NONE && it->decided > end)
                return followed;
            let_come(it);
            continue;
        }
        it->has_worked = false;
        uint32_t const i = tape_find_turn(&replay->tape[DECISION], told->turn);
        assert_int_equal(told->committed, replay->committed[i]);
        if (told->committed)
            assert_memory_equal(told->setpoint, replay->vector[i], sizeof replay->vector[i]);
    }
}

/** The turn of the second step that was the first of a process. */
static uint32_t opened_again(struct replay_test const *replay) {
    uint32_t i = 1;
    while ((lane(replay, DECISION, i, RM_DECISION_FLAGS) & RM_DECISION_OPENED) == 0)
        ++i;
    return i;
}

static void follows_to_the_bit(struct host_test *test, struct replay_test *replay) {
    struct follow_test it;
    struct rm_host_replayed told;
    uint32_t const again = opened_again(replay);
    follow_open(test, replay, &it);
    enum rm_host_followed const followed = follow_on(&it, &told);
    if (followed != RM_FOLLOW_NEEDS_COPY || it.follow.followed != again)
        fail_msg("%llu steps followed of %u: %s: %s", (unsigned long long)it.follow.followed, again,
                 rm_replay_difference_text(told.differs), told.text);
    assert_non_null(strstr(told.text, "started anew"));
    assert_int_equal(it.follow.differences, 0);
    assert_true(it.follow.waits > 0);
    follow_close(&it);
}

/** A record that the active server had and this one has not: a copy is needed, and nothing of the step was made. */
static void an_input_that_is_lost_needs_a_copy(struct host_test *test, struct replay_test *replay) {
    struct follow_test it;
    struct rm_host_replayed told;
    follow_open(test, replay, &it);
    uint32_t step = 500;
    while (lane(replay, DECISION, step, RM_DECISION_MISSING) != 0)
        ++step;
    it.lost = 1;
    it.lost_turn = replay->tape[DECISION].record[step].turn;
    assert_int_equal(follow_on(&it, &told), RM_FOLLOW_NEEDS_COPY);
    assert_int_equal(told.differs, RM_REPLAY_INPUTS);
    assert_non_null(strstr(told.text, "bpm02/fast has no record of this turn"));
    assert_true(told.turn == it.lost_turn && it.follow.obey.next <= told.turn);
    assert_int_equal(it.follow.followed, step);
    follow_close(&it);
}

/** One bit of what the active server commanded is another: it is counted and named, and the next step is made. */
static void a_difference_is_named(struct host_test *test, struct replay_test *replay) {
    struct follow_test it;
    struct rm_host_replayed told;
    struct rm_record *record = &replay->tape[DECISION].record[700];
    follow_open(test, replay, &it);
    record->lane[RM_DECISION_SETPOINTS].i ^= 1 << 5;
    assert_int_equal(follow_on(&it, &told), RM_FOLLOW_STEPPED);
    record->lane[RM_DECISION_SETPOINTS].i ^= 1 << 5;
    assert_int_equal(told.differs, RM_REPLAY_SETPOINTS);
    assert_true(told.turn == record->turn);
    assert_int_equal(it.follow.differences, 1);
    follow_on(&it, &told);
    assert_int_equal(it.follow.followed, opened_again(replay));
    assert_int_equal(it.follow.differences, 1);
    follow_close(&it);
}

/** A process that had stepped before began anew: what it keeps in memory a fresh follower has not. */
static void a_fresh_follower_needs_a_copy_of_an_older_process(struct host_test *test, struct replay_test *replay) {
    struct follow_test it;
    struct rm_host_replayed told;
    struct rm_record *first = &replay->tape[DECISION].record[0];
    follow_open(test, replay, &it);
    first->lane[RM_DECISION_FLAGS].i ^= RM_DECISION_OPENED;
    assert_int_equal(follow_on(&it, &told), RM_FOLLOW_NEEDS_COPY);
    first->lane[RM_DECISION_FLAGS].i ^= RM_DECISION_OPENED;
    assert_int_equal(told.differs, RM_REPLAY_DECISION);
    assert_int_equal(it.follow.followed, 0);
    follow_close(&it);
}

static void test_follower(void **state) {
    struct host_test *test = *state;
    struct replay_test *replay = calloc(1, sizeof *replay);
    assert_non_null(replay);
    make_recording(test, replay);
    follows_to_the_bit(test, replay);
    an_input_that_is_lost_needs_a_copy(test, replay);
    a_difference_is_named(test, replay);
    a_fresh_follower_needs_a_copy_of_an_older_process(test, replay);
    for (unsigned i = 0; i < TAPES; ++i)
        free(replay->tape[i].record);
    free(replay->vector);
    free(replay->committed);
    free(replay);
}

int main(int argc, char **argv) {
    int failed = 0;
    if (argc != 4)
        return 2;
    struct CMUnitTest const tests[] = {cmocka_unit_test_setup_teardown(test_follower, set_up, tear_down)};
    for (int i = 1; i < 4; ++i) {
        application = argv[i];
        of_a_step = i == 3 ? RUN : 1;
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    }
    return failed;
}
