// SPDX-License-Identifier: Apache-2.0
/** What people have said about one port of the generator, in Pktgen's terms, and the description that it comes to.
 *
 * `set` describes one frame; `range` says through which values fields of it may go; `seq` describes up to 16 frames of
 * another kind each. Features that are enabled decide which of that is sent:
 *
 *     neither           the frame of `set`, all alike
 *     range, random     the same, its ranged fields going through their values, or drawn from them
 *     imix              the same, of sizes in turn
 *     sequence_count    the frames of `seq`, in turn, instead
 */
#ifndef RM_TRAFFIC_SETTINGS_H
#define RM_TRAFFIC_SETTINGS_H

#include "traffic/traffic.h"

enum rm_traffic_limit {
    RM_TRAFFIC_LIMIT_START,
    RM_TRAFFIC_LIMIT_MIN,
    RM_TRAFFIC_LIMIT_MAX,
    /** Of a range: how much more in each frame. */
    RM_TRAFFIC_LIMIT_INC,
    RM_TRAFFIC_LIMITS,
};

/** What `range` said about a field. What was not said follows: start from min or from the frame of `set`, min from
 * start, max from the field's largest value, inc is 1. */
struct rm_traffic_range {
    bool said[RM_TRAFFIC_LIMITS];
    uint64_t value[RM_TRAFFIC_LIMITS];
};

struct rm_traffic_settings {
    /** Pace, count, burst, …; in template 0 the frame of `set`, with the mix of `imix`, which counts where `imix` is
     * true. Its other templates mean nothing. */
    struct rm_traffic base;
    struct rm_traffic_range range[RM_TRAFFIC_FIELDS];
    /** Frames of the sequence that are sent; 0: the frame of `set`. */
    uint32_t sequence_count;
    struct rm_traffic_template sequence[RM_TRAFFIC_TEMPLATES_MAX];
    /** Flows of each template, where `latency` is true. */
    uint32_t flow_count;
    bool ranges;
    bool random;
    bool imix;
    /** Frames are stamped. */
    bool latency;
};

void rm_traffic_settings_default(struct rm_traffic_settings *settings, uint32_t port);

/** What the settings come to, not checked by rm_traffic_check yet. RM_E_ARGUMENT: limits of an enabled range contradict
 * each other. */
enum rm_code rm_traffic_settings_resolve(struct rm_traffic_settings const *settings, struct rm_traffic *traffic,
                                         struct rm_error *error);

#endif
