// SPDX-License-Identifier: Apache-2.0
/** Two links, joined by a network that loses, doubles and reorders by a seed, in a time that the test counts. Each has a
 * server of plain arrays. */
#ifndef RM_STANDBY_LINK_TEST_RIG_H
#define RM_STANDBY_LINK_TEST_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "standby/link/peer_link.h"

enum { RIG_SUPPLIES = 300, RIG_STEPS = 4096, RIG_STATE_BYTES = 100000, RIG_QUEUE = 8192, RIG_PERIOD = 12 };

/** A step of the fake application: as many records as its number says, up to three parts. */
struct rig_server {
    struct rm_peer_link link;
    struct rm_standby_state_reading state;

    double vector[RM_PEER_VECTORS][RIG_SUPPLIES];
    rm_turn vector_turn[RM_PEER_VECTORS];
    double came[RM_PEER_VECTORS][RIG_SUPPLIES];
    rm_turn came_turn[RM_PEER_VECTORS];
    uint32_t vectors_came;

    /** Turn of its newest step, and of the oldest that can still be read. */
    rm_turn step, oldest;
    rm_turn step_came[RIG_STEPS];
    uint32_t steps_came;

    struct rm_peer_application application;
    rm_turn state_turn;
    uint8_t *state_bytes;
    uint32_t states_came;
    rm_turn state_came;

    struct rig *rig;
    int index;
    bool has_server, bad_step, asked_state;
    /** It makes no step. */
    bool stands;
    bool vector_new[RM_PEER_VECTORS];
};

struct rig_packet {
    uint64_t due_ns;
    int to;
    size_t size;
    uint8_t bytes[RM_PEER_DATAGRAM_BYTES];
};

struct rig {
    struct rig_server server[2];
    struct rig_packet *packet;
    uint32_t packets;
    uint64_t now_ns;
    uint64_t random;
    /** Of a thousand. */
    uint32_t loses, doubles, reorders;
    /** Nothing goes from this server. */
    bool cut[2];
    /** The newest datagram that was sent from each. */
    struct rig_packet newest[2];
    uint64_t datagrams;
};

static inline uint64_t rig_draw(void *context) {
    struct rig *const rig = context;
    rig->random ^= rig->random << 13;
    rig->random ^= rig->random >> 7;
    rig->random ^= rig->random << 17;
    return rig->random;
}

static inline bool rig_happens(struct rig *rig, uint32_t of_thousand) { return rig_draw(rig) % 1000 < of_thousand; }

static inline bool rig_state(void *context, struct rm_standby_state_reading *reading) {
    struct rig_server const *const server = context;
    *reading = server->state;
    return server->has_server;
}

static inline bool rig_vector(void *context, enum rm_peer_vector_of of, double *values, rm_turn *turn) {
    struct rig_server *const server = context;
    if (!server->vector_new[of])
        return false;
    server->vector_new[of] = false;
    memcpy(values, server->vector[of], sizeof server->vector[of]);
    *turn = server->vector_turn[of];
    return true;
}

static inline uint32_t rig_records(rm_turn turn) { return 1 + (uint32_t)(turn / RIG_PERIOD % 60); }

static inline bool rig_step(void *context, uint32_t application, rm_turn after, struct rm_peer_records *records,
                            rm_turn *previous) {
    struct rig_server const *const server = context;
    (void)application;
    bool const lapped = after == RM_TURN_NONE || after > server->step || after + RIG_PERIOD < server->oldest;
    rm_turn const turn = lapped ? server->step : after + RIG_PERIOD;
    if (server->step == RM_TURN_NONE || turn > server->step)
        return false;
    *previous = lapped ? RM_TURN_NONE : after;
    records->turn = turn;
    records->count = rig_records(turn);
    for (uint32_t i = 0; i < records->count; ++i) {
        records->record[i] = (struct rm_peer_record){.stream = (uint16_t)i, .tag = turn + i};
        records->record[i].lane[3].i = (int32_t)(turn * 7 + i);
    }
    return true;
}

static inline void rig_application(void *context, uint32_t application, struct rm_peer_application *reading) {
    struct rig_server const *const server = context;
    (void)application;
    *reading = server->application;
}

static inline void rig_ask_state(void *context, uint32_t application) {
    struct rig_server *const server = context;
    (void)application;
    server->asked_state = true;
}

