// SPDX-License-Identifier: Apache-2.0
/** A live host leaves its decision record; a replay of what was recorded makes the same steps, to the bit, and finds
 * what is not as it was. Arguments: the paths of test_replayed.so, which takes records as they come, of
 * test_replayed_whole.so, which does not, and of test_replayed_runs.so, which takes four of each input in a step, and
 * those of the steps that were skipped; and of one whose delay cannot be. */
#include "host/test_replay_tapes.h"

#include "base/fail.h"
#include "host/host_replay.h"

/** Path of an application that says that records are of turns to come. */
static char const *wrong_delay;

/* ── replaying ── */

static enum rm_code tape_find(void *context, char const *name, struct rm_recorded_stream *found,
                              struct rm_error *error) {
    struct replay_test const *replay = context;
    for (unsigned i = 0; i < tapes(); ++i) {
        struct tape const *tape = &replay->tape[i];
        if (strcmp(name, NAMES[i]) != 0)
            continue;
        *found =
            (struct rm_recorded_stream){.stream = tape->stream,
                                        .number = i,
                                        .first = tape->count > 0 ? tape->record[0].turn : RM_TURN_NONE,
                                        .last = tape->count > 0 ? tape->record[tape->count - 1].turn : RM_TURN_NONE};
        return RM_OK;
    }
    return rm_fail(error, RM_E_NOT_FOUND, "%s was not recorded", name);
}

static enum rm_code tape_read(void *context, uint32_t number, rm_turn first, size_t count, struct rm_record *records,
                              struct rm_error *error) {
    (void)error;
    struct tape const *tape = &((struct replay_test const *)context)->tape[number];
    uint32_t low = 0, high = tape->count;
    while (low < high) {
        uint32_t const middle = (low + high) / 2;
        if (tape->record[middle].turn < first)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = 0; i < count; ++i) {
        bool const is_there = low < tape->count && tape->record[low].turn == first + i * tape->stream.period;
        records[i] = is_there ? tape->record[low++] : (struct rm_record){.turn = RM_TURN_NONE};
    }
    return RM_OK;
}

/** Replays until something differs, or the end: returns how many steps were the same. */
static uint32_t replay_all(struct host_test *test, struct replay_test *replay, struct rm_host_replayed *step) {
    struct rm_recorded_source const recorded = {.find = tape_find, .read = tape_read, .context = replay};
    struct rm_error error = {.text = ""};
    struct rm_host_replay *it = NULL;
    uint32_t same = 0;
    enum rm_code code = rm_host_replay_open(&test->setup, &recorded, &it, &error);
    while (code == RM_OK) {
        code = rm_host_replay_step(it, step, &error);
        if (code != RM_OK || step->differs != RM_REPLAY_SAME)
            break;
        assert_int_equal(step->committed, replay->committed[same]);
        if (step->committed)
            assert_memory_equal(step->setpoint, replay->vector[same], sizeof replay->vector[same]);
        ++same;
    }
    if (code != RM_OK && code != RM_E_ABSENT)
        fail_msg("%s", error.text);
    rm_host_replay_close(it);
    return same;
}

static void assert_differs(struct host_test *test, struct replay_test *replay, rm_turn turn,
                           enum rm_replay_difference differs, char const *words) {
    struct rm_host_replayed step = {.turn = RM_TURN_NONE};
    replay_all(test, replay, &step);
    if (step.differs != differs || step.turn != turn || strstr(step.text, words) == NULL)
        fail_msg("turn %llu, %s: %s; expected turn %llu, %s: %s", (unsigned long long)step.turn,
                 rm_replay_difference_text(step.differs), step.text, (unsigned long long)turn,
                 rm_replay_difference_text(differs), words);
}

/** The turn of the step that was given a record. */
static rm_turn step_of(struct replay_test const *replay, struct rm_record const *record) {
    struct tape const *decision = &replay->tape[DECISION];
    uint32_t i = 0;
    while (i + 1 < decision->count && decision->record[i].turn < record->turn)
        ++i;
    return decision->record[i].turn;
}

/** Changes one bit of a lane, replays, and changes it back. */
static void flip(struct host_test *test, struct replay_test *replay, unsigned tape, uint32_t record, unsigned number,
                 uint32_t bit, enum rm_replay_difference differs) {
    struct rm_record *it = &replay->tape[tape].record[record];
    it->lane[number].i ^= (int32_t)(1u << bit);
    assert_differs(test, replay, step_of(replay, it), differs, "");
    it->lane[number].i ^= (int32_t)(1u << bit);
}

