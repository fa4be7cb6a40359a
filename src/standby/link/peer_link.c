// SPDX-License-Identifier: Apache-2.0
#include "standby/link/peer_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standby/link/differences.h"
#include "standby/link/link_parts.h"

enum {
    HELLO_NS = 50 * RM_PEER_MS,
    /** A STATUS goes out in each cycle, but not more often than that, and where there is no cycle after that. */
    STATUS_LEAST_NS = RM_PEER_MS / 5,
    STATUS_MOST_NS = 20 * RM_PEER_MS,
};

static bool status_flag(struct rm_peer_link const *link, unsigned flag) { return (link->status.flags & flag) != 0; }

static void emit_for_emitter(void *context, struct rm_peer_message const *message) {
    rm_peer_link_emit(context, message);
}

bool rm_peer_link_make(struct rm_peer_link *link, struct rm_peer_setup const *setup) {
    *link = (struct rm_peer_link){.setup = *setup, .session = {.draw = setup->draw, .context = setup->draw_context}};
    link->emitter = (struct rm_peer_emitter){emit_for_emitter, link};
    link->version = setup->version;
    link->orders.switch_turn = link->orders.peer_turn = link->orders.synchronised_turn = RM_TURN_NONE;
    rm_peer_session_make(&link->session);
    rm_peer_lines_digest(setup->lines, link->digest);
    bool good = true;
    for (int of = 0; of < RM_PEER_VECTORS; ++of)
        good = rm_peer_vector_out_make(&link->vector_out[of], setup->supplies) &&
               rm_peer_vector_in_make(&link->vector_in[of], setup->supplies) && good;
    link->values = calloc(setup->supplies + 1u, sizeof *link->values);
    link->records = calloc(1, sizeof *link->records);
    for (uint32_t i = 0; i < setup->application_count; ++i)
        good = (link->steps_in[i] = calloc(1, sizeof *link->steps_in[i])) != NULL && good;
    if (!good || link->values == NULL || link->records == NULL)
        return false;
    rm_peer_source_begin(link);
    rm_peer_join_begin(link);
    for (uint32_t i = 0; i < setup->application_count; ++i)
        rm_peer_steps_in_clear(link->steps_in[i]);
    return true;
}

void rm_peer_link_free(struct rm_peer_link *link) {
    for (int of = 0; of < RM_PEER_VECTORS; ++of) {
        rm_peer_vector_out_free(&link->vector_out[of]);
        rm_peer_vector_in_free(&link->vector_in[of]);
    }
    for (uint32_t i = 0; i < link->setup.application_count; ++i) {
        rm_peer_copy_out_free(&link->state_out[i]);
        free(link->steps_in[i]);
    }
    rm_peer_copy_out_free(&link->lines_out);
    rm_peer_copy_in_free(&link->copy);
    free(link->values);
    free(link->records);
}

/** Sends a message under these numbers of a session. */
static void link_send(struct rm_peer_link *link, struct rm_peer_message const *message, uint64_t from, uint64_t to,
                      uint64_t sequence) {
    uint8_t bytes[RM_PEER_DATAGRAM_BYTES];
    struct rm_peer_datagram datagram = {.version = link->version,
                                        .kind = (uint8_t)message->kind,
                                        .from = from,
                                        .to = to,
                                        .sequence = sequence,
                                        .body = bytes + RM_PEER_HEAD_BYTES};
    datagram.body_bytes = (uint16_t)rm_peer_message_write(message, bytes + RM_PEER_HEAD_BYTES);
    if (datagram.body_bytes == 0 && message->kind != RM_PEER_BYE)
        return;
    link->setup.send(link->setup.send_context, bytes, rm_peer_datagram_seal(bytes, &datagram, link->setup.key));
}

void rm_peer_link_emit(struct rm_peer_link *link, struct rm_peer_message const *message) {
    if (link->session.up)
        link_send(link, message, link->session.mine, link->session.peer, ++link->session.sent);
}

