// SPDX-License-Identifier: Apache-2.0
/** The decision record of an application without a host, and the journal of its settings. Argument: the path of
 * test_latency_critical.so. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/host_checksum.h"
#include "host/host_decision.h"

static char const *code;

enum {
    INPUTS = RM_DECISION_MASK_INPUTS + 16,
    ACTUATORS = RM_LANES + 1,
    STREAMS = 6,
    /** Of one sort of name. */
    NAME_BYTES = 16,
    /** Elements of the code's arrays. */
    LENGTH = 400,
    /** scale, weight, off_set. */
    VALUES = 1 + LENGTH + 1,
};

struct decision_test {
    struct rm_record record[INPUTS];
    /** [stream] its last record, and how many there were. */
    struct rm_record last[STREAMS];
    uint32_t count[STREAMS];

    char file[64];
    char input_name[INPUTS][NAME_BYTES], actuator_name[ACTUATORS][NAME_BYTES];
    char const *input[INPUTS];
    struct rm_host_actuator actuator[ACTUATORS];
    struct rm_host_program *program;
    struct rm_host_decisions decisions;
    bool is_missing[INPUTS];
};

static void keep(void *context, uint32_t stream, struct rm_record const *record, uint64_t tsc) {
    struct decision_test *test = context;
    assert_true(stream < STREAMS && tsc == 77);
    test->last[stream] = *record;
    ++test->count[stream];
}

static int set_up(void **state) {
    struct decision_test *test = aligned_alloc(_Alignof(struct decision_test), sizeof *test);
    *state = memset(test, 0, sizeof *test);
    snprintf(test->file, sizeof test->file, "/dev/shm/ringmaster-decision-%ld", (long)getpid());
    FILE *file = fopen(test->file, "w");
    fprintf(file, "%d\n", LENGTH);
    fclose(file);
    for (unsigned i = 0; i < INPUTS; ++i) {
        snprintf(test->input_name[i], NAME_BYTES, "bpm%u/raw", i);
        test->input[i] = test->input_name[i];
    }
    for (unsigned i = 0; i < ACTUATORS; ++i) {
        snprintf(test->actuator_name[i], NAME_BYTES, "ps/%u", i);
        test->actuator[i] = (struct rm_host_actuator){.name = test->actuator_name[i], .unit = "A", .high = 1.0};
    }
    struct rm_host_setup const setup = {
        .name = "app",
        .code = code,
        .turn_rate_hz = 1e6,
        .period_turns = 100,
        .input_count = INPUTS,
        .input = test->input,
        .actuator_count = ACTUATORS,
        .actuator = test->actuator,
        .configuration = test->file,
    };
    struct rm_error error;
    if (rm_host_program_open(&setup, &test->program, &error) != RM_OK)
        fail_msg("%s", error.text);
    test->decisions = (struct rm_host_decisions){.put = keep, .context = test};
    assert_true(rm_host_decisions_open(&test->decisions, test->program));
    assert_int_equal(test->decisions.stream_count, STREAMS);
    assert_int_equal(rm_host_program_init(test->program, &error), RM_OK);
    rm_host_decisions_begin(&test->decisions, 0x1234567890ull);
    return 0;
}

static int tear_down(void **state) {
    struct decision_test *test = *state;
    char closed[80];
    rm_host_decisions_close(&test->decisions);
    rm_host_program_close(test->program);
    snprintf(closed, sizeof closed, "%s.closed", test->file);
    unlink(test->file);
    unlink(closed);
    free(test);
    return 0;
}

static void make_step(struct decision_test *test, rm_turn turn) {
    uint32_t missing = 0;
    rm_host_program_expect(test->program, NULL);
    for (unsigned i = 0; i < INPUTS; ++i) {
        missing += test->is_missing[i];
        test->record[i].turn = turn;
        if (!test->is_missing[i])
            rm_host_program_arrive(test->program, i, &test->record[i]);
    }
    struct rm_host_outcome outcome = {.tsc = 77, .skipped = 3, .committed = true};
    rm_host_program_step(test->program, turn, test->record, test->is_missing, missing);
    outcome.setpoints = rm_host_decisions_setpoints(&test->decisions, true);
    rm_host_program_prepare(test->program);
    rm_host_decisions_record(&test->decisions, &outcome);
}

static uint32_t lane(struct decision_test const *test, uint32_t stream, unsigned number) {
    return (uint32_t)test->last[stream].lane[number].i;
}

