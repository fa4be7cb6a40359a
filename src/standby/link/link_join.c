// SPDX-License-Identifier: Apache-2.0
/** The standby's part of a link: vectors and steps that come, and what is asked for again. */
#include "standby/link/link_parts.h"

/** An application that makes no step for so long does not follow, whatever its reading says. */
static double const FOLLOW_S = 0.25;

void rm_peer_join_begin(struct rm_peer_link *link) {
    for (uint32_t i = 0; i < link->setup.application_count; ++i) {
        rm_peer_steps_in_begin(link->steps_in[i]);
        link->settles_ns[i] = 0;
    }
}

void rm_peer_join_vector(struct rm_peer_link *link, struct rm_peer_vector const *part) {
    struct rm_peer_local const *const local = &link->setup.local;
    struct rm_peer_vector_in *const in = &link->vector_in[part->of];
    if (part->actuators != in->actuators) {
        ++link->counter[RM_LINK_REFUSED];
        return;
    }
    if (!rm_peer_vector_take(in, part))
        return;
    link->vector_in_turn[part->of] = part->turn;
    if (part->of == RM_PEER_SENT)
        link->late_turns = link->state.turn > part->turn ? link->state.turn - part->turn : 0;
    local->put_vector(local->context, (enum rm_peer_vector_of)part->of, in->value, part->turn);
}

void rm_peer_join_step(struct rm_peer_link *link, struct rm_peer_step const *part) {
    struct rm_peer_local const *const local = &link->setup.local;
    uint32_t const i = part->application;
    if (i >= link->setup.application_count) {
        ++link->counter[RM_LINK_REFUSED];
        return;
    }
    struct rm_peer_steps_in *const in = link->steps_in[i];
    if (!link->application[i].present || !rm_peer_step_take(in, part))
        return;
    link->counter[RM_LINK_RECORDS] += in->records.count;
    if (in->records.count > 0)
        local->put_step(local->context, i, &in->records);
}

/** Asks for the step behind the newest one that is here, where one is missing: at once, and again when it has not come
 * in time. */
static void join_repeat(struct rm_peer_link *link, uint32_t application, uint64_t now_ns) {
    struct rm_peer_steps_in const *const in = link->steps_in[application];
    bool const is_asked = in->came == link->repeat_after[application] &&
                          now_ns - link->repeat_ns[application] < rm_peer_link_wait_ns(link);
    if (!in->wants || is_asked)
        return;
    struct rm_peer_message const message = {.kind = RM_PEER_REPEAT, .repeat = {(uint8_t)application, in->came}};
    link->repeat_ns[application] = now_ns;
    link->repeat_after[application] = in->came;
    rm_peer_link_emit(link, &message);
}

/** What went out before the last STATUS, and is not here, was lost: nothing later may come that would show it. */
void rm_peer_join_status(struct rm_peer_link *link, struct rm_peer_status const *next) {
    struct rm_peer_status const *const last = &link->status;
    for (int of = 0; of < RM_PEER_VECTORS; ++of)
        link->vector_in[of].wants |=
            last->vector[of] > link->vector_in[of].number && next->vector[of] >= last->vector[of];
    for (uint32_t i = 0; i < link->setup.application_count && i < last->count; ++i) {
        struct rm_peer_steps_in *const in = link->steps_in[i];
        bool const is_lost = last->progress[i].came < RM_TURN_END && last->progress[i].came == next->progress[i].came &&
                             last->progress[i].came != in->came;
        in->wants |= is_lost && link->application[i].present;
    }
}

static bool join_is_complete(struct rm_peer_link const *link) {
    for (int of = 0; of < RM_PEER_VECTORS; ++of)
        if (link->vector_in[of].wants)
            return false;
    for (uint32_t i = 0; i < link->setup.application_count; ++i)
        if (link->steps_in[i]->wants)
            return false;
    return true;
}

void rm_peer_join_tick(struct rm_peer_link *link, uint64_t now_ns) {
    if (join_is_complete(link))
        link->complete_ns = now_ns;
    if (rm_peer_link_role(link, now_ns) == RM_STANDBY_ACTIVE && link->relation == RM_PEER_JOINED)
        for (uint32_t i = 0; i < link->setup.application_count; ++i)
            join_repeat(link, i, now_ns);
    rm_peer_copying_tick(link, now_ns);
}

bool rm_peer_join_follows(struct rm_peer_link const *link, uint32_t application) {
    struct rm_peer_application const *const it = &link->application[application];
    rm_turn const came = link->steps_in[application]->came;
    rm_turn const behind = (rm_turn)(FOLLOW_S * link->setup.turn_rate_hz) + 20ull * link->setup.period_turns;
    return it->present && it->in_step && came != RM_TURN_NONE && it->followed < RM_TURN_END &&
           came <= it->followed + behind;
}

bool rm_peer_join_is_whole(struct rm_peer_link const *link) {
    for (int of = 0; of < RM_PEER_VECTORS; ++of)
        if (link->vector_in[of].number == 0)
            return false;
    for (uint32_t i = 0; i < link->setup.application_count; ++i)
        if (!rm_peer_join_follows(link, i))
            return false;
    return true;
}
