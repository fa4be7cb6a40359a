// SPDX-License-Identifier: Apache-2.0
/** Datagrams of instruments, as a machine's configuration has them: which instruments share one, and its bytes.
 *
 * Instruments share a datagram as those of a virtual ring do: neighbours in the configuration with the same port, source,
 * format and period, as many as the format takes. */
#ifndef RM_TRAFFIC_INSTRUMENT_GROUPS_H
#define RM_TRAFFIC_INSTRUMENT_GROUPS_H

#include <stdint.h>

#include <ringmaster/error.h>

#include "config/config.h"
#include "wire/frame.h"

enum {
    /** Lane l at turn t is (t + l · RM_INSTRUMENT_LANE_STEP) mod RM_INSTRUMENT_LANE_RANGE, as a number of its type: so 16
     * bits hold it, and a reader can check it. */
    RM_INSTRUMENT_LANE_STEP = 1000,
    RM_INSTRUMENT_LANE_RANGE = 10000,
};

struct rm_instrument_group {
    /** Of its instruments among rm_instrument_groups.instrument. */
    uint32_t first;
    uint32_t count;
    /** NULL: native. */
    struct rm_layout const *layout;
    /** Readings in a datagram, and turns from one to the next. */
    uint32_t readings;
    uint32_t period_turns;
    uint32_t header_bytes;
    uint32_t payload_bytes;
    uint8_t header[RM_FRAME_HEADER_BYTES + RM_VLAN_BYTES];
    /** The last datagram; its constants stay. */
    uint8_t *payload;
};

struct rm_instrument_groups {
    struct rm_config const *config;
    uint32_t instrument_count;
    /** Indices into config->instrument, in its order. */
    uint32_t *instrument;
    uint32_t group_count;
    struct rm_instrument_group *group;
};

/** What the datagrams of all have in common. */
struct rm_instrument_datagrams {
    /** Pattern of the instruments' names; "*": all. Readbacks of power supplies are none. */
    char const *pattern;
    /** Source address and destination port are the configuration's. A source MAC of zeros becomes one of the source
     * address; a source port of 0 becomes the destination port; the VLAN is the port's where the configuration says
     * one. */
    struct rm_flow flow;
    /** Of the port that sends, without FCS. */
    uint32_t longest_frame;
};

/** Groups refer to `config`, which stays. RM_E_CONFIG names the instrument: none of that name, a datagram that is
 * longer than the port's longest frame, or of which some instruments were not chosen. RM_E_NO_SPACE. */
enum rm_code rm_instrument_groups_make(struct rm_config const *config, struct rm_instrument_datagrams const *of,
                                       struct rm_instrument_groups *groups, struct rm_error *error);
void rm_instrument_groups_free(struct rm_instrument_groups *groups);

/** Writes a group's datagram whose last reading is of `turn`, headers and checksums included; returns its length. Lane l
 * of an instrument says its turn (RM_INSTRUMENT_LANE_STEP). Turns are those that a server shall find: the counter of an
 * instrument with a turn_offset is off by as much. */
uint32_t rm_instrument_group_write(struct rm_instrument_groups const *groups, struct rm_instrument_group *group,
                                   rm_turn turn, uint8_t *frame);

#endif
