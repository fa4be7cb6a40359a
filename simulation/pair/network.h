// SPDX-License-Identifier: Apache-2.0
/** The network of a pair: for each server the ways to the chains and back, to the other server, and from the
 * instruments. Each way has a delay with jitter, loses, lets overtake, and can be cut; the ways to and from chains for
 * each chain by itself. All draws come from one seed. */
#ifndef RM_SIMULATION_PAIR_NETWORK_H
#define RM_SIMULATION_PAIR_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "instruments/noise.h"

enum { RM_PAIR_SERVERS = 2, RM_PAIR_CHAINS_MAX = 128, RM_PAIR_ALL_CHAINS = UINT32_MAX };

/** The ways of one server. */
enum rm_pair_way_kind {
    RM_PAIR_TO_CHAINS,
    RM_PAIR_FROM_CHAINS,
    /** From this server to the other one. */
    RM_PAIR_TO_PEER,
    RM_PAIR_FROM_INSTRUMENTS,
    RM_PAIR_WAYS,
};

struct rm_pair_way {
    uint64_t delay_ns;
    /** Even, up to so much more. */
    uint64_t jitter_ns;
    /** Probabilities for each datagram: it is lost; it takes `late_ns` longer, so that others overtake it. */
    double loss, late;
    uint64_t late_ns;
    /** By faults: longer by so much; nothing passes. */
    uint64_t held_ns;
    bool cut;
};

struct rm_pair_network {
    struct rm_pair_way way[RM_PAIR_SERVERS][RM_PAIR_WAYS];
    /** [server][chain] the cable to this chain and back is cut. */
    bool divided[RM_PAIR_SERVERS][RM_PAIR_CHAINS_MAX];
    uint64_t key;
    uint64_t passed, lost;
};

/** The next draw, even in [0, 1). */
static inline double rm_pair_draw(uint64_t *key) {
    *key = rm_noise_u64(*key);
    return rm_noise_uniform(*key);
}

/** Whole numbers 0 … count − 1. */
static inline uint64_t rm_pair_draw_below(uint64_t *key, uint64_t count) {
    *key = rm_noise_u64(*key);
    return rm_noise_u64(*key ^ 0x5DEECE66Du) % count;
}

/** Quiet ways as in a rack: 2 µs to chains and back, 20 µs between servers. */
void rm_pair_network_make(struct rm_pair_network *network, uint64_t seed);

/** Every way loses and delays this share of its datagrams from now on, by up to `late_ns`. */
void rm_pair_network_disturb(struct rm_pair_network *network, double share, uint64_t late_ns);

/** Whether a datagram that leaves at `now_ns` arrives, and when. `chain`: RM_PAIR_ALL_CHAINS for other ways. */
bool rm_pair_network_pass(struct rm_pair_network *network, uint32_t server, enum rm_pair_way_kind kind, uint32_t chain,
                          uint64_t now_ns, uint64_t *arrival_ns);

#endif
