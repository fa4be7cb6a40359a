// SPDX-License-Identifier: Apache-2.0
/** Another server goes on from a copy of the state: saved at a random cycle, restored into a process that was just
 * opened, and given the same inputs, each later cycle comes to the same bits. Argument: feedback.so. */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/host_decision.h"
#include "host/host_state_bytes.h"

/** One of the two. */
struct restored_side {
    struct rm_record record[ALL];
    struct rm_host_decisions decisions;
    struct rm_host_program *program;
};

struct restored_test {
    /** The one that leads, and the one that was restored: NULL where there is none. */
    struct restored_side lead, copy;
    struct feedback_test *rig;
    uint8_t *bytes;
    size_t room, most;
    uint64_t random;
    uint32_t compared, restored;
    /** Of those that were compared: in which the loop was on. */
    uint32_t on;
};

static uint32_t draw(struct restored_test *test, uint32_t below) {
    test->random = test->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(test->random >> 33) % below;
}

static void put_nowhere(void *context, uint32_t stream, struct rm_record const *record, uint64_t tsc) {
    (void)context;
    (void)stream;
    (void)record;
    (void)tsc;
}

static void side_open(struct restored_side *side, struct rm_host_program *program) {
    *side = (struct restored_side){.program = program, .decisions = {.put = put_nowhere}};
    assert_true(rm_host_decisions_open(&side->decisions, program));
    rm_host_decisions_begin(&side->decisions, 1);
}

/** True where it sends. */
static bool side_step(struct restored_side *side, rm_turn turn, struct rm_record const *record, bool const *is_missing,
                      uint32_t missing, bool backwards) {
    struct rm_host_program *program = side->program;
    rm_host_decisions_adopt(&side->decisions);
    rm_host_program_expect(program, NULL);
    for (uint32_t k = 0; k < ALL; ++k) {
        uint32_t const i = backwards ? ALL - 1 - k : k;
        if (is_missing[i])
            continue;
        side->record[i] = record[i];
        rm_host_program_arrive(program, i, &record[i]);
    }
    return rm_host_program_step(program, turn, side->record, is_missing, missing) == RM_STEP_SEND;
}

static void side_finish(struct restored_side *side, bool committed) {
    struct rm_host_outcome const outcome = {.committed = committed,
                                            .setpoints = rm_host_decisions_setpoints(&side->decisions, committed)};
    rm_host_program_prepare(side->program);
    rm_host_decisions_record(&side->decisions, &outcome);
}

static void assert_same(struct restored_test *test, rm_turn turn) {
    static enum rm_decision_lane const LANES[] = {RM_DECISION_STEP,      RM_DECISION_MISSING, RM_DECISION_ASKED,
                                                  RM_DECISION_ADOPTED,   RM_DECISION_INPUTS,  RM_DECISION_SKIPPED,
                                                  RM_DECISION_SETPOINTS, RM_DECISION_VISIBLE};
    for (size_t i = 0; i < sizeof LANES / sizeof LANES[0]; ++i) {
        int32_t const leads = test->lead.decisions.last.lane[LANES[i]].i;
        int32_t const follows = test->copy.decisions.last.lane[LANES[i]].i;
        if (leads != follows)
            fail_msg("turn %llu: lane %d is %08x, and %08x in the copy; %u cycles were the same in %u copies",
                     (unsigned long long)turn, LANES[i], leads, follows, test->compared, test->restored);
    }
    ++test->compared;
    test->on += state_of(test->rig) == FEEDBACK_ON;
}

