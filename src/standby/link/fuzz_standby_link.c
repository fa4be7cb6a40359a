// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: any bytes as datagrams of a peer, as they come and under the right key in the right session. Each
 * piece has its length in two bytes, its kind in one, and its body. Aborts when a step or a vector is handed on that cannot be. */
#include <stdlib.h>
#include <string.h>

#include "standby/link/peer_link.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

enum { SUPPLIES = 200, HEAD = 3 };

static uint8_t const KEY[RM_PEER_KEY_BYTES] = {7};

static bool fake_state(void *context, struct rm_standby_state_reading *reading) {
    *reading = (struct rm_standby_state_reading){.role = *(enum rm_standby_role *)context, .turn = 1200};
    return true;
}

static bool fake_vector(void *context, enum rm_peer_vector_of of, double *values, rm_turn *turn) {
    (void)context;
    (void)of;
    memset(values, 0, SUPPLIES * sizeof *values);
    *turn = 1200;
    return true;
}

static bool fake_step(void *context, uint32_t application, rm_turn after, struct rm_peer_records *records,
                      rm_turn *previous) {
    (void)context;
    (void)application;
    if (after == 1200)
        return false;
    records->turn = 1200;
    records->count = 30;
    memset(records->record, 0, 30 * sizeof *records->record);
    *previous = RM_TURN_NONE;
    return true;
}

static void fake_application(void *context, uint32_t application, struct rm_peer_application *reading) {
    (void)context;
    (void)application;
    *reading = (struct rm_peer_application){true, false, 0, 100000};
}

static void fake_ask(void *context, uint32_t application) {
    (void)context;
    (void)application;
}

static bool fake_copy(void *context, uint32_t application, rm_turn not_before, struct rm_peer_copy_out *out) {
    (void)context;
    (void)application;
    if (not_before > 1200 || !rm_peer_copy_room(out, 5000))
        return false;
    memset(out->bytes, 1, 5000);
    out->offer.bytes = 5000;
    out->offer.turn = 1200;
    return true;
}

static void fake_put_vector(void *context, enum rm_peer_vector_of of, double const *values, rm_turn turn) {
    (void)context;
    (void)turn;
    double sum = 0.0;
    for (int i = 0; i < SUPPLIES; ++i)
        sum += values[i];
    if (of >= RM_PEER_VECTORS || sum == 12345.678)
        abort();
}

static void fake_put_step(void *context, uint32_t application, struct rm_peer_records const *records) {
    (void)context;
    if (application > 0 || records->count > RM_PEER_STEP_RECORDS_MAX || records->turn >= RM_TURN_END)
        abort();
}

static void fake_put_state(void *context, uint32_t application, struct rm_peer_offer const *offer, void const *bytes) {
    (void)context;
    if (application > 0 || offer->bytes > 100000 ||
        (offer->bytes > 0 && rm_peer_sum(bytes, offer->bytes) != offer->sum))
        abort();
}

static uint64_t fake_draw(void *context) {
    (void)context;
    return 11;
}

static void fake_send(void *context, uint8_t const *bytes, size_t size) {
    struct rm_peer_datagram datagram;
    (void)context;
    if (rm_peer_datagram_open(bytes, size, KEY, &datagram) != RM_PEER_OPENED)
        abort();
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    static bool ready;
    ready = ready || rm_peer_datagram_ready();
    if (!ready || size < 2)
        return 0;
    enum rm_standby_role role = data[0] & 1 ? RM_STANDBY_ACTIVE : RM_STANDBY_JOINING;
    bool const joined = data[0] & 2;
    struct rm_peer_setup setup = {.server = 1,
                                  .name = "a",
                                  .peer_name = "b",
                                  .build = "1",
                                  .version = 1,
                                  .least = 1,
                                  .lines = "x: 1\n",
                                  .supplies = SUPPLIES,
                                  .application_count = 1,
                                  .application = {"ramp"},
                                  .period_turns = 12,
                                  .turn_rate_hz = 1e6,
                                  .local = {&role, fake_state, fake_vector, fake_step, fake_application, fake_ask,
                                            fake_copy, fake_put_vector, fake_put_step, fake_put_state},
                                  .draw = fake_draw,
                                  .send = fake_send};
    memcpy(setup.key, KEY, sizeof KEY);
    struct rm_peer_link link;
    if (!rm_peer_link_make(&link, &setup))
        abort();
    uint64_t now_ns = 1000000000, sequence = 0;
    if (joined) {
        link.session.up = true;
        link.session.mine = 11;
        link.session.peer = 22;
        link.relation = RM_PEER_JOINED;
    }
    for (size_t at = 1; at + HEAD < size; now_ns += 700000) {
        size_t const wanted = data[at] | (size_t)data[at + 1] << 8, left = size - at - HEAD;
        size_t const bytes = wanted < left ? wanted : left;
        uint8_t sealed[RM_PEER_DATAGRAM_BYTES];
        struct rm_peer_datagram const datagram = {.version = 1,
                                                  .kind = data[at + 2] % 12,
                                                  .body_bytes = (uint16_t)(bytes < RM_PEER_BODY_BYTES ? bytes : 0),
                                                  .from = 22,
                                                  .to = 11,
                                                  .sequence = ++sequence,
                                                  .body = &data[at + HEAD]};
        rm_peer_link_receive(&link, sealed, rm_peer_datagram_seal(sealed, &datagram, KEY), now_ns);
        rm_peer_link_receive(&link, &data[at + HEAD], bytes, now_ns);
        rm_peer_link_tick(&link, now_ns);
        at += HEAD + bytes;
    }
    char why[RM_PEER_WHY_BYTES];
    rm_peer_link_why(&link, now_ns, why);
    rm_peer_link_free(&link);
    return 0;
}
