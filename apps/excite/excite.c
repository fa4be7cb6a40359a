// SPDX-License-Identifier: Apache-2.0
/** excite: brings its supplies to positions, and moves them by sines about these. docs/excitation.md says how to use it.
 *
 *     setpoint = position on its way + envelope(turn) · amplitude · sin(2π hz (turn − begin_turn)/turn_rate + phase)
 *
 * All of it is a function of the turn and of the turns at which settings changed: a step that was left out loses no
 * phase. Nothing moves by starting: positions count from where they are put.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/application.h>
#include <ringmaster/errors.h>

#include "names.h"
#include "run.h"
#include "supplies.h"

/** Of the slew that a way or a sine may take; what is left is for the rounding of setpoints to f32. */
static double const SLEW_SHARE = 0.999;

struct excite_memory {
    struct excite_supplies supplies;
    /** [supply] per step, its share of the slew. */
    double *slew;
};

struct excite {
    struct excite_run run;
    double clipped, runs;
};

static double const *array_of(struct rm_application_setup const *setup, double const *setting,
                              enum excite_setting which) {
    return setting + setup->setting_at[which];
}

static double number_of(struct rm_application_setup const *setup, double const *setting, enum excite_setting which) {
    return *array_of(setup, setting, which);
}

static double step_seconds(struct rm_application_setup const *setup) {
    return (double)setup->period_turns / setup->turn_rate_hz;
}

/* ── before the first step ── */

static void excite_close(void *memory) {
    struct excite_memory *it = memory;
    excite_supplies_free(&it->supplies);
    free(it->slew);
    free(it);
}

static enum rm_code excite_open(struct rm_application_setup const *setup, void **memory, struct rm_error *error) {
    struct excite_memory *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory");
    made->slew = calloc(setup->actuator_count + 1ul, sizeof *made->slew);
    if (!excite_supplies_make(&made->supplies, setup->actuator_count) || made->slew == NULL) {
        excite_close(made);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u supplies", setup->actuator_count);
    }
    *memory = made;
    return RM_OK;
}

static uint32_t excite_length(struct rm_application_setup const *setup, bool is_reading, uint32_t index) {
    (void)is_reading;
    (void)index;
    return setup->actuator_count > 0 ? setup->actuator_count : 1;
}

static enum rm_code excite_init(struct rm_application_setup const *setup, void *state, struct rm_error *error) {
    struct excite_memory *memory = setup->memory;
    (void)state;
    if (setup->actuator_count == 0)
        return rm_fail(error, RM_E_CONFIG, "%s needs supplies: add them to its `supplies`", setup->name);
    for (uint32_t i = 0; i < setup->actuator_count; ++i) {
        memory->slew[i] = SLEW_SHARE * setup->actuator_slew_per_step[i];
        memory->supplies.standing[i] = NAN;
    }
    return RM_OK;
}

/* ── settings ── */

/** Whether a supply's sine fits between its limits where it stands, or is to stand. */
static bool accept_range(struct rm_application_setup const *setup, double const *setting, uint32_t i,
                         struct rm_error *error) {
    struct excite_memory const *memory = setup->memory;
    double const position = array_of(setup, setting, EXCITE_POSITION)[i];
    double const amplitude = fabs(array_of(setup, setting, EXCITE_AMPLITUDE)[i]);
    double const low = setup->actuator_low[i], high = setup->actuator_high[i];
    bool const stays = !(fabs(position) < EXCITE_STAY);
    double const stands = memory->supplies.standing[i], middle = stays ? stands : position;
    if (!(middle - amplitude < low) && !(middle + amplitude > high) && !(2.0 * amplitude > high - low))
        return true;
    if (stays && amplitude == 0.0) /* it stands beyond its limits, and is asked for nothing */
        return true;
    rm_fail(error, RM_E_ARGUMENT, "%s [%" PRIu32 "]: %g and an amplitude of %g are not within the limits %g … %g of %s",
            stays ? "standing" : "position", i, middle, amplitude, low, high, setup->actuator_name[i]);
    return false;
}

