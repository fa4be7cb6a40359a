// SPDX-License-Identifier: Apache-2.0
#include "network.h"

static struct rm_pair_way const QUIET[RM_PAIR_WAYS] = {
    [RM_PAIR_TO_CHAINS] = {.delay_ns = 1500, .jitter_ns = 500},
    [RM_PAIR_FROM_CHAINS] = {.delay_ns = 1500, .jitter_ns = 500},
    [RM_PAIR_TO_PEER] = {.delay_ns = 4000, .jitter_ns = 1000},
    [RM_PAIR_FROM_INSTRUMENTS] = {.delay_ns = 1500, .jitter_ns = 500},
};

void rm_pair_network_make(struct rm_pair_network *network, uint64_t seed) {
    *network = (struct rm_pair_network){.key = rm_noise_u64(seed ^ 0x6E6574)};
    for (uint32_t s = 0; s < RM_PAIR_SERVERS; ++s)
        for (uint32_t w = 0; w < RM_PAIR_WAYS; ++w)
            network->way[s][w] = QUIET[w];
}

void rm_pair_network_disturb(struct rm_pair_network *network, double share, uint64_t late_ns) {
    for (uint32_t s = 0; s < RM_PAIR_SERVERS; ++s)
        for (uint32_t w = 0; w < RM_PAIR_WAYS; ++w) {
            network->way[s][w].loss = network->way[s][w].late = share;
            network->way[s][w].late_ns = late_ns;
        }
}

static uint64_t pair_way_time(struct rm_pair_way const *way, uint64_t *key) {
    uint64_t time = way->delay_ns + way->held_ns;
    if (way->jitter_ns != 0)
        time += rm_pair_draw_below(key, way->jitter_ns);
    if (way->late > 0 && rm_pair_draw(key) < way->late)
        time += rm_pair_draw_below(key, way->late_ns + 1);
    return time;
}

bool rm_pair_network_pass(struct rm_pair_network *network, uint32_t server, enum rm_pair_way_kind kind, uint32_t chain,
                          uint64_t now_ns, uint64_t *arrival_ns) {
    struct rm_pair_way const *const way = &network->way[server][kind];
    bool const divided = chain != RM_PAIR_ALL_CHAINS && network->divided[server][chain];
    if (way->cut || divided || (way->loss > 0 && rm_pair_draw(&network->key) < way->loss)) {
        ++network->lost;
        return false;
    }
    *arrival_ns = now_ns + pair_way_time(way, &network->key);
    ++network->passed;
    return true;
}
