// SPDX-License-Identifier: Apache-2.0
/** square_wave: its first supply goes up and down by `amplitude` around where it stood, every half of `period_steps`.
 *
 * It is one end of the latency test: `edge_turn` says which turn's vector had the newest edge in it, and the BPMs or
 * the readback say when it came back. Its other supplies stay where they are. The level is a function of the turn
 * alone, so a step that was left out makes no half wave longer.
 */
#include <math.h>

#include <ringmaster/application.h>
#include <ringmaster/errors.h>

enum { AMPLITUDE, PERIOD_STEPS, ENABLE, SETTINGS };
enum { LEVEL, EDGE_TURN, EDGE_COUNT, READINGS };

static struct rm_setting const settings[SETTINGS] = {
    [AMPLITUDE] = {.name = "amplitude",
                   .unit = "A",
                   .description = "distance of both levels from the middle",
                   .value = 0.01,
                   .limits = {.control_low = 0.0, .control_high = 1e6}},
    [PERIOD_STEPS] = {.name = "period_steps",
                      .unit = "steps",
                      .description = "one up and one down",
                      .value = 1000.0,
                      .limits = {.control_low = 2.0, .control_high = 1e9}},
    [ENABLE] = {.name = "enable",
                .description = "1: up and down; 0: back in the middle",
                .limits = {.control_low = 0.0, .control_high = 1.0},
                .is_permission = true},
};

static struct rm_reading const readings[READINGS] = {
    [LEVEL] = {.name = "level", .unit = "A", .description = "what is added to the middle now"},
    [EDGE_TURN] = {.name = "edge_turn", .unit = "turn", .description = "of the vector with the newest edge"},
    [EDGE_COUNT] = {.name = "edge_count", .unit = "edges", .description = "since the first step"},
};

struct square_wave {
    double middle; /**< where the supply stood at the first step */
    double level;
};

static enum rm_code init(struct rm_application_setup const *setup, void *state, struct rm_error *error) {
    (void)state;
    if (setup->actuator_count > 0)
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG, "square_wave needs a supply: add one to its `supplies`");
}

/** What the setting and the turn make of the level. */
static double level_at(struct rm_application_setup const *setup, struct rm_step const *given) {
    if (given->setting[ENABLE] < 0.5)
        return 0.0;
    uint64_t const half = (uint64_t)(given->setting[PERIOD_STEPS] / 2.0);
    uint64_t const index = given->turn / setup->period_turns;
    return index / half % 2 == 0 ? given->setting[AMPLITUDE] : -given->setting[AMPLITUDE];
}

static enum rm_step_result step(struct rm_application_setup const *setup, void *state, struct rm_step const *given,
                                struct rm_command *command) {
    struct square_wave *wave = state;
    if (given->steps == 0) {
        wave->middle = given->sent[0];
        command->reading[EDGE_COUNT] = 0.0;
    }
    if (!isfinite(wave->middle)) /* its place is not known yet */
        wave->middle = given->sent[0];
    double const level = level_at(setup, given);
    if (level != wave->level) {
        wave->level = level;
        command->reading[EDGE_TURN] = (double)given->turn;
        command->reading[EDGE_COUNT] += 1.0;
    }
    command->setpoint[0] = wave->middle + level;
    command->reading[LEVEL] = level;
    return RM_STEP_SEND;
}

struct rm_application_code const ringmaster_application = {
    .abi_version = RM_ABI_VERSION,
    .state_bytes = sizeof(struct square_wave),
    .settings = settings,
    .setting_count = SETTINGS,
    .reading_count = READINGS,
    .readings = readings,
    .init = init,
    .step = step,
};