static inline bool rig_copy_state(void *context, uint32_t application, rm_turn not_before,
                                  struct rm_peer_copy_out *out) {
    struct rig_server const *const server = context;
    (void)application;
    if (server->state_turn == RM_TURN_NONE || server->state_turn < not_before)
        return false;
    assert_true(rm_peer_copy_room(out, RIG_STATE_BYTES));
    memcpy(out->bytes, server->state_bytes, RIG_STATE_BYTES);
    out->offer.turn = server->state_turn;
    out->offer.steps = server->state_turn / RIG_PERIOD;
    out->offer.bytes = RIG_STATE_BYTES;
    out->offer.checksum = 4711;
    return true;
}

static inline void rig_put_vector(void *context, enum rm_peer_vector_of of, double const *values, rm_turn turn) {
    struct rig_server *const server = context;
    memcpy(server->came[of], values, sizeof server->came[of]);
    server->came_turn[of] = turn;
    ++server->vectors_came;
}

static inline void rig_put_step(void *context, uint32_t application, struct rm_peer_records const *records) {
    struct rig_server *const server = context;
    assert_int_equal(application, 0);
    server->bad_step |= records->count != rig_records(records->turn);
    for (uint32_t i = 0; i < records->count; ++i)
        server->bad_step |= records->record[i].stream != i || records->record[i].tag != records->turn + i ||
                            records->record[i].lane[3].i != (int32_t)(records->turn * 7 + i);
    server->step_came[server->steps_came++ % RIG_STEPS] = records->turn;
}

static inline void rig_put_state(void *context, uint32_t application, struct rm_peer_offer const *offer,
                                 void const *bytes) {
    struct rig_server *const server = context;
    struct rig_server const *const other = &server->rig->server[1 - server->index];
    assert_int_equal(application, 0);
    assert_int_equal(offer->bytes, RIG_STATE_BYTES);
    assert_int_equal(offer->checksum, 4711);
    assert_memory_equal(bytes, other->state_bytes, RIG_STATE_BYTES);
    server->state_came = offer->turn;
    ++server->states_came;
}

static inline void rig_send(void *context, uint8_t const *bytes, size_t size) {
    struct rig_server *const server = context;
    struct rig *const rig = server->rig;
    struct rig_packet packet = {.to = 1 - server->index, .size = size};
    memcpy(packet.bytes, bytes, size);
    rig->newest[server->index] = packet;
    ++rig->datagrams;
    int copies = rig->cut[server->index] || rig_happens(rig, rig->loses) ? 0 : rig_happens(rig, rig->doubles) ? 2 : 1;
    for (; copies > 0 && rig->packets < RIG_QUEUE; --copies) {
        packet.due_ns = rig->now_ns + 50000 + (rig_happens(rig, rig->reorders) ? rig_draw(rig) % 2000000 : 0);
        rig->packet[rig->packets++] = packet;
    }
}

static inline struct rm_peer_setup rig_setup(struct rig *rig, int index) {
    static char const *const names[] = {"a", "b"};
    struct rig_server *const server = &rig->server[index];
    struct rm_peer_setup setup = {
        .server = (uint8_t)(index + 1),
        .name = names[index],
        .peer_name = names[1 - index],
        .build = "0.1.0",
        .version = RM_PEER_VERSION,
        .least = RM_PEER_VERSION_LEAST,
        .lines = "turn_rate_hz: 1200000\n",
        .supplies = RIG_SUPPLIES,
        .application_count = 1,
        .application = {"feedback"},
        .period_turns = RIG_PERIOD,
        .turn_rate_hz = 120e3,
        .local = {server, rig_state, rig_vector, rig_step, rig_application, rig_ask_state, rig_copy_state,
                  rig_put_vector, rig_put_step, rig_put_state},
        .draw = rig_draw,
        .draw_context = rig,
        .send = rig_send,
        .send_context = server,
    };
    memset(setup.key, 0x5a, sizeof setup.key);
    return setup;
}

static inline void rig_server_start(struct rig *rig, int index, struct rm_peer_setup const *setup) {
    struct rig_server *const server = &rig->server[index];
    server->rig = rig;
    server->index = index;
    assert_true(rm_peer_link_make(&server->link, setup));
}

