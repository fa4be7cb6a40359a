// SPDX-License-Identifier: Apache-2.0
/** What the words of the command language (traffic_words.h) ask of a running generator. The role has these functions;
 * a test has others. They are called by the commands' thread, one at a time, while the role's core runs. */
#ifndef RM_TRAFFIC_ACTIONS_H
#define RM_TRAFFIC_ACTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "traffic/traffic.h"

/** What a port asks others, beside its traffic. The address that asks is the source of the first template, the target
 * its destination. */
enum rm_traffic_question {
    /** Who has the target's address? */
    RM_TRAFFIC_ARP_REQUEST,
    /** Tells all: this port has that address. */
    RM_TRAFFIC_ARP_GRATUITOUS,
    /** ICMP echo requests. */
    RM_TRAFFIC_PING,
};

/** What a port does just now. */
struct rm_traffic_state {
    bool sending;
    bool link_up;
    /** Of the capture that is being written; "" when there is none. */
    char capture[128];
    /** Frames in it. */
    uint64_t captured;
    /** What is sent instead of the described frames, in one line; "" when that is nothing. */
    char source[256];
    /** What came of the last question, in one line; "" when there was none. */
    char asked[192];
};

/** What came of one flow since the last clear. */
struct rm_traffic_flow_state {
    /** Template that it is of. */
    uint32_t template_number;
    uint64_t sent;
    uint64_t received;
    /** Sequence numbers that were passed over and have not come since. */
    uint64_t lost;
    uint64_t duplicate;
    /** Came after a later one. */
    uint64_t reordered;
    /** Of the way there, ns, each up to 1/16 too large; 0 while none has come. */
    uint64_t latency_min_ns, latency_p50_ns, latency_p99_ns, latency_p999_ns, latency_max_ns;
};

/** Functions that a generator does not have are NULL; the word then says so. */
struct rm_traffic_actions {
    /** Sends by this description from now on, which rm_traffic_check has passed; what is being sent goes on with it. */
    enum rm_code (*describe)(void *generator, uint32_t port, struct rm_traffic const *traffic, struct rm_error *error);
    /** Sends from the first frame. */
    enum rm_code (*start)(void *generator, uint32_t port, struct rm_error *error);
    enum rm_code (*stop)(void *generator, uint32_t port, struct rm_error *error);
    /** Flows and latencies count from now on. */
    enum rm_code (*clear)(void *generator, uint32_t port, struct rm_error *error);
    /** Asks `count` times, a second apart; more than once only of RM_TRAFFIC_PING. The answers are in the state. */
    enum rm_code (*ask)(void *generator, uint32_t port, enum rm_traffic_question what, uint32_t count,
                        struct rm_error *error);
    /** Captures what comes, and what is sent, into a file from now on; NULL ends it. */
    enum rm_code (*capture)(void *generator, uint32_t port, char const *path, struct rm_error *error);
    /** Sends the frames of a capture instead of the description's; NULL: the description's again. `speed` scales its
     * gaps, 2 is twice as fast; 0: the pace of the description. `laps` is how often, 0 without end. */
    enum rm_code (*replay)(void *generator, uint32_t port, char const *path, double speed, uint64_t laps,
                           struct rm_error *error);
    /** Sends datagrams of those instruments of a machine's configuration whose names fit `pattern`, from a turn
     * on, or, where that is RM_TURN_NONE, with the turns of TAI. */
    enum rm_code (*instruments)(void *generator, uint32_t port, char const *path, char const *pattern,
                                uint64_t first_turn, struct rm_error *error);
    void (*state)(void *generator, uint32_t port, struct rm_traffic_state *state);
    /** Flow `index` of the port; false: there are fewer. */
    bool (*flow)(void *generator, uint32_t port, uint32_t index, struct rm_traffic_flow_state *flow);
};

#endif