/** A cycle of the machine, and the same one of both. */
static void cycle_both(struct restored_test *test) {
    struct feedback_test *rig = test->rig;
    struct feedback_machine *machine = &rig->machine;
    struct rm_record record[ALL];
    bool is_missing[ALL];
    uint32_t missing = 0;
    rm_turn const turn = 1000 * PERIOD + machine->cycle * PERIOD;
    move(machine);
    for (uint32_t i = 0; i < ALL; ++i) {
        is_missing[i] = i < INPUTS && machine->wrongs.silent[i];
        missing += is_missing[i];
        record[i] = is_missing[i] ? machine->last[i] : read_input(machine, i, turn);
    }
    bool const leads = side_step(&test->lead, turn, record, is_missing, missing, machine->wrongs.backwards);
    memcpy(rig->setpoint, test->lead.program->command.setpoint, sizeof rig->setpoint);
    bool const follows = test->copy.program != NULL &&
                         side_step(&test->copy, turn, record, is_missing, missing, !machine->wrongs.backwards);
    side_finish(&test->lead, leads);
    for (uint32_t c = 0; c < CORRECTORS; ++c) {
        if (isfinite(rig->setpoint[c]) && !machine->wrongs.lost[c])
            machine->sent[c] = fmin(fmax(rig->setpoint[c], -LIMIT), LIMIT);
        test->lead.program->sent[c] = machine->wrongs.lost[c] ? NAN : (double)(float)machine->sent[c];
    }
    if (test->copy.program == NULL)
        return;
    side_finish(&test->copy, follows);
    assert_same(test, turn);
    memcpy(test->copy.program->sent, test->lead.program->sent, CORRECTORS * sizeof(double));
}

static void set_both(struct restored_test *test, enum feedback_setting setting, uint32_t element, double value) {
    struct rm_error error;
    char const *const name = feedback_settings[setting].name;
    if (rm_host_program_set(test->lead.program, name, element, &value, 1, &error) != RM_OK)
        fail_msg("%s", error.text);
    if (test->copy.program != NULL)
        rm_host_program_set(test->copy.program, name, element, &value, 1, &error);
}

static void work_both(struct restored_test *test) {
    rm_host_program_work(test->lead.program);
    if (test->copy.program != NULL)
        rm_host_program_work(test->copy.program);
}

/** Whatever people and machines do. */
static void something_happens(struct restored_test *test) {
    struct machine_wrongs *wrongs = &test->rig->machine.wrongs;
    uint32_t const which = draw(test, INPUTS);
    switch (draw(test, 16)) {
    case 0:
        wrongs->silent[which] = !wrongs->silent[which];
        return;
    case 1:
        wrongs->invalid[which] = !wrongs->invalid[which];
        return;
    case 2:
        wrongs->frozen[which] = draw(test, 4) == 0;
        return;
    case 3:
        wrongs->leap_nm[which] = draw(test, 2) * 4e5;
        return;
    case 4:
        wrongs->lost[draw(test, CORRECTORS)] = draw(test, 3) == 0;
        return;
    case 5:
        wrongs->mains_nm = draw(test, 5000);
        return;
    case 6:
        test->rig->machine.cycle += draw(test, 20);
        return;
    case 7:
        set_both(test, FEEDBACK_GAIN, 0, 0.5 + 0.05 * draw(test, 10));
        return;
    case 8:
        set_both(test, FEEDBACK_GOLDEN, draw(test, ROWS), (double)draw(test, 20) - 10.0);
        return;
    case 9:
        set_both(test, FEEDBACK_ACTUATOR_MASK, draw(test, CORRECTORS), draw(test, 3) != 0);
        return;
    case 10:
        set_both(test, FEEDBACK_RESONATORS, 0, draw(test, 2));
        return;
    case 11:
        set_both(test, FEEDBACK_LOOP, 0, draw(test, 8) == 0 ? 0 : 1);
        return;
    case 12:
        set_both(test, FEEDBACK_RESET, 0, draw(test, 1000));
        return;
    case 13:
        set_both(test, FEEDBACK_EXCITE, 0, draw(test, 3));
        return;
    case 14:
        disturb(test->rig, 0.3 * draw(test, 3));
        return;
    default:
        set_both(test, FEEDBACK_UNLOAD, 0, draw(test, 2));
        return;
    }
}

static void drop_copy(struct restored_test *test) {
    rm_host_decisions_close(&test->copy.decisions);
    rm_host_program_close(test->copy.program);
    test->copy = (struct restored_side){.program = NULL};
}