static bool accept_sine(struct rm_application_setup const *setup, double const *setting, uint32_t i,
                        struct rm_error *error) {
    double const amplitude = array_of(setup, setting, EXCITE_AMPLITUDE)[i], hz = array_of(setup, setting, EXCITE_HZ)[i];
    double const step_s = step_seconds(setup), slew = SLEW_SHARE * setup->actuator_slew_per_step[i];
    if (amplitude == 0.0)
        return true;
    if (hz * step_s > 0.5) {
        rm_fail(error, RM_E_ARGUMENT, "hz [%" PRIu32 "]: found %g Hz, expected at most half of %g steps per second", i,
                hz, 1.0 / step_s);
        return false;
    }
    double const steepest = excite_sines_steepest(amplitude, hz, step_s);
    if (steepest <= slew)
        return true;
    rm_fail(error, RM_E_ARGUMENT,
            "amplitude [%" PRIu32
            "]: %g at %g Hz moves %s by %g in a step, expected at most %g, its slew: an amplitude of "
            "%.4g",
            i, amplitude, hz, setup->actuator_name[i], steepest, slew, fabs(amplitude) * slew / steepest);
    return false;
}

/** While it runs the sines stay what they are. */
static bool accept_while_running(struct rm_application_setup const *setup, struct excite const *it,
                                 double const *setting, struct rm_error *error) {
    struct excite_memory const *memory = setup->memory;
    struct excite_supplies const *supplies = &memory->supplies;
    size_t const bytes = supplies->count * sizeof(double);
    double const rate = setup->turn_rate_hz;
    if (it->run.state == EXCITE_IDLE ||
        (memcmp(array_of(setup, setting, EXCITE_AMPLITUDE), supplies->amplitude, bytes) == 0 &&
         memcmp(array_of(setup, setting, EXCITE_HZ), supplies->hz, bytes) == 0 &&
         memcmp(array_of(setup, setting, EXCITE_PHASE), supplies->phase, bytes) == 0 &&
         number_of(setup, setting, EXCITE_RAMP_S) * rate == it->run.ramp_turns &&
         number_of(setup, setting, EXCITE_SECONDS) * rate == it->run.full_turns))
        return true;
    rm_fail(error, RM_E_ARGUMENT,
            "amplitude, hz, phase, ramp_s and seconds stay what they are while it runs: put run to 0 first");
    return false;
}

static bool excite_accept(struct rm_application_setup const *setup, void const *state, double const *setting,
                          struct rm_error *error) {
    for (uint32_t i = 0; i < setup->actuator_count; ++i)
        if (!accept_range(setup, setting, i, error) || !accept_sine(setup, setting, i, error))
            return false;
    return accept_while_running(setup, state, setting, error);
}

/* ── one step ── */

static double run_sines(struct rm_application_setup const *setup, struct excite *it, struct rm_step const *given,
                        double *reading) {
    struct excite_memory *memory = setup->memory;
    struct excite_run *run = &it->run;
    double const *setting = given->setting, rate = setup->turn_rate_hz;
    enum excite_state const was = run->state;
    if (excite_run_go(run, given->turn, number_of(setup, setting, EXCITE_RUN) >= 0.5,
                      number_of(setup, setting, EXCITE_RAMP_S) * rate,
                      number_of(setup, setting, EXCITE_SECONDS) * rate)) {
        excite_supplies_excite(&memory->supplies, array_of(setup, setting, EXCITE_AMPLITUDE),
                               array_of(setup, setting, EXCITE_HZ), array_of(setup, setting, EXCITE_PHASE));
        reading[EXCITE_BEGIN_TURN] = (double)run->begin_turn;
        reading[EXCITE_FULL_TURN] = reading[EXCITE_END_TURN] = 0.0; /* not those of the run before */
    }
    if (run->state == EXCITE_FULL && was != EXCITE_FULL)
        reading[EXCITE_FULL_TURN] = (double)given->turn;
    if (run->state == EXCITE_IDLE && was != EXCITE_IDLE) {
        reading[EXCITE_END_TURN] = (double)given->turn;
        it->runs += 1.0;
    }
    if (run->state == EXCITE_IDLE)
        return 0.0;
    uint64_t const index = (given->turn - run->begin_turn) / setup->period_turns;
    return excite_supplies_add_sines(&memory->supplies, index, excite_run_envelope(run, given->turn));
}

