// SPDX-License-Identifier: Apache-2.0
#include "sender.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "datagram.h"
#include "pace.h"
#include "sender_link.h"

struct member {
    struct rm_datagram_template template;
    struct rm_sender_link *link;
    rm_counter *counters;
    struct rm_faults *faults;
};

struct sender {
    struct rm_sender_setup const *setup;
    atomic_bool const *stop;
    struct rm_pace pace;
    struct member *members;
    struct rm_sender_link *links;
    uint64_t index;           /**< next turn of the run */
    uint64_t longest_delay;   /**< turns, of all faults */
    uint64_t link_down_turns; /**< skipped */
    uint64_t behind;          /**< as last published */
};

/** The source MAC of an instrument without one: locally administered, from its address. */
static void default_mac(uint8_t mac[6], uint32_t ipv4) {
    uint8_t const made[6] = {0x02,         0, (uint8_t)(ipv4 >> 24), (uint8_t)(ipv4 >> 16), (uint8_t)(ipv4 >> 8),
                             (uint8_t)ipv4};
    memcpy(mac, made, sizeof made);
}

static void init_member(struct sender *sender, struct member *member, struct rm_sender_member const *from) {
    struct rm_sender_setup const *setup = sender->setup;
    struct rm_flow flow = setup->flow;
    uint8_t const no_mac[6] = {0};
    flow.source_ipv4 = from->instrument.source_ipv4;
    if (memcmp(flow.source_mac, no_mac, sizeof no_mac) == 0)
        default_mac(flow.source_mac, flow.source_ipv4);
    member->link = &sender->links[from->sink];
    member->counters = from->counters;
    member->faults = from->faults;
    rm_datagram_template_make(&member->template, &from->instrument, setup->sinks[from->sink].framing, &flow,
                              setup->udp_checksum);
    if (from->faults != NULL && rm_faults_longest_delay(from->faults) > sender->longest_delay)
        sender->longest_delay = rm_faults_longest_delay(from->faults);
}

static bool stopped(struct sender const *sender) { return atomic_load_explicit(sender->stop, memory_order_relaxed); }

static void send_one(struct member *member, rm_turn turn, union rm_lane const *lanes) {
    uint8_t *data = rm_sender_link_buffer(member->link);
    if (data != NULL)
        rm_sender_link_commit(member->link, rm_datagram_write(&member->template, data, turn, lanes), member->counters);
}

/** Sends what the faults have left to send at `index`. */
static void send_outgoing(struct member *member, uint64_t index) {
    struct rm_outgoing const *outgoing;
    while ((outgoing = rm_faults_next(member->faults, index)) != NULL)
        for (uint32_t copy = 0; copy < outgoing->copies; ++copy) {
            uint8_t *data = rm_sender_link_buffer(member->link);
            if (data == NULL)
                continue;
            uint32_t length = rm_datagram_write(&member->template, data, outgoing->turn, outgoing->lane);
            if (outgoing->damage != 0)
                length = rm_datagram_damage(&member->template, data, length, outgoing->damage, outgoing->random);
            rm_sender_link_commit(member->link, length, member->counters);
        }
}

static void send_turn(struct sender *sender, uint64_t index) {
    struct rm_sender_setup const *setup = sender->setup;
    rm_turn const turn = setup->first_turn + index;
    union rm_lane const *lanes = setup->source.turn(setup->source.state, index);
    for (uint32_t m = 0; m < setup->member_count; ++m, lanes += RM_LANES) {
        struct member *member = &sender->members[m];
        if (member->faults == NULL) {
            send_one(member, turn, lanes);
        } else {
            rm_faults_push(member->faults, index, setup->first_turn, lanes);
            send_outgoing(member, index);
        }
    }
}

static void flush_all(struct sender *sender) {
    for (uint32_t l = 0; l < sender->setup->sink_count; ++l)
        rm_sender_link_flush(&sender->links[l]);
}

/** Sends turns up to `end`, one burst's worth. */
static void send_batch(struct sender *sender, uint64_t end) {
    uint64_t const turns = end - sender->index;
    for (uint32_t m = 0; m < sender->setup->member_count; ++m) {
        sender->members[m].link->expected += (uint32_t)turns;
        rm_counter_add(sender->members[m].counters, RM_SENDER_TURNS, turns);
    }
    for (; sender->index < end; ++sender->index)
        send_turn(sender, sender->index);
    flush_all(sender);
    for (uint32_t l = 0; l < sender->setup->sink_count; ++l)
        sender->links[l].expected = 0;
}

