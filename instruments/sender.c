// SPDX-License-Identifier: Apache-2.0
#include "sender.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/idle.h"
#include "base/timebase.h"
#include "sender_group.h"
#include "sender_link.h"
#include "sender_schedule.h"

static double const LOOK_SECONDS = 1e-3;

/** A server that shares its core with others is off it for some milliseconds now and then. One that is stopped holds the
 * other one up so long, once. */
static double const PAIR_TIMEOUT_SECONDS = 20e-3;

struct sender {
    struct rm_sender_setup const *setup;
    atomic_bool const *stop;
    struct rm_turn_pace pace;
    struct rm_sender_schedule schedule;
    struct rm_sender_group *groups;
    struct rm_sender_link *links;
    struct rm_pair *pairs; /**< [link]; NULL: there is one server */
    struct rm_sender_desk desk;
    uint64_t index;           /**< next turn of the run */
    uint64_t joined, end;     /**< its first turn, and the one after its last */
    uint64_t batch_turns;     /**< that fill a burst */
    uint64_t longest_delay;   /**< datagrams, of all groups */
    uint64_t link_down_turns; /**< skipped */
    uint64_t skipped_turns;   /**< skipped */
    uint64_t max_lag_turns;   /**< UINT64_MAX: none are */
    uint64_t max_lag_ticks;   /**< 0: it has no end */
    struct rm_lock_step lock_step;
    uint64_t stood_ticks; /**< in lock-step: for so long the ring's time has stood */
    uint64_t behind;      /**< as last published */
    uint64_t look_ticks;  /**< how often a link that is down is looked at while another one sends */
    uint64_t look_tsc;
};

/** The source MAC of an instrument without one: locally administered, from its address. */
static void default_mac(uint8_t mac[6], uint32_t ipv4) {
    uint8_t const made[6] = {0x02,         0, (uint8_t)(ipv4 >> 24), (uint8_t)(ipv4 >> 16), (uint8_t)(ipv4 >> 8),
                             (uint8_t)ipv4};
    memcpy(mac, made, sizeof made);
}

static struct rm_sender_way way_of(struct sender *sender, struct rm_sender_member const *member, uint32_t network) {
    struct rm_sender_setup const *setup = sender->setup;
    struct rm_sender_outlet const *outlet = &member->outlet[network];
    struct rm_virtual_group const *group = member->group;
    uint8_t const no_mac[6] = {0};
    struct rm_flow flow = outlet->flow;
    flow.source_ipv4 = group->source_ipv4[network];
    if (memcmp(flow.source_mac, no_mac, sizeof no_mac) == 0)
        default_mac(flow.source_mac, flow.source_ipv4);
    if (group->format->udp_port != 0)
        flow.destination_port = group->format->udp_port;
    return (struct rm_sender_way){
        .link = &sender->links[outlet->port],
        .flow = flow,
        .mtu = outlet->mtu,
        .udp_checksum = setup->udp_checksum,
        .counters = outlet->counters,
        .faults = outlet->faults,
        .fault_count = outlet->fault_count,
    };
}

static enum rm_code make_group(struct sender *sender, uint32_t index, struct rm_error *error) {
    struct rm_sender_setup const *setup = sender->setup;
    struct rm_sender_member const *member = &setup->members[index];
    struct rm_sender_way ways[RM_NETWORKS];
    for (uint32_t n = 0; n < setup->network_count; ++n)
        ways[n] = way_of(sender, member, n);
    struct rm_sender_group *group = &sender->groups[index];
    enum rm_code const code = rm_sender_group_make(member->group, setup->instruments, ways, setup->network_count,
                                                   &sender->desk, group, error);
    if (code != RM_OK)
        return code;
    rm_schedule_add(&sender->schedule, member->group);
    uint64_t const delay = rm_sender_group_longest_delay(group);
    sender->longest_delay = delay > sender->longest_delay ? delay : sender->longest_delay;
    return RM_OK;
}

static bool sender_is_stopped(struct sender const *sender) {
    return atomic_load_explicit(sender->stop, memory_order_relaxed);
}

static bool in_lock_step(struct sender const *sender) { return sender->lock_step.config.period_turns != 0; }

/** By which turns are due. */
static uint64_t pace_now(struct sender const *sender) { return rm_tsc() - sender->stood_ticks; }