/** Takes one record out, replays, and puts it back. */
static void lose(struct host_test *test, struct replay_test *replay, unsigned tape, uint32_t record, rm_turn turn,
                 enum rm_replay_difference differs, char const *words) {
    struct tape *it = &replay->tape[tape];
    struct rm_record const lost = it->record[record];
    memmove(it->record + record, it->record + record + 1, (it->count - record - 1) * sizeof lost);
    --it->count;
    assert_differs(test, replay, turn, differs, words);
    memmove(it->record + record + 1, it->record + record, (it->count - record) * sizeof lost);
    it->record[record] = lost;
    ++it->count;
}

/** A record in the midst of a run: none behind it was late, and it was not. */
static uint32_t in_a_run(struct replay_test const *replay, uint32_t record) {
    struct tape const *bpm = &replay->tape[BPM];
    while (step_of(replay, &bpm->record[record]) != step_of(replay, &bpm->record[record + 1]) ||
           step_of(replay, &bpm->record[record + 1]) != bpm->record[record + 1].turn)
        ++record;
    return record;
}

/** A bit and a record of a run are found, though neither is the step's own turn; and what had not come then. */
static void find_changes_of_runs(struct host_test *test, struct replay_test *replay) {
    uint32_t const record = in_a_run(replay, 400), unfinished = replay->tape[UNFINISHED].count / 2;
    rm_turn const turn = step_of(replay, &replay->tape[BPM].record[record]);
    flip(test, replay, BPM, record, 0, 0, RM_REPLAY_INPUTS);
    lose(test, replay, BPM, record, turn, RM_REPLAY_INPUTS, "are not those that the step had");
    lose(test, replay, UNFINISHED, unfinished, replay->tape[UNFINISHED].record[unfinished].turn, RM_REPLAY_INPUTS,
         "how much of its run");
    flip(test, replay, DECISION, 100, RM_DECISION_FLAGS, RM_DECISION_RUN_SHIFT + 3, RM_REPLAY_INPUTS);
}

static uint32_t with(struct replay_test const *replay, uint32_t from, unsigned number) {
    uint32_t step = from;
    while (lane(replay, DECISION, step, number) == 0)
        ++step;
    return step;
}

/** One changed bit is found in the step that had it. */
static void find_changes(struct host_test *test, struct replay_test *replay) {
    for (unsigned i = 0; i < 4; ++i) {
        uint32_t const record = (uint32_t)(draw(replay) % (STEPS / 2)) + 10;
        flip(test, replay, BPM + i % 2, record, 0, (uint32_t)(draw(replay) % 32), RM_REPLAY_INPUTS);
        flip(test, replay, SENT, record / 2, i % ACTUATORS, 31, RM_REPLAY_INPUTS);
        flip(test, replay, MISSING, record / 16, 0, i % 2, RM_REPLAY_INPUTS);
    }
    flip(test, replay, DECISION, 100, RM_DECISION_SETPOINTS, 7, RM_REPLAY_SETPOINTS);
    flip(test, replay, DECISION, 100, RM_DECISION_VISIBLE, 31, RM_REPLAY_VISIBLE);
    flip(test, replay, DECISION, 100, RM_DECISION_ASKED, 0, RM_REPLAY_RESULT);
    struct rm_record *step = &replay->tape[DECISION].record[100];
    int32_t const generation = step->lane[RM_DECISION_SETTINGS].i;
    step->lane[RM_DECISION_SETTINGS].i = -1; // no generation is above it
    assert_differs(test, replay, step->turn, RM_REPLAY_SETTINGS, "are not all on record");
    step->lane[RM_DECISION_SETTINGS].i = generation;
    struct rm_record *value = &replay->tape[ADOPTED].record[1];
    value->lane[RM_ADOPTED_FIRST + 1].i ^= 1;
    assert_differs(test, replay, replay->tape[DECISION].record[0].turn, RM_REPLAY_SETTINGS, "are not those");
    value->lane[RM_ADOPTED_FIRST + 1].i ^= 1;
}