/** Sends what the faults still hold back after the last turn. */
static void send_held(struct sender *sender) {
    for (uint64_t i = sender->index; i < sender->index + sender->longest_delay; ++i)
        for (uint32_t m = 0; m < sender->setup->member_count; ++m)
            if (sender->members[m].faults != NULL)
                send_outgoing(&sender->members[m], i);
    flush_all(sender);
}

static bool wait_for_links(struct sender *sender) {
    for (uint32_t l = 0; l < sender->setup->sink_count; ++l) {
        struct rm_sender_link *link = &sender->links[l];
        while (!link->sink.link_up(link->sink.state)) {
            if (stopped(sender))
                return false;
            struct timespec const pause = {.tv_nsec = 1000 * 1000};
            nanosleep(&pause, NULL);
        }
        link->lost = false;
    }
    return true;
}

static bool any_lost(struct sender const *sender) {
    for (uint32_t l = 0; l < sender->setup->sink_count; ++l)
        if (sender->links[l].lost)
            return true;
    return false;
}

/** Goes on with the turn that is due when the links are back. */
static void skip_to_present(struct sender *sender) {
    if (!wait_for_links(sender))
        return;
    uint64_t due = rm_pace_due(&sender->pace, rm_tsc());
    if (due > sender->setup->turns)
        due = sender->setup->turns;
    if (sender->pace.ticks_per_turn == 0 || due <= sender->index)
        return;
    sender->link_down_turns += due - sender->index;
    sender->index = due;
    for (uint32_t m = 0; m < sender->setup->member_count; ++m)
        if (sender->members[m].faults != NULL)
            rm_faults_forget(sender->members[m].faults);
}

static void publish_behind(struct sender *sender, uint64_t behind) {
    if (behind == sender->behind)
        return;
    sender->behind = behind;
    for (uint32_t m = 0; m < sender->setup->member_count; ++m)
        rm_counter_set(sender->members[m].counters, RM_SENDER_BEHIND_TURNS, behind);
}

static void run(struct sender *sender) {
    struct rm_sender_setup const *setup = sender->setup;
    uint64_t const batch = (RM_BURST + setup->member_count - 1) / setup->member_count;
    while (sender->index < setup->turns && !stopped(sender)) {
        uint64_t due = rm_pace_due(&sender->pace, rm_tsc());
        if (due > setup->turns)
            due = setup->turns;
        if (due <= sender->index) {
            rm_pace_idle(&sender->pace, sender->index);
            continue;
        }
        send_batch(sender, due - sender->index > batch ? sender->index + batch : due);
        if (sender->pace.ticks_per_turn > 0)
            publish_behind(sender, due - sender->index);
        if (any_lost(sender))
            skip_to_present(sender);
    }
    send_held(sender);
}

enum rm_code rm_sender_run(struct rm_sender_setup const *setup, double tsc_hz, atomic_bool const *stop,
                           struct rm_sender_result *result, struct rm_error *error) {
    struct sender sender = {.setup = setup, .stop = stop};
    sender.members = calloc(setup->member_count, sizeof *sender.members);
    sender.links = calloc(setup->sink_count, sizeof *sender.links);
    *result = (struct rm_sender_result){0};
    enum rm_code code = RM_OK;
    if (sender.members == NULL || sender.links == NULL) {
        code = rm_fail(error, RM_E_NO_SPACE, "no memory to send for %u instruments", setup->member_count);
    } else {
        for (uint32_t l = 0; l < setup->sink_count; ++l)
            rm_sender_link_init(&sender.links[l], &setup->sinks[l], tsc_hz, stop);
        for (uint32_t m = 0; m < setup->member_count; ++m)
            init_member(&sender, &sender.members[m], &setup->members[m]);
        if (wait_for_links(&sender)) {
            rm_pace_start(&sender.pace, setup->turn_rate_hz, tsc_hz, rm_tsc());
            run(&sender);
            result->seconds = (double)(rm_tsc() - sender.pace.start_tsc) / tsc_hz;
        }
        result->turns = sender.index - sender.link_down_turns;
        result->link_down_turns = sender.link_down_turns;
    }
    free(sender.members);
    free(sender.links);
    return code;
}