static struct rm_peer_message hello_make(struct rm_peer_link const *link) {
    struct rm_peer_message message = {.kind = RM_PEER_HELLO};
    struct rm_peer_hello *const hello = &message.hello;
    *hello = (struct rm_peer_hello){
        .version = link->setup.version, .least = link->setup.least, .server = link->setup.server};
    snprintf(hello->name, sizeof hello->name, "%s", link->setup.name);
    snprintf(hello->build, sizeof hello->build, "%s", link->setup.build);
    memcpy(hello->digest, link->digest, sizeof hello->digest);
    return message;
}

/** A HELLO of the session, or from the offer to `to` (0: any peer). */
static void hello_send(struct rm_peer_link *link, bool of_session, uint64_t to, uint64_t now_ns) {
    struct rm_peer_message const message = hello_make(link);
    link->greeted_ns = now_ns;
    if (of_session)
        rm_peer_link_emit(link, &message);
    else
        link_send(link, &message, link->session.offer, to, 0);
}

static void status_send(struct rm_peer_link *link, uint64_t now_ns) {
    struct rm_peer_message message = {.kind = RM_PEER_STATUS};
    struct rm_peer_status *const status = &message.status;
    *status = (struct rm_peer_status){
        .role = (uint8_t)(link->has_server ? link->state.role : RM_STANDBY_FAULT),
        .reason = (uint8_t)link->state.reason,
        .flags = (uint8_t)((link->has_server ? RM_PEER_HAS_SERVER : 0) |
                           (link->state.unacknowledged ? RM_PEER_UNACKNOWLEDGED : 0) |
                           (link->orders.synchronised ? RM_PEER_SYNCHRONISED : 0) |
                           (link->vector_in[RM_PEER_SENT].wants ? RM_PEER_WANTS_SENT : 0) |
                           (link->vector_in[RM_PEER_TARGETS].wants ? RM_PEER_WANTS_TARGETS : 0)),
        .term = (uint32_t)(link->state.term <= RM_TERM_MAX ? link->state.term : RM_TERM_MAX),
        .instance = link->state.instance,
        .turn = link->state.turn,
        .acknowledged = link->acknowledged,
        .time_ns = now_ns,
        .echo_ns = link->status.time_ns,
        .held_ns = now_ns - link->status_ns,
        .count = (uint8_t)link->setup.application_count};
    for (int of = 0; of < RM_PEER_VECTORS; ++of)
        status->vector[of] = link->vector_out[of].number;
    bool const is_active = rm_peer_link_is_active(link);
    for (uint32_t i = 0; i < link->setup.application_count; ++i)
        status->progress[i] = (struct rm_peer_progress){is_active ? link->cursor[i] : link->steps_in[i]->came,
                                                        link->application[i].followed};
    rm_peer_link_emit(link, &message);
    link->told_ns = now_ns;
    link->told_turn = link->state.turn;
}

/** What the peer's HELLO makes of the two. */
static enum rm_peer_relation hello_judge(struct rm_peer_link *link, struct rm_peer_hello const *hello) {
    if (hello->server == link->setup.server)
        return RM_PEER_SAME_SERVER;
    if (strcmp(hello->name, link->setup.peer_name) != 0)
        return RM_PEER_OTHER_NAME;
    uint8_t const version = hello->version < link->setup.version ? hello->version : link->setup.version;
    if (version < hello->least || version < link->setup.least)
        return RM_PEER_OTHER_VERSION;
    link->version = version;
    return memcmp(hello->digest, link->digest, sizeof link->digest) == 0 ? RM_PEER_JOINED : RM_PEER_OTHER_CONFIGURATION;
}

static void session_begun(struct rm_peer_link *link, uint64_t now_ns) {
    link->version = link->setup.version;
    link->status = (struct rm_peer_status){.turn = RM_TURN_NONE};
    link->status_ns = link->active_ns = 0;
    link->planned.id = link->thirds = 0;
    link->difference[0] = '\0';
    rm_peer_copy_end(&link->copy);
    for (int of = 0; of < RM_PEER_VECTORS; ++of) {
        rm_peer_vector_out_begin(&link->vector_out[of]);
        rm_peer_vector_in_begin(&link->vector_in[of]);
    }
    rm_peer_source_begin(link);
    rm_peer_join_begin(link);
    memset(link->beginning, 0, sizeof link->beginning);
    hello_send(link, true, 0, now_ns);
}

