// SPDX-License-Identifier: Apache-2.0
/** Another server goes on from a copy of the state, to the bit: saved at a random step, restored into a process that was
 * just opened, and given the same inputs. Arguments: modules of applications that need no file of their own. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/host_decision.h"
#include "host/host_state_bytes.h"

enum { INPUTS = 3, SUPPLIES = 2, PERIOD = 12, STEPS = 6000 };

static char const *module;

static struct rm_host_actuator const supplies[SUPPLIES] = {
    {.name = "ps/a", .unit = "A", .low = -10.0, .high = 10.0, .slew_per_s = 1000.0},
    {.name = "ps/b", .unit = "A", .low = -10.0, .high = 10.0, .slew_per_s = 1000.0},
};
static char const *const inputs[INPUTS] = {"bpm01/fast", "bpm02/fast", "bpm03/fast"};

struct side {
    struct rm_host_program *program;
    struct rm_host_decisions decisions;
    struct rm_record record[INPUTS];
};

static uint64_t random_word;

static uint32_t draw(uint32_t below) {
    random_word = random_word * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(random_word >> 33) % below;
}

static void put_nowhere(void *context, uint32_t stream, struct rm_record const *record, uint64_t tsc) {
    (void)context;
    (void)stream;
    (void)record;
    (void)tsc;
}

static struct rm_stream stream;

static struct side side_open(void) {
    struct side side = {.decisions = {.put = put_nowhere}};
    struct rm_error error;
    struct rm_host_setup const setup = {.name = "it",
                                        .code = module,
                                        .turn_rate_hz = 1e6,
                                        .period_turns = PERIOD,
                                        .input_count = INPUTS,
                                        .input = inputs,
                                        .actuator_count = SUPPLIES,
                                        .actuator = supplies};
    if (rm_host_program_open(&setup, &side.program, &error) != RM_OK)
        fail_msg("%s: %s", module, error.text);
    for (uint32_t i = 0; i < INPUTS; ++i)
        side.program->input[i] = &stream;
    assert_true(rm_host_decisions_open(&side.decisions, side.program));
    return side;
}

static void side_close(struct side *side) {
    rm_host_decisions_close(&side->decisions);
    rm_host_program_close(side->program);
    side->program = NULL;
}

static void side_step(struct side *side, rm_turn turn, struct rm_record const *record, bool const *is_missing,
                      uint32_t missing) {
    struct rm_host_outcome outcome = {.skipped = 0};
    rm_host_decisions_adopt(&side->decisions);
    rm_host_program_expect(side->program, NULL);
    for (uint32_t i = 0; i < INPUTS; ++i)
        if (!is_missing[i]) {
            side->record[i] = record[i];
            rm_host_program_arrive(side->program, i, &record[i]);
        }
    outcome.committed = rm_host_program_step(side->program, turn, side->record, is_missing, missing) == RM_STEP_SEND;
    outcome.setpoints = rm_host_decisions_setpoints(&side->decisions, outcome.committed);
    rm_host_program_prepare(side->program);
    rm_host_decisions_record(&side->decisions, &outcome);
}

/** Some setting becomes another number within its limits, in both. */
static void set_something(struct side *lead, struct side *copy) {
    struct rm_host_program *program = lead->program;
    uint32_t const count = program->code.it->setting_count;
    if (count == 0)
        return;
    uint32_t const i = draw(count);
    struct rm_limits const *limit = &program->code.limit[i];
    struct rm_error error;
    double const low = isfinite(limit->control_low) ? limit->control_low : -5.0;
    double const high = isfinite(limit->control_high) && limit->control_high < 100.0 ? limit->control_high : low + 5.0;
    double const wanted = draw(2) == 0 ? high : low + (high - low) * draw(1000) * 1e-3;
    char const *const name = program->code.it->settings[i].name;
    rm_host_program_set(program, name, 0, &wanted, 1, &error); /* which may refuse */
    if (copy->program != NULL)
        memcpy(copy->program->setting, program->setting, program->setting_values * sizeof(double));
}