static void test_says_which_are_missing(void **state) {
    struct decision_test *test = *state;
    make_step(test, 100);
    assert_int_equal(test->count[2] + test->count[3], 0);
    test->is_missing[0] = test->is_missing[63] = test->is_missing[RM_DECISION_MASK_INPUTS + 5] = true;
    make_step(test, 200);
    assert_int_equal(lane(test, RM_DECISION_STREAM, RM_DECISION_MISSING), 3);
    assert_int_equal(lane(test, 2, 0), 1);
    assert_int_equal(lane(test, 2, 1), 0x80000000u);
    assert_int_equal(lane(test, 2, 2), 0);
    assert_int_equal(lane(test, 3, 0), 1u << 5);
    assert_int_equal(test->last[3].turn, 200);
}

static void test_says_what_was_sent_where_it_changes(void **state) {
    struct decision_test *test = *state;
    uint32_t const groups[] = {4, 5};
    test->program->sent[0] = NAN;
    make_step(test, 100);
    assert_int_equal(lane(test, RM_DECISION_STREAM, RM_DECISION_SENT), 2);
    make_step(test, 200);
    assert_int_equal(lane(test, RM_DECISION_STREAM, RM_DECISION_SENT), 0);
    test->program->sent[RM_LANES] = -0.5;
    make_step(test, 300);
    assert_int_equal(lane(test, RM_DECISION_STREAM, RM_DECISION_SENT), 1);
    assert_true(test->last[groups[1]].turn == 300 && test->last[groups[1]].lane[0].f == -0.5f);
    assert_true(test->last[groups[0]].turn == 100 && isnan(test->last[groups[0]].lane[0].f));
    rm_host_decisions_begin(&test->decisions, 1);
    make_step(test, 400);
    assert_int_equal(lane(test, RM_DECISION_STREAM, RM_DECISION_SENT), 2);
}

/** All but `decision`: a turn without a record of them has lost nothing. */
static void test_says_which_speak_on_change_alone(void **state) {
    struct decision_test *test = *state;
    char name[RM_LANE_NAME_BYTES + 8], description[RM_DESCRIPTION_BYTES];
    for (uint32_t i = 0; i < STREAMS; ++i) {
        struct rm_stream stream;
        rm_host_decisions_stream(&test->decisions, i, &stream, name, description);
        assert_string_equal(stream.filter, i == RM_DECISION_STREAM ? "none" : "on-change");
    }
}

static void test_numbers_and_flags(void **state) {
    struct decision_test *test = *state;
    make_step(test, 100);
    assert_int_equal(lane(test, RM_DECISION_STREAM, RM_DECISION_GRANT), 0x34567890u);
    assert_int_equal(lane(test, RM_DECISION_STREAM, RM_DECISION_FLAGS), RM_DECISION_COMMITTED | RM_DECISION_OPENED);
    make_step(test, 200);
    assert_int_equal(lane(test, RM_DECISION_STREAM, RM_DECISION_STEP), 1);
    assert_int_equal(lane(test, RM_DECISION_STREAM, RM_DECISION_SKIPPED), 3);
    assert_int_equal(lane(test, RM_DECISION_STREAM, RM_DECISION_FLAGS), RM_DECISION_COMMITTED);
    assert_int_equal(rm_tag_status(test->last[RM_DECISION_STREAM].tag), 0);
}

/** Any bit of status and lanes, and of setpoints; not the time of arrival. */
static void test_checksums(void **state) {
    struct decision_test *test = *state;
    make_step(test, 100);
    make_step(test, 200);
    uint32_t const inputs = lane(test, RM_DECISION_STREAM, RM_DECISION_INPUTS);
    for (unsigned bit = 0; bit < 64; ++bit) {
        unsigned const input = bit * 5 % INPUTS;
        test->record[input].tag ^= 1ull << bit;
        make_step(test, 300 + bit * 100);
        test->record[input].tag ^= 1ull << bit;
        assert_int_equal(lane(test, RM_DECISION_STREAM, RM_DECISION_INPUTS) == inputs, bit < 48);
        test->record[input].lane[bit % RM_LANES].i ^= (int32_t)(1u << bit % 32);
        make_step(test, 350 + bit * 100);
        test->record[input].lane[bit % RM_LANES].i ^= (int32_t)(1u << bit % 32);
        assert_int_not_equal(lane(test, RM_DECISION_STREAM, RM_DECISION_INPUTS), inputs);
    }
    uint32_t const setpoints = rm_host_decisions_setpoints(&test->decisions, true);
    assert_int_not_equal(rm_host_decisions_setpoints(&test->decisions, false), setpoints);
    for (unsigned a = 0; a < ACTUATORS; ++a)
        for (unsigned b = a + 1; b < ACTUATORS; ++b) { // two signs
            test->program->command.setpoint[a] *= -1.0;
            test->program->command.setpoint[b] *= -1.0;
            assert_int_not_equal(rm_host_decisions_setpoints(&test->decisions, true), setpoints);
            test->program->command.setpoint[a] *= -1.0;
            test->program->command.setpoint[b] *= -1.0;
        }
}

