// SPDX-License-Identifier: Apache-2.0
/** An application for tests of replay: whatever a step may depend on, this one does. Inputs are added up, as they come
 * or (with TEST_ARRIVE 0) in the step, or (with TEST_RUNS 1) all that came since the step before; a result of `work` is asked for and adopted when it is ready; settings, an array
 * among them, weigh both; what was sent is followed; and one command is no number now and then. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/application.h>

#include "host/test_replayed.h"

static struct rm_setting const settings[REPLAYED_SETTINGS] = {
    [REPLAYED_ENABLE] = {.name = "enable", .description = "1: it acts", .is_permission = true},
    [REPLAYED_GAIN] = {.name = "gain", .unit = "A/nm", .description = "of the sum", .value = 1.0 / 3.0e6},
    [REPLAYED_WEIGHT] = {.name = "weight", .description = "of each input, in turns", .value = 1.0, .is_array = true},
};

static struct rm_reading const readings[REPLAYED_READINGS] = {
    [REPLAYED_RESULT] = {.name = "result", .unit = "nm", .description = "of `work`, as adopted"},
    [REPLAYED_SEEN] = {.name = "seen", .unit = "nm", .description = "the last records", .is_array = true},
    [REPLAYED_CALLS] = {.name = "calls", .description = "of `work` until the step", .is_of_computer = true},
};

static struct rm_application_stream const streams[] = {
    {.name = "sum", .description = "what it added up", .lane = {{"sum", "nm"}, {"missing", ""}}},
};

#ifndef TEST_RUNS
#define TEST_RUNS 0
#endif
#ifndef TEST_ARRIVE
#define TEST_ARRIVE 1
#endif

enum { FREE, ASKED, READY, IN_THE_STEP = TEST_ARRIVE + TEST_RUNS == 0 };

struct memory {
    /** Who has question and result: FREE or READY the steps, ASKED `work`. */
    _Atomic int turn_of;
    _Atomic uint64_t calls;
    double question, result;
    struct rm_exchange exchange;
    double adopted;
};

struct state {
    int64_t sum;
    double follows;
};

static enum rm_code replayed_open(struct rm_application_setup const *setup, void **memory, struct rm_error *error) {
    (void)setup;
    (void)error;
    *memory = calloc(1, sizeof(struct memory));
    return *memory != NULL ? RM_OK : RM_E_NO_SPACE;
}

static uint32_t replayed_length(struct rm_application_setup const *setup, bool is_reading, uint32_t index) {
    (void)setup;
    (void)is_reading;
    (void)index;
    return REPLAYED_LENGTH;
}

#ifndef TEST_DELAY_STEPS
#define TEST_DELAY_STEPS 0.5
#endif

static double replayed_delay(struct rm_application_setup const *setup, uint32_t stream) {
    (void)stream;
    return TEST_DELAY_STEPS * (double)setup->period_turns;
}

static void replayed_arrive(struct rm_application_setup const *setup, void *state, uint32_t input,
                            struct rm_record const *record) {
    (void)setup;
    ((struct state *)state)->sum += (int64_t)record->lane[0].i * (input + 1);
}

/** A step that has one record more, or has it at another place, has another sum. */
static void replayed_take_runs(struct rm_application_setup const *setup, struct state *it,
                               struct rm_step const *given) {
    for (uint32_t i = 0; i < setup->input_count; ++i)
        for (uint64_t n = 0; n < given->run[i].count; ++n)
            if (given->run[i].record[n].turn != RM_TURN_NONE)
                it->sum = it->sum * 31 % 1000003 + given->run[i].record[n].lane[0].i % 1000 + (int64_t)n;
}

static enum rm_step_result replayed_step(struct rm_application_setup const *setup, void *state,
                                         struct rm_step const *given, struct rm_command *command) {
    struct state *it = state;
    struct memory *memory = setup->memory;
    if (TEST_RUNS)
        replayed_take_runs(setup, it, given);
    for (uint32_t i = 0; IN_THE_STEP && i < setup->input_count; ++i)
        if (!given->is_missing[i])
            replayed_arrive(setup, state, i, &given->record[i]);
    double const *weight = given->setting + setup->setting_at[REPLAYED_WEIGHT];
    double old = 0.0; // what did not come counts as it came last
    for (uint32_t i = 0; i < setup->input_count; ++i)
        old += given->is_missing[i] && given->record[i].turn != RM_TURN_NONE ? given->record[i].lane[0].i : 0.0;
    double const wanted = given->setting[REPLAYED_GAIN] *
                          ((double)it->sum * weight[given->steps % REPLAYED_LENGTH] + 0.5 * old + memory->adopted);
    it->follows = 0.9 * it->follows + 0.1 * (isfinite(given->sent[0]) ? given->sent[0] : 0.0);
    for (uint32_t i = 0; i < setup->actuator_count; ++i)
        command->setpoint[i] = 0.5 * command->setpoint[i] + wanted + it->follows;
    if (given->steps % 97 == 96)
        command->setpoint[setup->actuator_count - 1] = NAN;
    return given->setting[REPLAYED_ENABLE] != 0.0 && given->steps % 31 != 30 ? RM_STEP_SEND : RM_STEP_QUIET;
}