/** The ring's time: it stands while the next turn waits to be sent, though not beyond the maximum lag. Without it a
 * ring that is late by two cycles would feel each setpoint two cycles later than one that is in time, and no loop is
 * stable around a delay that grows. */
static uint64_t ring_tsc(struct sender const *sender) {
    uint64_t const now = pace_now(sender);
    if (sender->pace.ticks_per_turn == 0 || (sender->max_lag_ticks == 0 && !in_lock_step(sender)))
        return now;
    uint64_t const next = rm_turn_pace_tsc(&sender->pace, rm_schedule_next(&sender->schedule));
    if (next >= now)
        return now;
    if (in_lock_step(sender))
        return next;
    return now - next < sender->max_lag_ticks ? next : now - sender->max_lag_ticks;
}

static void poll_hook(void *state) {
    struct sender const *sender = state;
    struct rm_sender_hook const *hook = &sender->setup->hook;
    if (hook->poll != NULL)
        hook->poll(hook->state, ring_tsc(sender));
}

/** Lets time pass until turn `next` is due, or some of it. */
static void sender_idle_until(struct sender const *sender, uint64_t next) {
    if (sender->setup->naps)
        rm_nap();
    else if (sender->setup->hook.poll != NULL)
        rm_pause();
    else
        rm_turn_pace_idle(&sender->pace, next);
}

static void send_section(struct sender *sender, struct rm_section *section, uint64_t index) {
    struct rm_sender_setup const *setup = sender->setup;
    rm_turn const turn = setup->first_turn + index;
    uint64_t const reading = section->period == 1 ? turn : turn / section->period;
    union rm_lane const *lanes =
        setup->source.turn(setup->source.state, index, section->first_instrument, section->instrument_count);
    for (uint32_t g = section->first_group; g < section->first_group + section->group_count; ++g) {
        rm_sender_group_turn(&sender->groups[g], reading, turn, lanes);
        lanes += (size_t)RM_LANES * setup->members[g].group->count;
    }
    section->next += section->period;
}

static void flush_all(struct sender *sender) {
    for (uint32_t l = 0; l < sender->setup->port_count; ++l)
        rm_sender_link_flush(&sender->links[l]);
}

/** Counts what is to come before turn `end`, and tells the links to expect it. */
static void sender_expect_end(struct sender *sender, uint64_t end) {
    for (uint32_t s = 0; s < sender->schedule.count; ++s) {
        struct rm_section const *section = &sender->schedule.section[s];
        uint64_t const readings = rm_section_readings(section, end);
        if (readings == 0)
            continue;
        for (uint32_t g = section->first_group; g < section->first_group + section->group_count; ++g)
            for (uint32_t p = 0; p < sender->groups[g].path_count; ++p) {
                struct rm_sender_path *path = &sender->groups[g].path[p];
                path->link->expected += (uint32_t)readings * path->buffers;
                rm_counter_add(path->counters, RM_SENDER_TURNS, readings);
            }
    }
}

/** Sends turns up to `end`, one burst's worth. */
static void send_batch(struct sender *sender, uint64_t end) {
    sender_expect_end(sender, end);
    for (uint64_t index = rm_schedule_next(&sender->schedule); index < end; index = rm_schedule_next(&sender->schedule))
        for (uint32_t s = 0; s < sender->schedule.count; ++s)
            if (sender->schedule.section[s].next == index)
                send_section(sender, &sender->schedule.section[s], index);
    sender->index = end;
    flush_all(sender);
    for (uint32_t l = 0; l < sender->setup->port_count; ++l)
        sender->links[l].expected = 0;
}

/** Sends what the faults still hold back after the last turn. */
static void send_held(struct sender *sender) {
    for (uint64_t ahead = 1; ahead <= sender->longest_delay; ++ahead)
        for (uint32_t g = 0; g < sender->setup->member_count; ++g)
            rm_sender_group_held(&sender->groups[g], ahead);
    flush_all(sender);
}

/** Looks again at links that were down. */
static void look_at_links(struct sender *sender) {
    for (uint32_t l = 0; l < sender->setup->port_count; ++l) {
        struct rm_sender_link *link = &sender->links[l];
        if (link->lost)
            link->lost = !rm_sender_link_works(link);
    }
}

static uint32_t links_up(struct sender const *sender) {
    uint32_t up = 0;
    for (uint32_t l = 0; l < sender->setup->port_count; ++l)
        up += !sender->links[l].lost;
    return up;
}

