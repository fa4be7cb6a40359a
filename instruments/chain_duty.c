// SPDX-License-Identifier: Apache-2.0
#include "chain_duty.h"

#include <stdlib.h>
#include <time.h>

#include "base/fail.h"
#include "base/timebase.h"

/* Faults and time-outs have their effects as of their own time: this is only how late they are noticed. */
static double const TICK_SECONDS = 100e-6;
static double const PUBLISH_SECONDS = 20e-3;

/* After this long without a frame no answer is waited for, and the core may be left to other threads. */
static double const QUIET_SECONDS = 10e-3;
static long const NAP_NS = 100 * 1000;

static bool is_open(struct rm_chain_duty const *duty, uint32_t port) {
    for (uint32_t p = 0; p < duty->port_count; ++p)
        if (duty->chain_port[p].index == port)
            return true;
    return false;
}

/** The port to one server: one that is open, or one of the chains' own. */
static enum rm_code open_to(struct rm_port_config const *config, struct rm_port *shared, struct rm_port **own,
                            struct rm_port **port, struct rm_error *error) {
    *port = shared;
    if (shared != NULL)
        return RM_OK;
    enum rm_code const code = rm_port_open(config, own, error);
    *port = *own;
    return code;
}

static enum rm_code open_chain_port(struct rm_chain_duty *duty, struct rm_ring_config const *ring, uint32_t index,
                                    struct rm_port *const shared[RM_CONFIG_SERVERS], double tsc_hz,
                                    struct rm_error *error) {
    struct rm_ring_port const *config = &ring->ports[index];
    uint32_t const at = duty->port_count++;
    struct rm_port *port[RM_CONFIG_SERVERS];
    enum rm_code code = open_to(&config->port, shared[0], &duty->own_port[at][0], &port[0], error);
    if (code == RM_OK && config->paired)
        code = open_to(&config->second, shared[1], &duty->own_port[at][1], &port[1], error);
    if (code == RM_OK && config->paired)
        code = rm_pair_make(port, 0, tsc_hz, &duty->pair[at], error);
    if (code != RM_OK)
        return code;
    return rm_chain_port_make(port[0], config->paired ? &duty->pair[at] : NULL, index, &duty->chains,
                              &duty->chain_port[at], error);
}

static enum rm_code open_ports(struct rm_chain_duty *duty, struct rm_ring_config const *ring, rm_open_ports const open,
                               double tsc_hz, struct rm_error *error) {
    duty->chain_port = calloc(ring->port_count, sizeof *duty->chain_port);
    duty->own_port = calloc(ring->port_count, sizeof *duty->own_port);
    duty->pair = calloc(ring->port_count, sizeof *duty->pair);
    if (duty->chain_port == NULL || duty->own_port == NULL || duty->pair == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the ports of %u chains", ring->supplies.chain_count);
    enum rm_code code = RM_OK;
    for (uint32_t c = 0; c < ring->supplies.chain_count && code == RM_OK; ++c) {
        uint32_t const port = ring->supplies.chains[c].port;
        if (!is_open(duty, port))
            code = open_chain_port(duty, ring, port, open[port], tsc_hz, error);
    }
    return code;
}

enum rm_code rm_chain_duty_open(struct rm_ring_config const *ring, rm_open_ports const open,
                                rm_counter *const *counters, double tsc_hz, struct rm_chain_duty *duty,
                                struct rm_error *error) {
    struct rm_ring_supplies const *config = &ring->supplies;
    *duty = (struct rm_chain_duty){
        .tick_ticks = (uint64_t)(TICK_SECONDS * tsc_hz),
        .publish_ticks = (uint64_t)(PUBLISH_SECONDS * tsc_hz),
        .currents = calloc(config->supply_count, sizeof *duty->currents),
    };
    enum rm_code code = rm_chains_make(config, ring->beam.seed, counters, rm_tsc(), tsc_hz, &duty->chains, error);
    if (code == RM_OK && duty->currents == NULL)
        code = rm_fail(error, RM_E_NO_SPACE, "no memory for %u supplies", config->supply_count);
    if (code == RM_OK)
        code = open_ports(duty, ring, open, tsc_hz, error);
    if (code != RM_OK)
        rm_chain_duty_close(duty);
    return code;
}

void rm_chain_duty_close(struct rm_chain_duty *duty) {
    for (uint32_t p = 0; p < duty->port_count; ++p) {
        rm_chain_port_free(&duty->chain_port[p]);
        rm_pair_free(&duty->pair[p]);
        for (uint32_t s = 0; s < RM_CONFIG_SERVERS; ++s)
            if (duty->own_port[p][s] != NULL)
                rm_port_close(duty->own_port[p][s]);
    }
    free(duty->chain_port);
    free(duty->own_port);
    free(duty->pair);
    rm_chains_free(&duty->chains);
    free(duty->currents);
    *duty = (struct rm_chain_duty){0};
}

/** What need not be done at every poll. */
static void chain_duty_tick(struct rm_chain_duty *duty, uint64_t tsc, double time) {
    duty->tick_tsc = tsc + duty->tick_ticks;
    rm_chains_tick(&duty->chains, time);
    uint64_t const asked = duty->resets == NULL ? 0 : atomic_load_explicit(duty->resets, memory_order_relaxed);
    if (asked != duty->reset)
        rm_chains_reset(&duty->chains);
    duty->reset = asked;
    if (tsc < duty->publish_tsc || duty->publish == NULL)
        return;
    duty->publish_tsc = tsc + duty->publish_ticks;
    rm_chains_currents(&duty->chains, time, duty->currents);
    duty->publish(duty->state, duty->currents);
}

/** Returns the number of frames. */
static uint32_t poll_once(struct rm_chain_duty *duty, uint64_t tsc) {
    double const time = rm_chains_seconds(&duty->chains, tsc);
    uint32_t frames = 0;
    if (duty->reach != NULL)
        duty->reach(duty->state, time);
    for (uint32_t p = 0; p < duty->port_count; ++p)
        frames += rm_chain_port_poll(&duty->chain_port[p], time);
    if (tsc >= duty->tick_tsc)
        chain_duty_tick(duty, tsc, time);
    return frames;
}

void rm_chain_duty_poll(void *state, uint64_t tsc) {
    struct rm_chain_duty *duty = state;
    poll_once(duty, tsc);
}

bool rm_chain_duty_has(void *state, rm_turn turn) {
    struct rm_chain_duty const *duty = state;
    return rm_chains_have(&duty->chains, turn);
}

void rm_chain_duty_forget(void *state) {
    struct rm_chain_duty *duty = state;
    rm_chains_forget(&duty->chains);
}

void rm_chain_duty_run(struct rm_chain_duty *duty, double seconds, atomic_bool const *stop) {
    uint64_t const start = duty->chains.start_tsc;
    uint64_t const quiet_ticks = (uint64_t)(QUIET_SECONDS / duty->chains.seconds_per_tick);
    uint64_t const ticks = seconds > 0 ? (uint64_t)(seconds / duty->chains.seconds_per_tick) : UINT64_MAX;
    struct timespec const nap = {.tv_nsec = NAP_NS};
    uint64_t quiet_tsc = start, tsc;
    while ((tsc = rm_tsc()) - start < ticks && !atomic_load_explicit(stop, memory_order_relaxed)) {
        if (poll_once(duty, tsc) != 0)
            quiet_tsc = tsc + quiet_ticks;
        else if (tsc > quiet_tsc)
            nanosleep(&nap, NULL);
        else
            rm_pause();
    }
}