static void status_take(struct rm_peer_link *link, struct rm_peer_status const *status, uint64_t now_ns) {
    bool const was_active = status_flag(link, RM_PEER_HAS_SERVER) && link->status.role == RM_STANDBY_ACTIVE;
    if (link->status_ns != 0 && status->time_ns <= link->status.time_ns)
        return; // overtaken
    bool const is_active = (status->flags & RM_PEER_HAS_SERVER) != 0 && status->role == RM_STANDBY_ACTIVE;
    if (is_active && was_active)
        rm_peer_join_status(link, status);
    link->status = *status;
    link->status_ns = now_ns;
    if (status->echo_ns != 0 && now_ns >= status->echo_ns + status->held_ns)
        link->round_trip_ns = now_ns - status->echo_ns - status->held_ns;
    if (status->acknowledged > link->acknowledged)
        link->acknowledged = status->acknowledged;
    if (is_active)
        link->active_ns = now_ns;
    if (rm_peer_link_is_active(link))
        rm_peer_source_status(link);
}

/** The peer's process ends in order. Where its host is shut down its server ends, too, a moment before or behind: so a
 * standby that has everything keeps it, as when the active server is killed and nothing comes any more. */
static void bye_take(struct rm_peer_link *link) {
    if (link->orders.synchronised)
        return;
    link->session.up = false;
    link->relation = RM_PEER_UNKNOWN;
}

static void message_take(struct rm_peer_link *link, struct rm_peer_message const *message, uint64_t now_ns) {
    bool const follows = link->relation == RM_PEER_JOINED && !rm_peer_link_is_active(link);
    switch (message->kind) {
    case RM_PEER_HELLO:
        link->hello = message->hello;
        link->relation = hello_judge(link, &message->hello);
        break;
    case RM_PEER_STATUS:
        status_take(link, &message->status, now_ns);
        break;
    case RM_PEER_VECTOR:
        if (follows)
            rm_peer_join_vector(link, &message->vector);
        break;
    case RM_PEER_STEP:
        if (follows)
            rm_peer_join_step(link, &message->step);
        break;
    case RM_PEER_REPEAT:
        rm_peer_source_repeat(link, &message->repeat);
        break;
    case RM_PEER_WANT:
        rm_peer_source_want(link, &message->want, now_ns);
        break;
    case RM_PEER_OFFER:
        rm_peer_copying_offer(link, &message->offer, now_ns);
        break;
    case RM_PEER_CHUNK:
        rm_peer_copying_chunk(link, &message->chunk, now_ns);
        break;
    case RM_PEER_SWITCH:
        rm_peer_switch_take(link, &message->exchange, now_ns);
        break;
    case RM_PEER_BYE:
        bye_take(link);
        break;
    }
}

/** True for a datagram of the session, or that begins one. */
static bool datagram_judge(struct rm_peer_link *link, struct rm_peer_datagram const *datagram, uint64_t now_ns) {
    bool const is_hello = datagram->kind == RM_PEER_HELLO;
    bool const is_third = is_hello && link->session.up && datagram->from != link->session.peer &&
                          datagram->from != link->session.mine && datagram->from != link->session.offer &&
                          rm_peer_link_hears(link, now_ns);
    if (is_third) {
        link->thirds = now_ns - link->third_ns < RM_PEER_THIRD_NS ? link->thirds + 1 : 1;
        link->third_ns = now_ns;
        ++link->counter[RM_LINK_REFUSED];
        return false;
    }
    switch (rm_peer_session_judge(&link->session, datagram, is_hello)) {
    case RM_PEER_BEGINS:
        session_begun(link, now_ns);
        return true;
    case RM_PEER_OURS:
        return true;
    case RM_PEER_GREETS:
        hello_send(link, false, datagram->from, now_ns);
        return false;
    case RM_PEER_REPEATED:
        ++link->counter[RM_LINK_REPEATED];
        return false;
    case RM_PEER_FOREIGN:
        break;
    }
    ++link->counter[RM_LINK_REFUSED];
    return false;
}

