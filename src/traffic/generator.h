// SPDX-License-Identifier: Apache-2.0
/** The packet generator: up to RM_TRAFFIC_PORTS_MAX ports, each with a sending and a receiving half, polled by the cores
 * that have them, and told what to do by the commands' thread.
 *
 * A port is polled by one core, which turns its *side*: the ports of one role, whose arrivals are counted together by
 * flow. Commands reach it by a mailbox of its own, looked at in every turn: so a description is swapped between two
 * bursts, without a lock, and the one of before comes back to be freed. The answer comes within a turn of the core; one
 * that does not turn for RM_MAILBOX_ANSWER_S gives RM_E_SYSTEM.
 */
#ifndef RM_TRAFFIC_GENERATOR_H
#define RM_TRAFFIC_GENERATOR_H

#include "base/mailbox.h"
#include "traffic/arp_ping.h"
#include "traffic/arrivals.h"
#include "traffic/sender.h"

enum {
    /** Most receive queues of one port. */
    RM_GENERATOR_QUEUES_MAX = 16,
    /** Bytes of a capture's name, as it is told. */
    RM_GENERATOR_PATH_BYTES = 128,
    /** Bytes of what is told of a source that is read. */
    RM_GENERATOR_WORDS_BYTES = 256,
};

enum rm_generator_order {
    /** Sends by `job`, which is the one of before when the answer is there. */
    RM_GENERATOR_TAKE_JOB,
    RM_GENERATOR_START,
    RM_GENERATOR_STOP,
    /** Captures into `capture`, or no more where it is NULL. */
    RM_GENERATOR_CAPTURE,
};

/** Of one port. */
struct rm_generator_message {
    enum rm_generator_order order;
    struct rm_traffic_job *job;
    struct rm_capture_ring *capture;
};

/** What a port is made of. */
struct rm_generator_port_plan {
    struct rm_port *port;
    uint32_t queue_count;
    /** It receives from all, and sends by the first. */
    uint16_t queue[RM_GENERATOR_QUEUES_MAX];
    /** Without FCS. */
    uint32_t longest_frame;
    /** Set "generator". */
    rm_counter *counters;
    /** Of what was sent: sender.h. */
    struct rm_histogram *jitter;
    /** Of all stamped frames that came to the port, ticks. */
    struct rm_histogram *latency;
};

struct rm_generator_port {
    struct rm_generator_port_plan plan;
    struct rm_traffic_sender sender;
    struct rm_arp_ping arp_ping;
    /** Of the side that polls it. */
    struct rm_flows *flows;
    struct rm_mailbox mailbox;
    struct rm_generator_message message;
    /** What it has stamped, [flow]. */
    struct rm_flow_sent sent[RM_TRAFFIC_FLOWS_MAX];

    /** Of the commands' thread: the description that the port was given last; template_count 0: none. */
    struct rm_traffic traffic;
    /** Of the commands' thread: flows as they were when they were cleared, [flow]; NULL: never. */
    struct rm_flow_reading *cleared;
    /** Of the commands' thread: the source that is sent instead of the description's own, whatever is described; the
     * core's job owns it. NULL: there is none. And what people are told of it. */
    struct rm_source *read;
    char read_words[RM_GENERATOR_WORDS_BYTES];
    /** Of the commands' thread: the file that the port is captured into, and its name; NULL: none. */
    struct rm_capture *capture;
    char capture_path[RM_GENERATOR_PATH_BYTES];
};

struct rm_generator {
    double tsc_hz;
    /** Of stamps. */
    uint16_t key;
    uint32_t port_count;
    struct rm_generator_port *port[RM_TRAFFIC_PORTS_MAX];
    /** What has come, by flow: of each side. */
    uint32_t side_count;
    struct rm_flows side[RM_TRAFFIC_PORTS_MAX];
};

/** Makes a generator without ports. `number` is drawn for each life of the server. */
enum rm_code rm_generator_new(double tsc_hz, uint64_t number, struct rm_generator **generator, struct rm_error *error);
/** When no core turns any port. NULL is allowed. */
void rm_generator_free(struct rm_generator *generator);

/** Adds a side, the ports of which follow; at most RM_TRAFFIC_PORTS_MAX. */
enum rm_code rm_generator_add_side(struct rm_generator *generator, struct rm_error *error);
/** Adds a port to the last side. RM_E_CONFIG: there are too many, or it carries no Ethernet frames. */
enum rm_code rm_generator_add_port(struct rm_generator *generator, struct rm_generator_port_plan const *plan,
                                   struct rm_error *error);

/** For the core: does what the commands' thread has ordered, sends what is due, counts what has come: at most a burst
 * each. Returns packets. */
uint32_t rm_generator_turn(struct rm_generator_port *port, uint64_t tsc);

/* For the commands' thread; the functions of rm_traffic_actions that are about the port alone. Port numbers are those
 * in which they were added. */

/** Sends by this description from now on; what is being sent goes on with it. Where a source has replaced the
 * description's frames it goes on, at the new pace. Errors are those of rm_traffic_check. */
enum rm_code rm_generator_describe(struct rm_generator *generator, uint32_t port, struct rm_traffic const *traffic,
                                   struct rm_error *error);
/** Sends what `source` has instead, which is the generator's from now on, also where this fails. `words` tell what it
 * is, for people. */
enum rm_code rm_generator_replace_source(struct rm_generator *generator, uint32_t port, struct rm_source *source,
                                         char const *words, struct rm_error *error);
/** Sends the described frames again. */
enum rm_code rm_generator_restore_source(struct rm_generator *generator, uint32_t port, struct rm_error *error);
/** What is sent instead of the described frames, "" where that is nothing. */
char const *rm_generator_source_words(struct rm_generator const *generator, uint32_t port);
/** Sends from the first frame. */
enum rm_code rm_generator_start(struct rm_generator *generator, uint32_t port, struct rm_error *error);
enum rm_code rm_generator_stop(struct rm_generator *generator, uint32_t port, struct rm_error *error);
bool rm_generator_is_sending(struct rm_generator const *generator, uint32_t port);
/** Flows of the port count from now on. */
enum rm_code rm_generator_clear(struct rm_generator *generator, uint32_t port, struct rm_error *error);
/** Flow `flow` of the port since it was cleared, summed over all that receive. False: the port has fewer flows. */
bool rm_generator_flow(struct rm_generator const *generator, uint32_t port, uint32_t flow,
                       struct rm_flow_reading *reading);

#endif