/** Takes a result that is ready and allowed, or asks for one. */
static void replayed_hand_over(struct memory *memory, struct state const *it, struct rm_step const *given) {
    int const now = atomic_load_explicit(&memory->turn_of, memory_order_acquire);
    if (now == READY && memory->exchange.adopted < given->allowed.adopted) {
        memory->adopted = memory->result;
        ++memory->exchange.adopted;
        atomic_store_explicit(&memory->turn_of, FREE, memory_order_release);
    } else if (now == FREE && memory->exchange.asked < given->allowed.asked) {
        memory->question = (double)it->sum;
        ++memory->exchange.asked;
        atomic_store_explicit(&memory->turn_of, ASKED, memory_order_release);
    }
}

static void replayed_prepare(struct rm_application_setup const *setup, void *state, struct rm_step const *given,
                             struct rm_command *command) {
    struct state *it = state;
    struct memory *memory = setup->memory;
    replayed_hand_over(memory, it, given);
    command->exchange = memory->exchange;
    command->reading[setup->reading_at[REPLAYED_RESULT]] = memory->adopted;
    command->reading[setup->reading_at[REPLAYED_CALLS]] = (double)atomic_load(&memory->calls);
    for (uint32_t i = 0; i < setup->input_count && i < REPLAYED_LENGTH; ++i)
        command->reading[setup->reading_at[REPLAYED_SEEN] + i] = given->record[i].lane[0].i;
    command->stream[0][0] = (float)it->sum;
    command->stream[0][1] = (float)given->missing;
    it->sum = 0;
}

static void replayed_work(struct rm_application_setup const *setup) {
    struct memory *memory = setup->memory;
    atomic_fetch_add(&memory->calls, 1);
    if (atomic_load_explicit(&memory->turn_of, memory_order_acquire) != ASKED)
        return;
    memory->result = 0.25 * memory->result + 0.5 * memory->question;
    atomic_store_explicit(&memory->turn_of, READY, memory_order_release);
}

/** What `work` has made is the steps' when they have adopted it: a result that was not is worked out again. */
struct packed {
    struct rm_exchange exchange;
    double question, adopted;
};

static size_t replayed_pack(struct rm_application_setup const *setup, void const *state, void *bytes, size_t capacity) {
    struct memory const *memory = setup->memory;
    struct packed const packed = {memory->exchange, memory->question, memory->adopted};
    (void)state;
    if (bytes != NULL && capacity >= sizeof packed)
        memcpy(bytes, &packed, sizeof packed);
    return sizeof packed;
}

static enum rm_code replayed_unpack(struct rm_application_setup const *setup, void *state, void const *bytes,
                                    size_t count, struct rm_error *error) {
    struct memory *memory = setup->memory;
    struct packed packed;
    (void)state;
    (void)error;
    if (count != sizeof packed)
        return RM_E_CONFIG;
    memcpy(&packed, bytes, sizeof packed);
    memory->exchange = packed.exchange;
    memory->question = packed.question;
    memory->adopted = memory->result = packed.adopted;
    atomic_store(&memory->turn_of, packed.exchange.asked > packed.exchange.adopted ? ASKED : FREE);
    return RM_OK;
}

struct rm_application_code const ringmaster_application = {
    .abi_version = RM_ABI_VERSION,
    .takes_runs = TEST_RUNS,
    .state_bytes = sizeof(struct state),
    .settings = settings,
    .setting_count = REPLAYED_SETTINGS,
    .reading_count = REPLAYED_READINGS,
    .readings = readings,
    .step = replayed_step,
    .streams = streams,
    .stream_count = sizeof streams / sizeof streams[0],
    .open = replayed_open,
    .close = free,
    .length = replayed_length,
    .delay = replayed_delay,
    .arrive = TEST_ARRIVE ? replayed_arrive : NULL,
    .prepare = replayed_prepare,
    .work = replayed_work,
    .pack = replayed_pack,
    .unpack = replayed_unpack,
};
