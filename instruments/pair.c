// SPDX-License-Identifier: Apache-2.0
#include "pair.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/timebase.h"

enum { QUEUE = 0, LINE_BYTES = 64, BUFFER_BYTES = (RM_LONGEST_FRAME_MAX + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES };

static double const LOOK_SECONDS = 1e-3;

/** Asks whether a server is there; one that comes back is waited for as one that has just taken something. */
static void pair_look(struct rm_pair *pair, uint32_t server, uint64_t now) {
    bool const was_up = pair->up[server];
    pair->look_tsc[server] = now + pair->look_ticks;
    pair->up[server] = rm_port_check(pair->port[server], NULL) == RM_OK;
    if (pair->up[server] && !was_up)
        pair->took_tsc[server] = now;
}

enum rm_code rm_pair_make(struct rm_port *const port[RM_CONFIG_SERVERS], double timeout_s, double tsc_hz,
                          struct rm_pair *pair, struct rm_error *error) {
    *pair = (struct rm_pair){
        .timeout_ticks = (uint64_t)(timeout_s * tsc_hz),
        .look_ticks = (uint64_t)(LOOK_SECONDS * tsc_hz),
        .memory = aligned_alloc(LINE_BYTES, (size_t)RM_BURST * BUFFER_BYTES),
    };
    if (pair->memory == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for what goes to two servers");
    for (uint32_t s = 0; s < RM_CONFIG_SERVERS; ++s) {
        pair->port[s] = port[s];
        pair_look(pair, s, rm_tsc());
    }
    return RM_OK;
}

void rm_pair_free(struct rm_pair *pair) {
    free(pair->memory);
    *pair = (struct rm_pair){0};
}

bool rm_pair_works(struct rm_pair *pair) {
    for (uint32_t s = 0; s < RM_CONFIG_SERVERS; ++s)
        pair_look(pair, s, rm_tsc());
    return pair->up[0] || pair->up[1];
}

uint32_t rm_pair_reserve(struct rm_pair *pair, struct rm_burst *burst, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        burst->data[i] = pair->memory + (size_t)i * BUFFER_BYTES;
    burst->count = count;
    return count;
}

/** Gives one server what it has not taken yet of a burst. */
static void pair_offer(struct rm_pair *pair, uint32_t server, struct rm_burst const *burst, uint64_t now) {
    if (!pair->up[server] && now >= pair->look_tsc[server])
        pair_look(pair, server, now);
    if (!pair->up[server] || pair->done[server] == burst->count)
        return;
    struct rm_burst left = {.count = burst->count - pair->done[server]};
    for (uint32_t i = 0; i < left.count; ++i) {
        left.data[i] = burst->data[pair->done[server] + i];
        left.length[i] = burst->length[pair->done[server] + i];
    }
    uint32_t const taken = rm_port_send_from(pair->port[server], QUEUE, &left);
    pair->done[server] += taken;
    if (taken != 0)
        pair->took_tsc[server] = now;
    else if (now >= pair->look_tsc[server])
        pair_look(pair, server, now);
}

/** True while it is likely to take the rest soon. */
static bool is_waited_for(struct rm_pair const *pair, uint32_t server, uint32_t count, uint64_t now) {
    return pair->up[server] && pair->done[server] < count && now - pair->took_tsc[server] < pair->timeout_ticks;
}

/** Takes the first `gone` entries out of a burst. */
static void move_up(struct rm_burst *burst, uint32_t gone) {
    burst->count -= gone;
    for (uint32_t i = 0; i < burst->count; ++i) {
        burst->data[i] = burst->data[gone + i];
        burst->length[i] = burst->length[gone + i];
    }
}

uint32_t rm_pair_send(struct rm_pair *pair, struct rm_burst *burst) {
    uint64_t const now = rm_tsc();
    bool waits = false;
    uint32_t most = 0;
    for (uint32_t s = 0; s < RM_CONFIG_SERVERS; ++s) {
        pair_offer(pair, s, burst, now);
        waits = waits || is_waited_for(pair, s, burst->count, now);
        most = pair->done[s] > most ? pair->done[s] : most;
    }
    if (waits || most == 0)
        return 0;
    for (uint32_t s = 0; s < RM_CONFIG_SERVERS; ++s) {
        pair->missed[s] += most - pair->done[s];
        pair->done[s] = 0;
    }
    move_up(burst, most);
    return most;
}

void rm_pair_release(struct rm_pair *pair, struct rm_burst *burst) {
    burst->count = 0;
    for (uint32_t s = 0; s < RM_CONFIG_SERVERS; ++s)
        pair->done[s] = 0;
}
