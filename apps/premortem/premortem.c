// SPDX-License-Identifier: Apache-2.0
/** Pre-mortem: detectors on live streams, which warn, and may act within the cycle of the turn that crossed.
 * docs/premortem.md says what it is, and what it is not: it is no credited machine protection.
 *
 *     step      each detector takes its signals' values (signals.h), has a level (law/) and, above its threshold, an
 *               alarm, latched until a person resets (law/latch.h); alarms act on the application's own supplies in
 *               the same vector (actions.h), if it is armed; else it counts what they would have done
 *     work      asks others for what alarms want of their parameters (ask.h)
 */
#include "premortem.h"

#include <math.h>

#include <ringmaster/errors.h>

#include "names.h"
#include "open.h"

static double setting_of(struct rm_application_setup const *setup, struct rm_step const *given,
                         enum premortem_setting which, uint32_t index) {
    return given->setting[setup->setting_at[which] + index];
}

/** A machine whose turn counter went back has begun anew: masks of before are over. */
static bool is_masked(struct premortem const *it, rm_turn turn, double until) {
    return (double)turn < until && until <= (double)turn + it->mask_most_turns;
}

static void begin_detector(struct premortem *it, struct premortem_memory const *memory, uint32_t d) {
    struct premortem_detector *detector = &it->detector[d];
    bool const has_golden = memory->golden[d].rows > 0;
    if (!has_golden)
        premortem_signals_forget(&it->signals, detector);
    premortem_detector_begin(detector, it->steps_per_second, has_golden);
}

static uint32_t count_bits(uint32_t bits) {
    uint32_t count = 0;
    for (; bits != 0; bits &= bits - 1)
        ++count;
    return count;
}

/** Here is a new alarm. */
static void raise_alarm(struct premortem *it, struct premortem_memory *memory, uint32_t d, bool is_armed) {
    struct premortem_detector *detector = &it->detector[d];
    uint32_t const actions = detector->plan->actions;
    ++it->alarms;
    it->alarm_detector = d;
    it->alarm_turn = (double)detector->latch.crossed;
    *(is_armed ? &it->acted : &it->shadowed) += count_bits(actions);
    detector->acts = is_armed && actions != 0;
    for (uint32_t a = 0; detector->acts && a < memory->file.actions; ++a)
        if ((actions >> a & 1u) != 0 && memory->file.action[a].parameter != NULL)
            premortem_ask_want(&memory->asks, a);
}

/** Of several alarms in one step the first detector's is the one that is told. */
static void step_detectors(struct premortem *it, struct rm_application_setup const *setup, struct rm_step const *given,
                           bool is_armed) {
    struct premortem_memory *memory = setup->memory;
    for (uint32_t d = memory->file.detectors; d-- > 0;) {
        struct premortem_detector *detector = &it->detector[d];
        struct premortem_values const values = premortem_signals_read(&it->signals, setup, given, detector);
        struct premortem_wishes const wishes = {
            .threshold = setting_of(setup, given, PREMORTEM_THRESHOLD, d),
            .is_masked = is_masked(it, given->turn, setting_of(setup, given, PREMORTEM_MASKED_UNTIL, d)),
        };
        bool anew;
        if (premortem_detector_step(detector, &values, &wishes, given->turn, &anew))
            raise_alarm(it, memory, d, is_armed);
        if (anew)
            begin_detector(it, memory, d);
    }
}

static void reset_alarms(struct premortem *it, struct premortem_file const *file) {
    for (uint32_t d = 0; d < file->detectors; ++d) {
        premortem_latch_reset(&it->detector[d].latch);
        it->detector[d].acts = false;
    }
}

static uint32_t wanted_actions(struct premortem const *it, struct premortem_file const *file) {
    uint32_t wanted = 0;
    for (uint32_t d = 0; d < file->detectors; ++d)
        wanted |= it->detector[d].acts ? it->detector[d].plan->actions : 0;
    return wanted;
}

static bool has_changed(double *before, double now) {
    bool const has = *before != now;
    *before = now;
    return has;
}

static enum rm_step_result premortem_step(struct rm_application_setup const *setup, void *state,
                                          struct rm_step const *given, struct rm_command *command) {
    struct premortem *it = state;
    struct premortem_memory *memory = setup->memory;
    bool const is_armed = setting_of(setup, given, PREMORTEM_ARM, 0) >= 0.5;
    bool const resets = has_changed(&it->reset, setting_of(setup, given, PREMORTEM_RESET, 0));
    bool const learns = has_changed(&it->learn, setting_of(setup, given, PREMORTEM_LEARN, 0));
    bool const restarted = it->has_begun && given->turn < it->turn;
    if (!it->has_begun)
        for (uint32_t d = 0; d < memory->file.detectors; ++d)
            command->reading[setup->reading_at[PREMORTEM_DELAY] + d] =
                premortem_signals_delay_turns(&it->signals, setup, &it->detector[d]) +
                (double)setup->period_turns *
                    premortem_detector_delay_steps(it->detector[d].plan, it->steps_per_second);
    for (uint32_t d = 0; (learns || restarted) && d < memory->file.detectors; ++d)
        begin_detector(it, memory, d);
    if (resets)
        reset_alarms(it, &memory->file);
    step_detectors(it, setup, given, is_armed);
    premortem_outputs_step(&it->outputs, &memory->file, given, wanted_actions(it, &memory->file), resets, command);
    it->was_armed = is_armed;
    it->has_begun = true;
    it->turn = given->turn;
    premortem_tell(it, setup, command);
    return RM_STEP_SEND;
}

static void premortem_work(struct rm_application_setup const *setup) {
    struct premortem_memory *memory = setup->memory;
    premortem_asks_work(&memory->asks, &memory->file, setup->workspace);
}

/* ── another server ── */

/** Of memory no step sees anything that changes: what others were asked for is each server's own. */
static size_t premortem_pack(struct rm_application_setup const *setup, void const *state, void *bytes,
                             size_t capacity) {
    (void)setup;
    (void)state;
    (void)bytes;
    (void)capacity;
    return 0;
}

/** The copied state points to the other server's file. */
static enum rm_code premortem_unpack(struct rm_application_setup const *setup, void *state, void const *bytes,
                                     size_t count, struct rm_error *error) {
    struct premortem_memory const *memory = setup->memory;
    struct premortem *it = state;
    (void)bytes;
    for (uint32_t d = 0; d < memory->file.detectors; ++d)
        it->detector[d].plan = &memory->file.detector[d];
    return count == 0 ? RM_OK : rm_fail(error, RM_E_CONFIG, "%zu bytes, expected none", count);
}

struct rm_application_code const ringmaster_application = {
    .abi_version = RM_ABI_VERSION,
    .state_bytes = sizeof(struct premortem),
    .settings = premortem_settings,
    .setting_count = PREMORTEM_SETTINGS,
    .reading_count = PREMORTEM_READINGS,
    .readings = premortem_readings,
    .init = premortem_init,
    .step = premortem_step,
    .accept = premortem_accept,
    .streams = premortem_streams,
    .stream_count = PREMORTEM_STREAMS,
    .open = premortem_open,
    .close = premortem_close,
    .length = premortem_length,
    .first = premortem_first,
    .work = premortem_work,
    .pack = premortem_pack,
    .unpack = premortem_unpack,
};