void rm_peer_link_receive(struct rm_peer_link *link, uint8_t const *bytes, size_t size, uint64_t now_ns) {
    static enum rm_link_counter const COUNTED[] = {[RM_PEER_BAD_LENGTH] = RM_LINK_BAD_LENGTH,
                                                   [RM_PEER_BAD_MAGIC] = RM_LINK_BAD_VERSION,
                                                   [RM_PEER_BAD_KEY] = RM_LINK_BAD_KEY};
    struct rm_peer_datagram datagram;
    struct rm_peer_message message;
    ++link->counter[RM_LINK_RECEIVED];
    enum rm_peer_opened const opened = rm_peer_datagram_open(bytes, size, link->setup.key, &datagram);
    if (opened != RM_PEER_OPENED) {
        ++link->counter[COUNTED[opened]];
        return;
    }
    if (datagram.kind != RM_PEER_HELLO && datagram.version != link->version) {
        ++link->counter[RM_LINK_BAD_VERSION];
        return;
    }
    if (!datagram_judge(link, &datagram, now_ns))
        return;
    link->heard_ns = now_ns;
    link->counter[RM_LINK_LOST] = link->session.lost;
    link->counter[RM_LINK_REORDERED] = link->session.reordered;
    if (rm_peer_message_read(datagram.kind, datagram.body, datagram.body_bytes, &message))
        message_take(link, &message, now_ns);
    else
        ++link->counter[RM_LINK_REFUSED];
}

static void local_read(struct rm_peer_link *link) {
    struct rm_peer_local const *const local = &link->setup.local;
    bool const was_active = rm_peer_link_is_active(link);
    link->has_server = local->state(local->context, &link->state);
    for (uint32_t i = 0; i < link->setup.application_count; ++i)
        local->application(local->context, i, &link->application[i]);
    if (rm_peer_link_is_active(link) && !was_active)
        rm_peer_source_begin(link);
}

void rm_peer_link_tick(struct rm_peer_link *link, uint64_t now_ns) {
    local_read(link);
    bool const hears = rm_peer_link_hears(link, now_ns);
    if (now_ns - link->greeted_ns >= HELLO_NS && (!hears || link->relation != RM_PEER_JOINED)) {
        /* A peer that was started anew answers that it knows no such session. */
        hello_send(link, link->session.up, 0, now_ns);
    }
    uint64_t const since = now_ns - link->told_ns;
    bool const is_due = link->state.turn != link->told_turn || link->vector_in[RM_PEER_SENT].wants ||
                        link->vector_in[RM_PEER_TARGETS].wants;
    if (link->relation != RM_PEER_UNKNOWN && since >= (is_due ? STATUS_LEAST_NS : STATUS_MOST_NS))
        status_send(link, now_ns);
    if (link->relation == RM_PEER_JOINED && rm_peer_link_is_active(link))
        rm_peer_source_tick(link);
    else
        rm_peer_join_tick(link, now_ns);
    rm_peer_switch_tick(link, now_ns);
    rm_peer_tell(link, now_ns);
}

void rm_peer_link_has(struct rm_peer_link *link, uint32_t application, rm_turn turn) {
    link->steps_in[application]->came = turn;
}

void rm_peer_link_renew(struct rm_peer_link *link) {
    rm_peer_join_begin(link);
    for (uint32_t i = 0; i < link->setup.application_count; ++i)
        rm_peer_steps_in_clear(link->steps_in[i]);
    for (int of = 0; of < RM_PEER_VECTORS; ++of)
        link->vector_in[of].wants = link->vector_in[of].number > 0;
}

void rm_peer_link_bye(struct rm_peer_link *link) {
    struct rm_peer_message const message = {.kind = RM_PEER_BYE};
    rm_peer_link_emit(link, &message);
}
