// SPDX-License-Identifier: Apache-2.0
#include "standby/link/process.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "engine/version.h"
#include "standby/link/differences.h"

enum {
    /** Datagrams that are taken before the rest of the work is done. */
    DATAGRAMS_AT_ONCE = 256,
    /** How long it sleeps while its server is active: a quarter of a cycle, between these. */
    SLEEP_LEAST_NS = 50000,
    SLEEP_MOST_NS = 1000000,
    SLACK_NS = 1000,
};
/** And while it stands by: a datagram wakes it. */
#define SLEEP_STANDBY_NS 2000000ull
/** What people see is written that often. */
#define SHOW_NS 50000000ull
#define ANSWER_NS 10000000ull

static bool local_state(void *context, struct rm_standby_state_reading *reading) {
    struct rm_peer_process *const process = context;
    return rm_peer_own_state(&process->own, reading);
}

static bool local_vector(void *context, enum rm_peer_vector_of of, double *values, rm_turn *turn) {
    struct rm_peer_process *const process = context;
    return rm_peer_own_vector(&process->own, of, values, turn);
}

static bool local_step(void *context, uint32_t application, rm_turn after, struct rm_peer_records *records,
                       rm_turn *previous) {
    struct rm_peer_process *const process = context;
    return rm_peer_own_step(&process->own, application, after, records, previous);
}

static void local_application(void *context, uint32_t application, struct rm_peer_application *reading) {
    struct rm_peer_process *const process = context;
    *reading = (struct rm_peer_application){.present = process->own.application[application].stream_count > 0 &&
                                                       process->segment.application[application].stream_count > 0,
                                            .in_step = rm_peer_own_in_step(&process->own, application),
                                            .followed = rm_peer_own_followed(&process->own, application),
                                            .state_capacity = process->segment.application[application].state_capacity};
}

static void local_ask_state(void *context, uint32_t application) { rm_peer_requests_ask_state(context, application); }

static bool local_copy_state(void *context, uint32_t application, rm_turn not_before, struct rm_peer_copy_out *out) {
    struct rm_peer_process *const process = context;
    struct rm_peer_own_application const *const it = &process->own.application[application];
    struct rm_state_reading reading;
    if (it->state == NULL || atomic_load_explicit(&it->state->sequence, memory_order_relaxed) == 0)
        return false;
    rm_turn const turn = atomic_load_explicit(&it->state->turn, memory_order_relaxed); // a hint, judged below
    if (turn >= RM_TURN_END || turn < not_before || !rm_peer_copy_room(out, it->state_capacity) ||
        !rm_state_copy(it->state, out->bytes, it->state_capacity, &reading) || reading.turn < not_before ||
        reading.bytes == 0)
        return false;
    out->offer = (struct rm_peer_offer){
        .bytes = reading.bytes, .checksum = reading.checksum, .turn = reading.turn, .steps = reading.steps};
    return true;
}

static void local_put_vector(void *context, enum rm_peer_vector_of of, double const *values, rm_turn turn) {
    struct rm_peer_process *const process = context;
    rm_peer_segment_vector(&process->segment, of, values, process->config->supply_count, turn);
}

static void local_put_step(void *context, uint32_t application, struct rm_peer_records const *records) {
    struct rm_peer_process *const process = context;
    rm_peer_segment_step(&process->segment, application, records);
}

static void local_put_state(void *context, uint32_t application, struct rm_peer_offer const *offer, void const *bytes) {
    struct rm_peer_process *const process = context;
    rm_peer_segment_state(&process->segment, application, offer, bytes);
}

static void process_send(void *context, uint8_t const *bytes, size_t size) {
    struct rm_peer_process *const process = context;
    rm_peer_sockets_send(&process->sockets, bytes, size);
}

static uint64_t process_draw(void *context) {
    uint64_t number = 0;
    (void)context;
    while (number == 0)
        randombytes_buf(&number, sizeof number);
    return number;
}

static enum rm_code link_open(struct rm_peer_process *process, struct rm_error *error) {
    struct rm_config const *const config = process->config;
    struct rm_config_standby const *const standby = &config->standby;
    struct rm_peer_setup setup = {
        .server = (uint8_t)(standby->own + 1),
        .name = standby->server[standby->own].name,
        .peer_name = standby->server[1 - standby->own].name,
        .build = RM_VERSION,
        .version = RM_PEER_VERSION,
        .least = RM_PEER_VERSION_LEAST,
        .lines = process->lines,
        .supplies = config->supply_count,
        .application_count = process->own.application_count,
        .period_turns = config->setpoints.period_turns,
        .turn_rate_hz = config->turn_rate_hz,
        .local = {process, local_state, local_vector, local_step, local_application, local_ask_state, local_copy_state,
                  local_put_vector, local_put_step, local_put_state},
        .draw = process_draw,
        .send = process_send,
        .send_context = process,
    };
    for (uint32_t i = 0; i < setup.application_count; ++i)
        setup.application[i] = process->own.application[i].name;
    enum rm_code const code = rm_config_read_key(config, setup.key, error);
    if (code != RM_OK)
        return code;
    bool const good = rm_peer_link_make(&process->link, &setup);
    sodium_memzero(setup.key, sizeof setup.key);
    return good ? RM_OK : rm_fail(error, RM_E_NO_SPACE, "no memory for the link to server %s", setup.peer_name);
}