/** Saves, opens another process, and restores there. */
static void copy_now(struct restored_test *test) {
    struct feedback_test *rig = test->rig;
    struct rm_host_program *program = NULL;
    struct rm_host_state_place place;
    struct rm_error error;
    drop_copy(test);
    size_t const bytes =
        rm_host_state_save(test->lead.program, &test->lead.decisions, test->lead.record, test->bytes, test->room);
    assert_true(bytes > 0);
    test->most = bytes > test->most ? bytes : test->most;
    if (rm_host_program_open(&rig->setup, &program, &error) != RM_OK)
        fail_msg("%s", error.text);
    side_open(&test->copy, program);
    for (uint32_t i = 0; i < ALL; ++i)
        program->input[i] = &rig->stream[i];
    if (rm_host_state_restore(program, &test->copy.decisions, test->copy.record, test->bytes, bytes, &place, &error) !=
        RM_OK)
        fail_msg("%s", error.text);
    assert_int_equal(place.steps, test->lead.program->steps);
    assert_true(place.turn == test->lead.program->given.turn);
    /* Of the next step: a person may have set something since the last one. */
    memcpy(program->setting, test->lead.program->setting, program->setting_values * sizeof(double));
    memcpy(program->sent, test->lead.program->sent, CORRECTORS * sizeof(double));
    work_both(test); /* a question under way is solved in both, or in neither */
    ++test->restored;
}

static void goes_on_to_the_bit(struct feedback_test *rig, char const *families, uint64_t seed) {
    struct restored_test test = {.rig = rig, .random = seed};
    open_feedback(rig, families);
    side_open(&test.lead, rig->program);
    test.room = rm_host_state_room(rig->program);
    test.bytes = calloc(1, test.room);
    assert_non_null(test.bytes);
    for (uint32_t i = 0; i < 12000; ++i) {
        if (i == 50)
            set_both(&test, FEEDBACK_LOOP, 0, 1);
        if (i > 600 && draw(&test, 40) == 0)
            something_happens(&test);
        if (draw(&test, 8) == 0)
            work_both(&test);
        if (i > 10 && draw(&test, 300) == 0)
            copy_now(&test);
        cycle_both(&test);
    }
    printf("%u copies of at most %zu bytes (room %zu), %u cycles to the bit (%u ON), %g matrices\n", test.restored,
           test.most, test.room, test.compared, test.on, reading(rig, FEEDBACK_GENERATION, 0));
    assert_true(test.restored > 20 && test.most <= test.room);
    assert_true(test.on > test.compared / 5 && reading(rig, FEEDBACK_GENERATION, 0) > 5);
    drop_copy(&test);
    rm_host_decisions_close(&test.lead.decisions);
    free(test.bytes);
}

static void test_one_family(void **state) { goes_on_to_the_bit(*state, all_lines, 1); }

static void test_two_families(void **state) { goes_on_to_the_bit(*state, two_families, 2); }

static void test_all_kinds(void **state) { goes_on_to_the_bit(*state, all_kinds, 3); }

/** Bytes of another configuration, cut ones and damaged ones are refused in words, and nothing was touched. */
static void test_what_does_not_fit_is_refused(void **state) {
    struct restored_test test = {.rig = *state};
    struct rm_host_state_place place;
    struct rm_error error;
    open_feedback(test.rig, one_family);
    side_open(&test.lead, test.rig->program);
    for (uint32_t i = 0; i < 50; ++i)
        cycle_both(&test);
    test.room = rm_host_state_room(test.rig->program);
    test.bytes = calloc(1, test.room);
    size_t const bytes =
        rm_host_state_save(test.lead.program, &test.lead.decisions, test.lead.record, test.bytes, test.room);
    for (size_t at = 0; at < bytes; at += 97) {
        test.bytes[at] ^= 4;
        assert_int_not_equal(rm_host_state_check(test.rig->program, test.bytes, bytes, &place, &error), RM_OK);
        test.bytes[at] ^= 4;
    }
    assert_int_equal(rm_host_state_check(test.rig->program, test.bytes, bytes - 8, &place, &error), RM_E_ARGUMENT);
    assert_non_null(strstr(error.text, "damaged"));
    assert_int_equal(rm_host_state_check(test.rig->program, test.bytes, bytes, &place, &error), RM_OK);
    struct rm_host_program *other = NULL;
    test.rig->setup.actuator_count = CORRECTORS - 1;
    if (rm_host_program_open(&test.rig->setup, &other, &error) == RM_OK) {
        assert_int_equal(rm_host_state_check(other, test.bytes, bytes, &place, &error), RM_E_CONFIG);
        assert_non_null(strstr(error.text, "supplies"));
    }
    rm_host_program_close(other);
    rm_host_decisions_close(&test.lead.decisions);
    free(test.bytes);
}

int main(int argc, char **argv) {
    if (!take_module(argc, argv))
        return 2;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_one_family, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_two_families, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_all_kinds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_does_not_fit_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
