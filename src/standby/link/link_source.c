// SPDX-License-Identifier: Apache-2.0
/** The active server's part of a link: vectors, steps, and answers to what the standby asks. */
#include <stdlib.h>
#include <string.h>

#include "standby/link/link_parts.h"

enum {
    /** Steps that are sent at one time: the rest waits for the next. */
    STEPS_AT_ONCE = 64,
    /** An application is asked for its state not more often than that. */
    ASK_STATE_NS = 100 * RM_PEER_MS,
};

void rm_peer_source_begin(struct rm_peer_link *link) {
    for (uint32_t i = 0; i < link->setup.application_count; ++i)
        link->fresh[i] = true;
    for (int of = 0; of < RM_PEER_VECTORS; ++of)
        link->vector_out[of].whole = true;
}

static void source_vectors(struct rm_peer_link *link) {
    struct rm_peer_local const *const local = &link->setup.local;
    for (int of = 0; of < RM_PEER_VECTORS; ++of) {
        struct rm_peer_vector_out *const out = &link->vector_out[of];
        bool const is_new =
            local->vector(local->context, (enum rm_peer_vector_of)of, link->values, &link->vector_turn[of]);
        if (is_new) {
            out->known = true;
            rm_peer_vector_send(out, (enum rm_peer_vector_of)of, link->values, link->vector_turn[of], &link->emitter);
        } else if (out->known && out->whole) { // as it was sent last, to a peer that does not have it
            memcpy(link->values, out->value, out->actuators * sizeof *out->value);
            rm_peer_vector_send(out, (enum rm_peer_vector_of)of, link->values, link->vector_turn[of], &link->emitter);
        }
    }
}

static void source_steps(struct rm_peer_link *link, uint32_t application) {
    struct rm_peer_local const *const local = &link->setup.local;
    rm_turn previous;
    if (link->fresh[application] && link->status_ns == 0)
        return; // the peer says first what it has
    if (link->fresh[application]) {
        bool const has = application < link->status.count;
        link->cursor[application] = has ? link->status.progress[application].came : RM_TURN_NONE;
        link->fresh[application] = false;
    }
    for (int i = 0; i < STEPS_AT_ONCE; ++i) {
        if (!local->step(local->context, application, link->cursor[application], link->records, &previous))
            return;
        link->beginning[application] += previous == RM_TURN_NONE;
        rm_peer_step_send((uint8_t)application, link->records, previous, link->beginning[application], &link->emitter);
        link->cursor[application] = link->records->turn;
    }
}

void rm_peer_source_tick(struct rm_peer_link *link) {
    source_vectors(link);
    for (uint32_t i = 0; i < link->setup.application_count; ++i)
        source_steps(link, i);
}

void rm_peer_source_status(struct rm_peer_link *link) {
    if (link->status.flags & RM_PEER_WANTS_SENT)
        link->vector_out[RM_PEER_SENT].whole = true;
    if (link->status.flags & RM_PEER_WANTS_TARGETS)
        link->vector_out[RM_PEER_TARGETS].whole = true;
}

void rm_peer_source_repeat(struct rm_peer_link *link, struct rm_peer_repeat const *repeat) {
    if (repeat->application >= link->setup.application_count)
        return;
    link->cursor[repeat->application] = repeat->after;
    link->fresh[repeat->application] = false;
}

static void source_want_state(struct rm_peer_link *link, struct rm_peer_want const *want, uint64_t now_ns) {
    struct rm_peer_local const *const local = &link->setup.local;
    uint32_t const i = want->application;
    struct rm_peer_copy_out *const out = &link->state_out[i];
    /* One of a later turn than the newest step is of before the turn counter was restarted. */
    rm_turn const newest = link->application[i].followed;
    bool const is_fresh = out->offer.id != 0 && out->offer.turn >= want->turn && out->offer.turn <= newest;
    if (!is_fresh && local->copy_state(local->context, i, want->turn, out) && out->offer.turn <= newest) {
        out->offer.of = RM_PEER_STATE;
        out->offer.application = (uint8_t)i;
        out->offer.id = link->setup.draw(link->setup.draw_context);
    } else if (!is_fresh) {
        if (now_ns - link->asked_state_ns[i] >= ASK_STATE_NS) {
            link->asked_state_ns[i] = now_ns;
            local->ask_state(local->context, i);
        }
        return;
    }
    rm_peer_copy_offer(out, &link->emitter);
}

static void source_want_lines(struct rm_peer_link *link) {
    struct rm_peer_copy_out *const out = &link->lines_out;
    size_t const bytes = strlen(link->setup.lines) + 1;
    if (!rm_peer_copy_room(out, bytes))
        return;
    memcpy(out->bytes, link->setup.lines, bytes);
    out->offer = (struct rm_peer_offer){.of = RM_PEER_CONFIGURATION, .id = 1, .bytes = bytes};
    rm_peer_copy_offer(out, &link->emitter);
}

void rm_peer_source_want(struct rm_peer_link *link, struct rm_peer_want const *want, uint64_t now_ns) {
    bool const is_lines = want->of == RM_PEER_CONFIGURATION;
    if (!is_lines && (want->application >= link->setup.application_count || !rm_peer_link_is_active(link) ||
                      link->relation != RM_PEER_JOINED))
        return;
    if (want->id != 0)
        rm_peer_copy_answer(is_lines ? &link->lines_out : &link->state_out[want->application], want, &link->emitter);
    else if (is_lines)
        source_want_lines(link);
    else
        source_want_state(link, want, now_ns);
}
