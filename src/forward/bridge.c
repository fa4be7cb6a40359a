// SPDX-License-Identifier: Apache-2.0
#include "forward/bridge.h"

#include <stdlib.h>
#include <string.h>

#include "base/zeroed.h"

enum { IN_BUCKET = 8, BUCKETS = RM_BRIDGE_STATIONS_MAX / IN_BUCKET };

/** Two lines: the addresses, of which 0 is none, and what is known of them. */
struct rm_bridge_bucket {
    uint64_t station[IN_BUCKET];
    uint32_t seen_s[IN_BUCKET];
    uint16_t port[IN_BUCKET];
};

/** Address and VLAN in a word. */
static uint64_t station_word(uint8_t const mac[6], uint16_t vlan) {
    uint64_t word = 0;
    memcpy(&word, mac, 6);
    return word | (uint64_t)vlan << 48;
}

static struct rm_bridge_bucket *station_bucket(struct rm_bridge const *bridge, uint64_t station) {
    return &bridge->bucket[(station * UINT64_C(0x9E3779B97F4A7C15) >> 40) % BUCKETS];
}

bool rm_bridge_make(struct rm_bridge *bridge) {
    bridge->bucket = rm_zeroed(BUCKETS, sizeof *bridge->bucket);
    return bridge->bucket != NULL;
}

void rm_bridge_free(struct rm_bridge *bridge) {
    free(bridge->bucket);
    bridge->bucket = NULL;
}

static uint32_t place_of(struct rm_bridge_bucket const *bucket, uint64_t station) {
    uint32_t place = 0;
    while (place < IN_BUCKET && bucket->station[place] != station)
        ++place;
    return place;
}

static uint32_t oldest_place(struct rm_bridge_bucket const *bucket, uint32_t now_s) {
    uint32_t oldest = 0;
    for (uint32_t i = 0; i < IN_BUCKET; ++i) {
        if (bucket->station[i] == 0)
            return i;
        if (now_s - bucket->seen_s[i] > now_s - bucket->seen_s[oldest])
            oldest = i;
    }
    return oldest;
}

void rm_bridge_learn(struct rm_bridge *bridge, uint8_t const mac[6], uint16_t vlan, uint32_t port, uint32_t now_s) {
    uint64_t const station = station_word(mac, vlan);
    if ((mac[0] & 1) != 0 || station == 0)
        return;
    struct rm_bridge_bucket *const bucket = station_bucket(bridge, station);
    uint32_t place = place_of(bucket, station);
    if (place == IN_BUCKET)
        place = oldest_place(bucket, now_s);
    bucket->station[place] = station;
    bucket->seen_s[place] = now_s;
    bucket->port[place] = (uint16_t)port;
}

uint32_t rm_bridge_find(struct rm_bridge const *bridge, uint8_t const mac[6], uint16_t vlan, uint32_t now_s) {
    uint64_t const station = station_word(mac, vlan);
    struct rm_bridge_bucket const *const bucket = station_bucket(bridge, station);
    uint32_t const place = place_of(bucket, station);
    if (place == IN_BUCKET || now_s - bucket->seen_s[place] > RM_BRIDGE_AGE_S)
        return RM_BRIDGE_UNKNOWN;
    return bucket->port[place];
}

uint32_t rm_bridge_count(struct rm_bridge const *bridge, uint32_t now_s) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < BUCKETS; ++i)
        for (uint32_t place = 0; place < IN_BUCKET; ++place)
            count +=
                bridge->bucket[i].station[place] != 0 && now_s - bridge->bucket[i].seen_s[place] <= RM_BRIDGE_AGE_S;
    return count;
}