/** Waits until so many links are up; false when the sender is to stop. */
static bool wait_for_links(struct sender *sender, uint32_t wanted) {
    look_at_links(sender);
    while (links_up(sender) < wanted) {
        if (sender_is_stopped(sender))
            return false;
        struct timespec const pause = {.tv_nsec = 1000 * 1000};
        nanosleep(&pause, NULL);
        poll_hook(sender);
        look_at_links(sender);
    }
    return true;
}

/** Leaves turns out, up to the one that is due, but for readings that are not later than `late_turns`. Returns how
 * many. */
static uint64_t skip_to_present(struct sender *sender, uint64_t late_turns) {
    uint64_t due = rm_turn_pace_due(&sender->pace, pace_now(sender));
    if (due > sender->end)
        due = sender->end;
    if (sender->pace.ticks_per_turn == 0 || due <= sender->index)
        return 0;
    rm_schedule_seek_late(&sender->schedule, due, late_turns);
    uint64_t const next = rm_schedule_next(&sender->schedule);
    uint64_t const present = next < due ? next : due;
    uint64_t const skipped = present - sender->index;
    sender->index = present;
    for (uint32_t g = 0; g < sender->setup->member_count; ++g)
        rm_sender_group_forget(&sender->groups[g]);
    return skipped;
}

static void publish_passed(struct sender *sender, uint64_t passed) {
    sender->skipped_turns += passed;
    for (uint32_t g = 0; g < sender->setup->member_count; ++g)
        for (uint32_t p = 0; p < sender->groups[g].path_count; ++p)
            rm_counter_add(sender->groups[g].path[p].counters, RM_SENDER_SKIPPED_TURNS, passed);
}

/** In lock-step: all links were down since `since_tsc`, and one is up again. The server has ended, and another one is
 * there, which answers nothing before it was sent something. No turn has passed meanwhile: time has stood. */
static void meet_another_server(struct sender *sender, uint64_t since_tsc) {
    sender->stood_ticks += rm_tsc() - since_tsc;
    rm_lock_step_go_on(&sender->lock_step);
    sender->setup->hook.forget(sender->setup->hook.state);
}

/** With the last link down, waits; with some of them, goes on and looks now and then. */
static void mind_the_links(struct sender *sender) {
    uint32_t const up = links_up(sender);
    uint64_t const now = rm_tsc();
    if (up == sender->setup->port_count)
        return;
    if (up == 0 && wait_for_links(sender, 1)) {
        if (in_lock_step(sender))
            meet_another_server(sender, now);
        else
            sender->link_down_turns += skip_to_present(sender, 0);
    } else if (up != 0 && now > sender->look_tsc) {
        look_at_links(sender);
        sender->look_tsc = rm_tsc() + sender->look_ticks;
    }
}

static void publish_behind(struct sender *sender, uint64_t behind) {
    if (behind == sender->behind)
        return;
    sender->behind = behind;
    for (uint32_t g = 0; g < sender->setup->member_count; ++g)
        for (uint32_t p = 0; p < sender->groups[g].path_count; ++p)
            rm_counter_set(sender->groups[g].path[p].counters, RM_SENDER_BEHIND_TURNS, behind);
}

/** In lock-step: what the ring is behind by beyond its maximum lag is time that has stood. */
static void sender_note_standing(struct sender *sender, uint64_t next) {
    uint64_t const latest = rm_turn_pace_tsc(&sender->pace, next) + sender->max_lag_ticks;
    uint64_t const now = pace_now(sender);
    if (in_lock_step(sender) && sender->max_lag_ticks != 0 && now > latest)
        sender->stood_ticks += now - latest;
}

/** How many turns may be sent: those that are due, and in lock-step have what they must wait for. */
static uint64_t sender_allowed_turns(struct sender *sender, uint64_t next, uint64_t due) {
    struct rm_lock_step_config const *const config = &sender->lock_step.config;
    struct rm_sender_hook const *const hook = &sender->setup->hook;
    rm_turn cycle;
    if (due <= next || !rm_lock_step_needs(config, sender->setup->first_turn + next, &cycle))
        return due;
    if (!hook->has(hook->state, cycle))
        return next;
    rm_lock_step_go_on(&sender->lock_step);
    uint64_t const end = cycle + config->period_turns + config->answer_turns - sender->setup->first_turn;
    return due < end ? due : end;
}

/** In lock-step, while it waits: whether the server has gone and another one is there. With one network of two down, the
 * server still answers by the other. */