static void copy_now(struct side const *lead, struct side *copy, uint8_t *bytes, size_t room) {
    struct rm_host_state_place place;
    struct rm_error error;
    if (copy->program != NULL)
        side_close(copy);
    size_t const used = rm_host_state_save(lead->program, &lead->decisions, lead->record, bytes, room);
    assert_true(used > 0 && used <= room);
    *copy = side_open();
    if (rm_host_state_restore(copy->program, &copy->decisions, copy->record, bytes, used, &place, &error) != RM_OK)
        fail_msg("%s", error.text);
    assert_true(place.turn == lead->program->given.turn);
    assert_int_equal(copy->program->steps, lead->program->steps);
    memcpy(copy->program->setting, lead->program->setting, lead->program->setting_values * sizeof(double));
}

static void assert_same(struct side const *lead, struct side const *copy, uint32_t step) {
    for (unsigned i = RM_DECISION_ASKED; i <= RM_DECISION_VISIBLE; ++i)
        if (i != RM_DECISION_SENT && lead->decisions.last.lane[i].i != copy->decisions.last.lane[i].i)
            fail_msg("%s: step %u: lane %u differs", module, step, i);
    assert_memory_equal(lead->program->command.setpoint, copy->program->command.setpoint,
                        lead->program->setup.actuator_count * sizeof(double));
    assert_memory_equal(lead->program->reading, copy->program->reading, lead->program->reading_values * sizeof(double));
}

static void move_supplies(struct side *lead, struct side *copy) {
    for (uint32_t i = 0; i < lead->program->setup.actuator_count; ++i) {
        double const wanted = lead->program->command.setpoint[i];
        lead->program->sent[i] = isfinite(wanted) && draw(8) != 0 ? (double)(float)wanted : NAN;
        if (copy->program != NULL)
            copy->program->sent[i] = lead->program->sent[i];
    }
}

static void test_goes_on_to_the_bit(void **state) {
    (void)state;
    struct rm_error error;
    struct side lead = side_open(), copy = {.program = NULL};
    uint32_t copies = 0, compared = 0;
    random_word = 20261126;
    if (rm_host_program_init(lead.program, &error) != RM_OK)
        fail_msg("%s: %s", module, error.text);
    rm_host_decisions_begin(&lead.decisions, 1);
    size_t const room = rm_host_state_room(lead.program);
    uint8_t *const bytes = calloc(1, room);
    assert_non_null(bytes);
    assert_int_equal(rm_host_state_can_be_saved(lead.program, &error), RM_OK);
    assert_int_equal(rm_host_state_save(lead.program, &lead.decisions, lead.record, bytes, room), 0);
    for (uint32_t step = 0; step < STEPS; ++step) {
        struct rm_record record[INPUTS] = {0};
        bool is_missing[INPUTS];
        uint32_t missing = 0;
        rm_turn const turn = (1000ull + step) * PERIOD;
        for (uint32_t i = 0; i < INPUTS; ++i) {
            record[i].turn = turn;
            for (unsigned l = 0; l < RM_LANES; ++l)
                record[i].lane[l].i = (int32_t)draw(200000) - 100000;
            missing += is_missing[i] = draw(16) == 0;
        }
        if (draw(20) == 0)
            set_something(&lead, &copy);
        if (step > 0 && draw(150) == 0) {
            copy_now(&lead, &copy, bytes, room);
            ++copies;
        }
        side_step(&lead, turn, record, is_missing, missing);
        if (copy.program != NULL) {
            side_step(&copy, turn, record, is_missing, missing);
            assert_same(&lead, &copy, step);
            ++compared;
        }
        move_supplies(&lead, &copy);
    }
    printf("%s: %u copies of at most %zu bytes, %u steps to the bit\n", module, copies, room, compared);
    assert_true(copies > 20 && compared > STEPS / 2);
    side_close(&copy);
    side_close(&lead);
    free(bytes);
}

int main(int argc, char **argv) {
    int failed = 0;
    stream.lane_count = RM_LANES;
    for (unsigned l = 0; l < RM_LANES; ++l) {
        snprintf(stream.lane[l].name, sizeof stream.lane[l].name, "l%u", l);
        stream.lane[l].type = RM_LANE_I32;
    }
    for (int i = 1; i < argc; ++i) {
        module = argv[i];
        struct CMUnitTest const tests[] = {cmocka_unit_test(test_goes_on_to_the_bit)};
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    }
    return failed;
}