/** And so is a lost record. */
static void find_losses(struct host_test *test, struct replay_test *replay) {
    struct tape const *bpm = &replay->tape[BPM], *decision = &replay->tape[DECISION];
    lose(test, replay, BPM, 501, bpm->record[501].turn, RM_REPLAY_INPUTS, "bpm01/fast has no record of this turn");
    lose(test, replay, DECISION, 500, decision->record[501].turn, RM_REPLAY_DECISION, "step 500 is not");
    lose(test, replay, SENT, 300, replay->tape[SENT].record[300].turn, RM_REPLAY_SENT, "0 records of what");
    uint32_t const missed = with(replay, 700, RM_DECISION_MISSING);
    uint32_t mask = 0;
    while (replay->tape[MISSING].record[mask].turn != decision->record[missed].turn)
        ++mask;
    lose(test, replay, MISSING, mask, decision->record[missed].turn, RM_REPLAY_INPUTS, "it is not there which");
    uint32_t adopted = 0, told = 0; // generation 2, by which it may act
    while (lane(replay, DECISION, adopted, RM_DECISION_SETTINGS) != 2)
        ++adopted;
    while (lane(replay, ADOPTED, told, RM_ADOPTED_GENERATION) != 2)
        ++told;
    lose(test, replay, ADOPTED, told, decision->record[adopted].turn, RM_REPLAY_SETTINGS,
         "of generation 2 are not all");
}

static void test_replay_is_the_same(void **state) {
    struct host_test *test = *state;
    struct replay_test *replay = calloc(1, sizeof *replay);
    assert_non_null(replay);
    make_recording(test, replay);
    struct tape const *decision = &replay->tape[DECISION];
    uint32_t flags = 0, begun = 0, skipped = 0, settings = 0, longest = 0;
    for (uint32_t i = 0; i < decision->count; ++i) {
        uint32_t const generation = lane(replay, DECISION, i, RM_DECISION_SETTINGS);
        settings = generation > settings ? generation : settings;
        uint32_t const spans = lane(replay, DECISION, i, RM_DECISION_FLAGS) >> RM_DECISION_RUN_SHIFT;
        assert_int_equal(spans > 0, of_a_step > 1);
        longest = spans > longest ? spans : longest;
        flags |= lane(replay, DECISION, i, RM_DECISION_FLAGS) & ((1u << RM_DECISION_RUN_SHIFT) - 1);
        skipped += lane(replay, DECISION, i, RM_DECISION_SKIPPED);
        begun += lane(replay, DECISION, i, RM_DECISION_STEP) == 0;
    }
    assert_int_equal(flags, RM_DECISION_COMMITTED | RM_DECISION_LATE | RM_DECISION_OPENED);
    assert_int_equal(begun, 3);
    assert_true(skipped > 0 && replay->tape[MISSING].count > STEPS / 20);
    assert_true(settings > 3);
    struct rm_host_replayed step = {.differs = RM_REPLAY_SAME};
    uint64_t const begin_ns = rm_monotonic_ns();
    uint32_t const same = replay_all(test, replay, &step);
    if (same != decision->count)
        fail_msg("step %llu at turn %llu: %s: %s", (unsigned long long)step.step, (unsigned long long)step.turn,
                 rm_replay_difference_text(step.differs), step.text);
    printf("%u steps replayed, %.0f ns each\n", same, (double)(rm_monotonic_ns() - begin_ns) / same);
    if (of_a_step > 1) {
        assert_true(longest > 2 && replay->tape[UNFINISHED].count > STEPS / 50);
        find_changes_of_runs(test, replay);
    } else {
        find_changes(test, replay);
        find_losses(test, replay);
    }
    assert_int_equal(replay_all(test, replay, &step), decision->count);
    for (unsigned i = 0; i < TAPES; ++i)
        free(replay->tape[i].record);
    free(replay->vector);
    free(replay->committed);
    free(replay);
}

/** A delay that is no number of turns is the code's mistake, and is told. */
static void test_a_delay_below_0_is_refused(void **state) {
    struct host_test *test = *state;
    struct rm_host_program *program = NULL;
    struct rm_error error;
    test->setup.code = wrong_delay;
    assert_int_equal(rm_host_program_open(&test->setup, &program, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "stream \"sum\" has a delay of -"));
}

int main(int argc, char **argv) {
    int failed = 0;
    if (argc != 5)
        return 2;
    wrong_delay = argv[4];
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_replay_is_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_delay_below_0_is_refused, set_up, tear_down),
    };
    for (int i = 1; i < 4; ++i) {
        application = argv[i];
        of_a_step = i == 3 ? RUN : 1;
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    }
    return failed;
}
