// SPDX-License-Identifier: Apache-2.0
/** Copies that come: states of applications that are not in step, one after the other; and the lines of another
 * configuration, to say where they differ. */
#include <string.h>

#include "standby/link/differences.h"
#include "standby/link/link_parts.h"

/** An offer is asked for again after that, and a state that does not come is left for that of the next application. */
#define ASK_NS (20ull * RM_PEER_MS)
#define GIVE_UP_NS (3000ull * RM_PEER_MS)
/** Time for an application to follow from its copy, before another one is asked for. */
#define SETTLE_NS (2000ull * RM_PEER_MS)

static bool copy_is_needed(struct rm_peer_link const *link, uint32_t application, uint64_t now_ns) {
    return link->application[application].present && !link->application[application].in_step &&
           link->steps_in[application]->came != RM_TURN_NONE && now_ns >= link->settles_ns[application];
}

/** Picks the next application that needs a copy, from the one behind the last. */
static bool copy_pick(struct rm_peer_link *link, uint64_t now_ns) {
    uint32_t const count = link->setup.application_count;
    for (uint32_t i = 1; i <= count; ++i) {
        uint32_t const application = (link->copying + i) % count;
        if (!copy_is_needed(link, application, now_ns))
            continue;
        rm_peer_copy_end(&link->copy);
        link->copying = application;
        link->copy_turn = link->steps_in[application]->came;
        link->copy_begun_ns = now_ns;
        link->copy_ns = 0;
        return true;
    }
    return false;
}

static void copy_want(struct rm_peer_link *link, enum rm_peer_copy_of of, uint64_t now_ns) {
    struct rm_peer_message const message = {.kind = RM_PEER_WANT,
                                            .want = {.of = (uint8_t)of,
                                                     .application = (uint8_t)(of == RM_PEER_STATE ? link->copying : 0),
                                                     .turn = of == RM_PEER_STATE ? link->copy_turn : 0}};
    link->copy_ns = now_ns;
    rm_peer_link_emit(link, &message);
}

static void copy_ask(struct rm_peer_link *link, uint64_t now_ns) {
    rm_peer_copy_ask(&link->copy, &link->emitter);
    link->copy_asked = link->copy.come + RM_PEER_COPY_CHUNKS / 2;
    link->copy_ns = now_ns;
}

/** Asks for an offer, or for its chunks, where nothing came for a while. */
static void copy_go_on(struct rm_peer_link *link, enum rm_peer_copy_of of, uint64_t now_ns) {
    if (link->copy.offer.id != 0 && now_ns - link->copy_ns >= 2 * rm_peer_link_wait_ns(link))
        copy_ask(link, now_ns);
    else if (link->copy.offer.id == 0 && now_ns - link->copy_ns >= ASK_NS)
        copy_want(link, of, now_ns);
}

void rm_peer_copying_tick(struct rm_peer_link *link, uint64_t now_ns) {
    if (!rm_peer_link_hears(link, now_ns))
        return;
    if (link->relation == RM_PEER_OTHER_CONFIGURATION && link->difference[0] == '\0') {
        copy_go_on(link, RM_PEER_CONFIGURATION, now_ns);
        return;
    }
    if (link->relation != RM_PEER_JOINED || rm_peer_link_role(link, now_ns) != RM_STANDBY_ACTIVE ||
        link->setup.application_count == 0)
        return;
    bool const is_under_way = link->copy_begun_ns != 0 && copy_is_needed(link, link->copying, now_ns) &&
                              now_ns - link->copy_begun_ns < GIVE_UP_NS;
    if (is_under_way || copy_pick(link, now_ns))
        copy_go_on(link, RM_PEER_STATE, now_ns);
    else
        link->copy_begun_ns = 0;
}

static void copy_end(struct rm_peer_link *link, uint64_t now_ns) {
    struct rm_peer_copy_in *const copy = &link->copy;
    struct rm_peer_local const *const local = &link->setup.local;
    if (copy->offer.of == RM_PEER_CONFIGURATION) {
        copy->bytes[copy->offer.bytes] = '\0'; // there is room for it: copy.c
        if (rm_peer_lines_compare(link->setup.name, link->setup.lines, link->hello.name, (char const *)copy->bytes,
                                  link->difference, sizeof link->difference) == 0)
            strcpy(link->difference, "in the order of its keys alone");
    } else {
        ++link->counter[RM_LINK_SNAPSHOTS];
        link->counter[RM_LINK_SNAPSHOT_BYTES] += copy->offer.bytes;
        link->settles_ns[copy->offer.application] = now_ns + SETTLE_NS;
        local->put_state(local->context, copy->offer.application, &copy->offer, copy->bytes);
        link->copy_begun_ns = 0;
    }
    rm_peer_copy_end(copy);
}

void rm_peer_copying_offer(struct rm_peer_link *link, struct rm_peer_offer const *offer, uint64_t now_ns) {
    bool const is_lines = offer->of == RM_PEER_CONFIGURATION && link->relation == RM_PEER_OTHER_CONFIGURATION &&
                          link->difference[0] == '\0';
    bool const is_state = offer->of == RM_PEER_STATE && link->relation == RM_PEER_JOINED && link->copy_begun_ns != 0 &&
                          offer->application == link->copying && offer->turn >= link->copy_turn;
    if (!is_lines && !is_state)
        return;
    uint64_t const capacity = is_lines ? RM_PEER_COPY_BYTES_MAX : link->application[offer->application].state_capacity;
    if (!rm_peer_copy_begin(&link->copy, offer, capacity))
        return;
    if (link->copy.whole)
        copy_end(link, now_ns);
    else
        copy_ask(link, now_ns);
}

void rm_peer_copying_chunk(struct rm_peer_link *link, struct rm_peer_chunk const *chunk, uint64_t now_ns) {
    if (!rm_peer_copy_take(&link->copy, chunk))
        return;
    link->copy_ns = now_ns;
    if (link->copy.whole)
        copy_end(link, now_ns);
    else if (link->copy.offer.id != 0 && link->copy.come >= link->copy_asked)
        copy_ask(link, now_ns);
}