static void tell(struct rm_application_setup const *setup, struct excite const *it, rm_turn turn, double excursion,
                 struct rm_command *command) {
    struct excite_memory const *memory = setup->memory;
    double const told[] = {it->run.state, excite_run_progress(&it->run, turn), excite_run_envelope(&it->run, turn),
                           excursion, memory->supplies.moving};
    for (unsigned lane = 0; lane < sizeof told / sizeof told[0]; ++lane)
        command->stream[0][lane] = (float)told[lane];
    command->reading[EXCITE_TOLD_STATE] = it->run.state;
    command->reading[EXCITE_RUNS] = it->runs;
    command->reading[EXCITE_CLIPPED] = it->clipped;
    command->reading[EXCITE_MOVING] = memory->supplies.moving;
}

static enum rm_step_result excite_step(struct rm_application_setup const *setup, void *state,
                                       struct rm_step const *given, struct rm_command *command) {
    struct excite *it = state;
    struct excite_memory *memory = setup->memory;
    struct excite_supplies *supplies = &memory->supplies;
    double const *position = array_of(setup, given->setting, EXCITE_POSITION);
    if (given->steps == 0)
        excite_supplies_begin(supplies, command->setpoint, position, step_seconds(setup));
    bool const moved = excite_supplies_move(supplies, (double)given->turn, command->setpoint, position, memory->slew,
                                            (double)setup->period_turns,
                                            number_of(setup, given->setting, EXCITE_RATE_S) * setup->turn_rate_hz);
    double const excursion = run_sines(setup, it, given, command->reading);
    bool const cut = excite_supplies_put(supplies, setup->actuator_low, setup->actuator_high,
                                         setup->actuator_slew_per_step, command->setpoint);
    if (cut && it->run.state != EXCITE_IDLE)
        it->clipped += 1.0;
    if (moved || given->steps == 0)
        memcpy(command->reading + setup->reading_at[EXCITE_STANDING], supplies->standing,
               supplies->count * sizeof *supplies->standing);
    tell(setup, it, given->turn, excursion, command);
    return RM_STEP_SEND;
}

/* ── another server ── */

/** Where the supplies and their sines are: some numbers, and the memory with all arrays. */
struct excite_packed {
    uint64_t step;
    double step_s;
    uint32_t sines, next, moving, unknown;
};

static size_t excite_pack(struct rm_application_setup const *setup, void const *state, void *bytes, size_t capacity) {
    struct excite_memory const *memory = setup->memory;
    struct excite_supplies const *supplies = &memory->supplies;
    struct excite_packed const packed = {supplies->sines.step, supplies->sines.step_s, supplies->sines.count,
                                         supplies->sines.next, supplies->moving,       supplies->unknown};
    (void)state;
    if (bytes != NULL && capacity >= sizeof packed + supplies->bytes) {
        memcpy(bytes, &packed, sizeof packed);
        memcpy((char *)bytes + sizeof packed, supplies->memory, supplies->bytes);
    }
    return sizeof packed + supplies->bytes;
}

static enum rm_code excite_unpack(struct rm_application_setup const *setup, void *state, void const *bytes,
                                  size_t count, struct rm_error *error) {
    struct excite_memory *memory = setup->memory;
    struct excite_supplies *supplies = &memory->supplies;
    struct excite_packed packed;
    (void)state;
    if (count != sizeof packed + supplies->bytes)
        return rm_fail(error, RM_E_CONFIG, "%zu bytes, expected %zu", count, sizeof packed + supplies->bytes);
    memcpy(&packed, bytes, sizeof packed);
    memcpy(supplies->memory, (char const *)bytes + sizeof packed, supplies->bytes);
    supplies->sines.step = packed.step;
    supplies->sines.step_s = packed.step_s;
    supplies->sines.count = packed.sines;
    supplies->sines.next = packed.next;
    supplies->moving = packed.moving;
    supplies->unknown = packed.unknown;
    return RM_OK;
}

struct rm_application_code const ringmaster_application = {
    .abi_version = RM_ABI_VERSION,
    .state_bytes = sizeof(struct excite),
    .settings = excite_settings,
    .setting_count = EXCITE_SETTINGS,
    .reading_count = EXCITE_READINGS,
    .readings = excite_readings,
    .streams = excite_streams,
    .stream_count = 1,
    .init = excite_init,
    .step = excite_step,
    .accept = excite_accept,
    .open = excite_open,
    .close = excite_close,
    .length = excite_length,
    .pack = excite_pack,
    .unpack = excite_unpack,
};
