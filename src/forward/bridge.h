// SPDX-License-Identifier: Apache-2.0
/** Which station is behind which port: what a bridge has learnt from source addresses (IEEE 802.1D). A table of fixed
 * size: a bucket that is full forgets its oldest station, so a flood of addresses costs others their places and nothing
 * more. One thread's. */
#ifndef RM_FORWARD_BRIDGE_H
#define RM_FORWARD_BRIDGE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    RM_BRIDGE_STATIONS_MAX = 8192,
    /** Seconds after which a station that sends nothing is forgotten. */
    RM_BRIDGE_AGE_S = 300,
};

#define RM_BRIDGE_UNKNOWN UINT32_MAX

struct rm_bridge_bucket;

struct rm_bridge {
    struct rm_bridge_bucket *bucket;
};

/** False: no memory. */
bool rm_bridge_make(struct rm_bridge *bridge);
void rm_bridge_free(struct rm_bridge *bridge);

/** The station is behind `port` at second `now_s` of any steady clock. Addresses of groups are no stations. */
void rm_bridge_learn(struct rm_bridge *bridge, uint8_t const mac[6], uint16_t vlan, uint32_t port, uint32_t now_s);

/** Its port, or RM_BRIDGE_UNKNOWN. */
uint32_t rm_bridge_find(struct rm_bridge const *bridge, uint8_t const mac[6], uint16_t vlan, uint32_t now_s);

/** How many are known and not too old. Looks at all of the table. */
uint32_t rm_bridge_count(struct rm_bridge const *bridge, uint32_t now_s);

#endif