static enum rm_code segment_open(struct rm_peer_process *process, struct rm_error *error) {
    enum rm_code const code = rm_peer_segment_open(&process->segment, &process->own, error);
    if (code != RM_OK)
        return code;
    rm_peer_requests_begin(process);
    for (uint32_t i = 0; i < process->own.application_count; ++i)
        rm_peer_link_has(&process->link, i, rm_peer_segment_newest(&process->segment, i));
    return RM_OK;
}

enum rm_code rm_peer_process_open(struct rm_peer_process *process, struct rm_config const *config,
                                  struct rm_error *error) {
    process->config = config;
    rm_peer_own_make(&process->own, config);
    if (!rm_peer_datagram_ready())
        return rm_fail(error, RM_E_SYSTEM, "libsodium cannot be used here: it finds no source of random numbers");
    enum rm_code code = rm_peer_lines_make(config->source_path, &process->lines, error);
    if (code == RM_OK)
        code = link_open(process, error);
    if (code == RM_OK)
        code = rm_peer_sockets_open(&process->sockets, config, error);
    if (code != RM_OK)
        return code;
    (void)prctl(PR_SET_TIMERSLACK, SLACK_NS);
    rm_peer_own_look(&process->own, rm_monotonic_ns());
    return segment_open(process, error);
}

void rm_peer_process_close(struct rm_peer_process *process) {
    if (process->link.records != NULL)
        rm_peer_link_bye(&process->link);
    rm_peer_sockets_close(&process->sockets);
    rm_peer_link_free(&process->link);
    rm_peer_segment_close(&process->segment);
    rm_peer_own_free(&process->own);
    free(process->lines);
}

/** Follows what has come and gone in the workspace. */
static enum rm_code process_look(struct rm_peer_process *process, uint64_t now_ns, struct rm_error *error) {
    if (!rm_peer_own_look(&process->own, now_ns) || rm_peer_segment_fits(&process->segment, &process->own))
        return RM_OK;
    rm_peer_segment_close(&process->segment);
    rm_peer_link_renew(&process->link);
    return segment_open(process, error);
}

static void process_receive(struct rm_peer_process *process, uint64_t now_ns) {
    uint8_t bytes[RM_PEER_DATAGRAM_BYTES + 1];
    long size;
    for (uint32_t link = 0; link < process->sockets.count; ++link)
        for (int i = 0; i < DATAGRAMS_AT_ONCE; ++i) {
            if ((size = rm_peer_sockets_receive(&process->sockets, link, bytes, sizeof bytes)) < 0)
                break;
            rm_peer_link_receive(&process->link, bytes, (size_t)size, now_ns);
        }
    process->link.counter[RM_LINK_SENT] = process->sockets.sent;
    process->link.counter[RM_LINK_FULL] = process->sockets.full;
}

static uint64_t process_sleep_ns(struct rm_peer_process const *process) {
    struct rm_config const *const config = process->config;
    if (!process->link.has_server || process->link.state.role != RM_STANDBY_ACTIVE)
        return SLEEP_STANDBY_NS;
    uint64_t const quarter = (uint64_t)(config->setpoints.period_turns * 0.25e9 / config->turn_rate_hz);
    return quarter < SLEEP_LEAST_NS ? SLEEP_LEAST_NS : quarter > SLEEP_MOST_NS ? SLEEP_MOST_NS : quarter;
}

enum rm_code rm_peer_process_run(struct rm_peer_process *process, struct rm_error *error) {
    enum rm_code code = RM_OK;
    while (code == RM_OK && !atomic_load(process->ending)) {
        uint64_t const now_ns = rm_monotonic_ns();
        code = process_look(process, now_ns, error);
        if (code != RM_OK)
            break;
        process_receive(process, now_ns);
        rm_peer_link_tick(&process->link, now_ns);
        if (now_ns - process->answered_ns >= ANSWER_NS) {
            process->answered_ns = now_ns;
            rm_peer_requests_answer(process, now_ns);
        }
        bool const is_due = now_ns - process->shown_ns >= SHOW_NS;
        process->shown_ns = is_due ? now_ns : process->shown_ns;
        rm_peer_segment_show(&process->segment, &process->link);
        if (is_due)
            rm_peer_segment_show_people(&process->segment, &process->link, rm_peer_own_differences(&process->own),
                                        now_ns);
        rm_peer_sockets_wait(&process->sockets, process_sleep_ns(process));
    }
    return code;
}