static bool meets_another_server(struct sender *sender) {
    uint64_t const now = rm_tsc();
    if (now < sender->look_tsc)
        return false;
    sender->look_tsc = now + sender->look_ticks;
    for (uint32_t l = 0; l < sender->setup->port_count; ++l)
        sender->links[l].lost = !rm_sender_link_works(&sender->links[l]);
    if (links_up(sender) != 0 || !wait_for_links(sender, 1))
        return false;
    meet_another_server(sender, now);
    return true;
}

/** In lock-step: whether a server that has sent no setpoints yet, which nothing waits for, takes nothing either. */
static bool any_link_hangs(struct sender const *sender) {
    for (uint32_t l = 0; l < sender->setup->port_count; ++l)
        if (sender->links[l].hangs)
            return true;
    return false;
}

static enum rm_code fail_waiting(struct sender const *sender, uint64_t next, struct rm_error *error) {
    rm_turn const turn = sender->setup->first_turn + next;
    return rm_fail(error, RM_E_DEAD,
                   "no setpoints for %d s at turn %" PRIu64 ", expected some in each cycle, as the ring waits for them "
                   "(lock_step); does the server still run? `ringmaster ls` says",
                   RM_LOCK_STEP_SECONDS, turn);
}

static enum rm_code sender_run(struct sender *sender, struct rm_error *error) {
    uint64_t const turns = sender->end;
    while (sender->index < turns && !sender_is_stopped(sender)) {
        poll_hook(sender);
        uint64_t next = rm_schedule_next(&sender->schedule);
        if (next >= turns)
            next = turns - 1;
        sender_note_standing(sender, next);
        uint64_t due = rm_turn_pace_due(&sender->pace, pace_now(sender));
        if (due > turns)
            due = turns;
        if (!in_lock_step(sender) && due > next && due - next > sender->max_lag_turns) {
            publish_passed(sender, skip_to_present(sender, sender->max_lag_turns));
            continue;
        }
        if (due <= next) {
            sender_idle_until(sender, next);
            continue;
        }
        uint64_t const end = sender_allowed_turns(sender, next, due);
        if (end == next) {
            if (meets_another_server(sender))
                rm_lock_step_go_on(&sender->lock_step);
            else if (!rm_lock_step_wait(&sender->lock_step))
                return fail_waiting(sender, next, error);
            continue;
        }
        send_batch(sender, end - next > sender->batch_turns ? next + sender->batch_turns : end);
        if (any_link_hangs(sender))
            return fail_waiting(sender, next, error);
        if (sender->pace.ticks_per_turn > 0)
            publish_behind(sender, due - sender->index);
        mind_the_links(sender);
    }
    send_held(sender);
    return RM_OK;
}

/** Turns that fill a burst, by how often each group has a reading: what is done once for a batch (links, counters, the
 * poll hook) is then done seldom while the sender catches up, though most groups may be silent at most turns. */
static uint64_t turns_of_a_burst(struct rm_sender_setup const *setup) {
    double readings = 0; /* of a turn */
    for (uint32_t g = 0; g < setup->member_count; ++g)
        readings += 1 / (double)setup->members[g].group->period_turns;
    double const turns = ceil(RM_BURST / readings);
    return turns < RM_BURST ? (uint64_t)turns : RM_BURST;
}

static enum rm_code pair_links(struct sender *sender, double tsc_hz, struct rm_error *error) {
    struct rm_sender_setup const *setup = sender->setup;
    enum rm_code code = RM_OK;
    for (uint32_t l = 0; l < setup->port_count && code == RM_OK; ++l) {
        struct rm_port *const ports[RM_CONFIG_SERVERS] = {setup->ports[l], setup->seconds[l]};
        code = rm_pair_make(ports, PAIR_TIMEOUT_SECONDS, tsc_hz, &sender->pairs[l], error);
        sender->links[l].pair = &sender->pairs[l];
    }
    return code;
}