/** Server a is active, server b is to join; the application of each runs. */
static inline struct rig *rig_new(uint64_t seed) {
    struct rig *const rig = calloc(1, sizeof *rig);
    assert_true(rm_peer_datagram_ready());
    rig->packet = calloc(RIG_QUEUE, sizeof *rig->packet);
    rig->random = seed * 2654435761u + 88172645463325252u;
    rig->now_ns = 1000000000;
    for (int i = 0; i < 2; ++i) {
        struct rig_server *const server = &rig->server[i];
        server->has_server = true;
        server->state = (struct rm_standby_state_reading){.role = i == 0 ? RM_STANDBY_ACTIVE : RM_STANDBY_JOINING,
                                                          .term = i == 0 ? 5 : 0,
                                                          .switch_turn = RM_TURN_NONE};
        server->step = RM_TURN_NONE;
        server->state_turn = server->state_came = RM_TURN_NONE;
        server->application = (struct rm_peer_application){true, false, RM_TURN_NONE, RIG_STATE_BYTES};
        server->state_bytes = malloc(RIG_STATE_BYTES);
        for (int k = 0; k < RIG_STATE_BYTES; ++k)
            server->state_bytes[k] = (uint8_t)rig_draw(rig);
    }
    return rig;
}

static inline struct rig *rig_pair(uint64_t seed) {
    struct rig *const rig = rig_new(seed);
    for (int i = 0; i < 2; ++i) {
        struct rm_peer_setup const setup = rig_setup(rig, i);
        rig_server_start(rig, i, &setup);
    }
    return rig;
}

static inline void rig_free(struct rig *rig) {
    for (int i = 0; i < 2; ++i) {
        rm_peer_link_free(&rig->server[i].link);
        free(rig->server[i].state_bytes);
    }
    free(rig->packet);
    free(rig);
}

/** Hands over what is due. */
static inline void rig_deliver(struct rig *rig) {
    for (uint32_t i = 0; i < rig->packets;) {
        if (rig->packet[i].due_ns > rig->now_ns) {
            ++i;
            continue;
        }
        struct rig_packet const packet = rig->packet[i];
        memmove(&rig->packet[i], &rig->packet[i + 1], (--rig->packets - i) * sizeof *rig->packet);
        rm_peer_link_receive(&rig->server[packet.to].link, packet.bytes, packet.size, rig->now_ns);
    }
}

/** Both servers' turn goes on by one cycle of 100 µs; the active one steps, and sends another vector. */
static inline void rig_servers(struct rig *rig) {
    rig->now_ns += 100000;
    for (int i = 0; i < 2; ++i) {
        struct rig_server *const server = &rig->server[i];
        server->state.turn += RIG_PERIOD;
        if (server->has_server && server->state.role == RM_STANDBY_ACTIVE) {
            server->step = server->state.turn;
            for (int k = 0; k < 5; ++k)
                server->vector[RM_PEER_SENT][rig_draw(rig) % RIG_SUPPLIES] = (double)rig_draw(rig);
            server->vector_turn[RM_PEER_SENT] = server->state.turn;
            server->vector_new[RM_PEER_SENT] = true;
            if (server->asked_state) {
                server->state_turn = server->step;
                server->asked_state = false;
            }
        }
    }
}

/** A cycle of servers and links. */
static inline void rig_cycle(struct rig *rig) {
    rig_servers(rig);
    rig_deliver(rig);
    for (int i = 0; i < 2; ++i)
        if (!rig->server[i].stands) {
            bool const is_active = rig->server[i].state.role == RM_STANDBY_ACTIVE;
            rig->server[i].application.followed =
                is_active ? rig->server[i].step : rig->server[i].link.steps_in[0]->came;
        }
    for (int i = 0; i < 2; ++i)
        rm_peer_link_tick(&rig->server[i].link, rig->now_ns);
}

static inline void rig_cycles(struct rig *rig, int count) {
    for (int i = 0; i < count; ++i)
        rig_cycle(rig);
}

/** Goes on until server b has a state copied, and follows. */
static inline void rig_join(struct rig *rig) {
    struct rig_server *const b = &rig->server[1];
    rig->server[0].vector_new[RM_PEER_TARGETS] = true;
    for (int i = 0; i < 20000 && !b->link.orders.synchronised; ++i) {
        rig_cycle(rig);
        b->application.in_step = b->states_came > 0;
    }
    assert_true(b->link.orders.synchronised);
}

static inline char const *rig_why(struct rig *rig, int index) {
    static char text[RM_PEER_WHY_BYTES];
    rm_peer_link_why(&rig->server[index].link, rig->now_ns, text);
    return text;
}

#endif