/** Each value of each generation in order, whatever is left, and the checksum of all. */
static void test_journal(void **state) {
    struct decision_test *test = *state;
    struct rm_host_journal *journal = &test->decisions.journal;
    double told[VALUES] = {0};
    uint32_t steps = 0, changed_at = 0;
    for (rm_turn turn = 100; steps == 0 || lane(test, RM_ADOPTED_STREAM, RM_ADOPTED_LEFT) != 0 ||
                             lane(test, RM_ADOPTED_STREAM, RM_ADOPTED_GENERATION) != 2;
         turn += 100, ++steps) {
        if (steps == 20) {
            test->program->setting[0] = 7.5;
            test->program->setting[VALUES - 1] = -7.5;
            rm_host_decisions_adopt(&test->decisions);
            changed_at = steps;
        }
        make_step(test, turn);
        assert_int_equal(lane(test, RM_DECISION_STREAM, RM_DECISION_SETTINGS), steps < 20 ? 1 : 2);
        for (unsigned v = 0; v < RM_ADOPTED_VALUES; ++v) {
            union rm_lane const *place = test->last[RM_ADOPTED_STREAM].lane + RM_ADOPTED_FIRST + 3 * v;
            if (place->i >= 0)
                memcpy(&told[place->i], place + 1, sizeof told[0]);
        }
    }
    assert_int_equal(changed_at, 20);
    assert_int_equal(steps, (VALUES + 2) / 3 + 1);
    assert_memory_equal(told, test->program->setting, sizeof told);
    struct rm_checksum sum = rm_checksum_begin();
    rm_checksum_add(&sum, told, VALUES);
    assert_int_equal(lane(test, RM_ADOPTED_STREAM, RM_ADOPTED_CHECKSUM), rm_checksum_end(&sum));
    make_step(test, 1000000);
    assert_int_equal(test->count[RM_ADOPTED_STREAM], steps);
    rm_host_decisions_adopt(&test->decisions); // and nothing has changed
    assert_int_equal(journal->generation, 2);
}

static void change_all(struct decision_test *test) {
    for (unsigned i = 0; i < VALUES; ++i)
        test->program->setting[i] += 1.0;
    rm_host_decisions_adopt(&test->decisions);
}

/** It has room for all settings, or says that it has not until steps have told some. An init always finds some. */
static void test_journal_room(void **state) {
    struct decision_test *test = *state;
    struct rm_host_journal *journal = &test->decisions.journal;
    uint32_t changes = 0, steps = 0;
    rm_turn turn = 0;
    for (; rm_host_journal_has_room(journal); ++changes) {
        change_all(test);
        make_step(test, turn += 100);
    }
    assert_int_equal(changes, 4); // the first is told with the init
    for (; !rm_host_journal_has_room(journal); ++steps)
        make_step(test, turn += 100);
    assert_int_equal(steps, (VALUES - 4 * RM_ADOPTED_VALUES + 2) / RM_ADOPTED_VALUES);
    change_all(test);
    make_step(test, turn += 100);
    rm_host_decisions_begin(&test->decisions, 2);
    assert_int_equal(journal->written - journal->taken, journal->room);
    while (journal->taken < journal->written)
        make_step(test, turn += 100);
    assert_int_equal(lane(test, RM_ADOPTED_STREAM, RM_ADOPTED_GENERATION), changes + 2);
    assert_int_equal(lane(test, RM_ADOPTED_STREAM, RM_ADOPTED_LEFT), 0);
}

/** Without a step in between settings change as often as they like: the step has one generation, of what is another. */
static void test_changes_that_no_step_has_used(void **state) {
    struct decision_test *test = *state;
    make_step(test, 100);
    uint64_t const written = test->decisions.journal.written;
    for (unsigned i = 0; i < 20; ++i)
        change_all(test);
    assert_int_equal(test->decisions.journal.generation, 2);
    for (unsigned i = 0; i < VALUES; ++i)
        test->program->setting[i] -= i == 7 ? 19.0 : 20.0;
    rm_host_decisions_adopt(&test->decisions);
    assert_int_equal(test->decisions.journal.written, written + 1);
    test->program->setting[7] -= 1.0;
    rm_host_decisions_adopt(&test->decisions);
    assert_int_equal(test->decisions.journal.written, written);
    make_step(test, 200);
    assert_int_equal(lane(test, RM_DECISION_STREAM, RM_DECISION_SETTINGS), 1);
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    code = argv[1];
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_says_which_are_missing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_says_what_was_sent_where_it_changes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_says_which_speak_on_change_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_numbers_and_flags, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_checksums, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_journal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_journal_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_changes_that_no_step_has_used, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