static enum rm_code sender_make(struct sender *sender, double tsc_hz, struct rm_error *error) {
    struct rm_sender_setup const *setup = sender->setup;
    sender->groups = calloc(setup->member_count, sizeof *sender->groups);
    sender->links = calloc(setup->port_count, sizeof *sender->links);
    sender->pairs = setup->seconds == NULL ? NULL : calloc(setup->port_count, sizeof *sender->pairs);
    sender->schedule.section = calloc(setup->member_count, sizeof *sender->schedule.section);
    sender->schedule.first_turn = setup->first_turn;
    if (sender->groups == NULL || sender->links == NULL || (setup->seconds != NULL && sender->pairs == NULL) ||
        sender->schedule.section == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory to send for %u instruments", setup->member_count);
    for (uint32_t l = 0; l < setup->port_count; ++l) {
        rm_sender_link_init(&sender->links[l], setup->ports[l], tsc_hz, sender->stop);
        sender->links[l].lost = true; /* until it was seen up */
        sender->links[l].meanwhile = setup->hook.elsewhere ? poll_hook : NULL;
        sender->links[l].meanwhile_state = sender;
        sender->links[l].lock_step = in_lock_step(sender) ? &sender->lock_step : NULL;
    }
    enum rm_code code = sender->pairs == NULL ? RM_OK : pair_links(sender, tsc_hz, error);
    for (uint32_t g = 0; g < setup->member_count && code == RM_OK; ++g)
        code = make_group(sender, g, error);
    sender->batch_turns = turns_of_a_burst(setup);
    sender->look_ticks = (uint64_t)(LOOK_SECONDS * tsc_hz);
    rm_schedule_seek(&sender->schedule, 0);
    return code;
}

static void sender_destroy(struct sender *sender) {
    for (uint32_t g = 0; sender->groups != NULL && g < sender->setup->member_count; ++g)
        rm_sender_group_free(&sender->groups[g]);
    for (uint32_t l = 0; sender->pairs != NULL && l < sender->setup->port_count; ++l)
        rm_pair_free(&sender->pairs[l]);
    free(sender->groups);
    free(sender->links);
    free(sender->pairs);
    free(sender->schedule.section);
    free(sender);
}

/** From its own start; or with the turn that is due by another ring's. */
static void begin_turns(struct sender *sender, double tsc_hz) {
    struct rm_sender_setup const *setup = sender->setup;
    rm_turn_pace_start(&sender->pace, setup->turn_rate_hz, tsc_hz, rm_tsc());
    sender->end = UINT64_MAX;
    if (setup->joins != NULL) {
        sender->pace.start_tsc = setup->joins->start_tsc;
        sender->pace.ticks_per_turn = setup->joins->ticks_per_turn;
        sender->joined = skip_to_present(sender, 0);
    }
    if (setup->turns != UINT64_MAX)
        sender->end = sender->joined + setup->turns;
}

/** A batch at least: a sender that is in time is up to one behind. */
static uint64_t max_lag_turns(struct rm_sender_setup const *setup) {
    double const turns = setup->max_lag_s * setup->turn_rate_hz;
    if (turns <= 0)
        return UINT64_MAX;
    return turns < RM_BURST ? RM_BURST : (uint64_t)turns;
}

enum rm_code rm_sender_run(struct rm_sender_setup const *setup, double tsc_hz, atomic_bool const *stop,
                           struct rm_sender_result *result, struct rm_error *error) {
    *result = (struct rm_sender_result){0};
    struct sender *sender = calloc(1, sizeof *sender);
    if (sender == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory to send");
    sender->setup = setup;
    sender->stop = stop;
    sender->lock_step = (struct rm_lock_step){.config = setup->lock_step, .tsc_hz = tsc_hz, .naps = setup->naps};
    enum rm_code code = sender_make(sender, tsc_hz, error);
    if (code == RM_OK && wait_for_links(sender, setup->port_count)) {
        begin_turns(sender, tsc_hz);
        sender->max_lag_turns = max_lag_turns(setup);
        sender->max_lag_ticks = (uint64_t)(setup->max_lag_s * tsc_hz);
        uint64_t const begun_tsc = rm_tsc();
        if (setup->hook.begin != NULL)
            setup->hook.begin(setup->hook.state, &sender->pace);
        code = sender_run(sender, error);
        result->seconds = (double)(rm_tsc() - begun_tsc) / tsc_hz;
    }
    result->turns = sender->index - sender->joined - sender->link_down_turns - sender->skipped_turns;
    result->link_down_turns = sender->link_down_turns;
    result->skipped_turns = sender->skipped_turns;
    for (uint32_t l = 0; sender->pairs != NULL && l < setup->port_count; ++l)
        for (uint32_t s = 0; s < RM_CONFIG_SERVERS; ++s)
            result->missed[s] += sender->pairs[l].missed[s];
    sender_destroy(sender);
    return code;
}
