// SPDX-License-Identifier: Apache-2.0
/** What a forwarding core does with a burst: frames in, frames out, each with its verdict counted. It opens no port, and
 * takes no lock, no memory and no time from the system: tests and fuzzers give it bytes.
 *
 *     struct rm_forward: one for each thread that forwards
 *     rm_forward_burst (mode route)        checks, lookup, rewriting, errors and fragments
 *     rm_forward_io, _macswap, _bridge     the plain modes
 *
 * Frames are rewritten where they lie. What must grow (a tag, fragments, ICMP errors) is made in `scratch`. Frames that
 * leave are gathered by port and given to `send` in bursts, which copies or sends each entry before it returns. The
 * received burst stays its port's: the caller releases it afterwards.
 */
#ifndef RM_FORWARD_FORWARD_H
#define RM_FORWARD_FORWARD_H

#include <ringmaster/counter.h>

#include "forward/bridge.h"
#include "forward/handoff.h"
#include "forward/mode.h"
#include "forward/routes.h"
#include "net/port.h"

/** Sends data[0 … count-1], length[] of a burst out of a port, and counts what the port did not take. Handles are not
 * those of that port. */
typedef void rm_forward_send(void *context, uint32_t port, struct rm_burst *burst);

/** Most ICMP errors: so many at once, and so many a second. */
enum { RM_ICMP_BURST = 64, RM_ICMP_PER_SECOND = 1000 };

struct rm_forward_scratch;

/** Of one thread. Zeroed, then filled in by its owner up to `send_context`; rm_forward_make makes the rest. The control
 * side has one of its own, for packets that waited for a neighbour: it gives them to rm_forward_burst once more. */
struct rm_forward {
    struct rm_routes *routes;
    /** Among the readers of the routes, or RM_ROUTES_READER_NONE. */
    uint32_t reader;
    uint32_t port_count;
    /** [port]: set "forward", of what arrives there; one writer each. */
    rm_counter *counters[RM_FORWARD_PORTS_MAX];
    /** [port]: where frames leave in modes io and macswap. */
    uint16_t pair[RM_FORWARD_PORTS_MAX];
    /** NULL: what is not forwarded is dropped as if it were full. */
    struct rm_handoff *handoff;
    /** Bytes of the longest frame of any port. */
    uint32_t longest_frame;
    rm_forward_send *send;
    void *send_context;

    struct rm_forward_scratch *scratch;
    /** Of mode l2. */
    struct rm_bridge bridge;
    /** ICMP errors that may be sent now, and the time of which that was true. */
    uint32_t icmp_tokens;
    uint64_t icmp_ns;
};

/** False: no memory. */
bool rm_forward_make(struct rm_forward *forward, enum rm_forward_mode mode);
void rm_forward_free(struct rm_forward *forward);

/** Routes a burst that came in by `port`, at `now_ns` of any steady clock. Entries stay in the burst. Each is counted
 * once, as what became of it: counters.toml, set "forward". */
void rm_forward_burst(struct rm_forward *forward, uint32_t port, struct rm_burst *burst, uint64_t now_ns);

/** Modes io and macswap: out by the other port of the pair, as they came or with their MAC addresses exchanged. Cut
 * frames and what is shorter than an Ethernet header are dropped, but by io, which looks at none. */
void rm_forward_io(struct rm_forward *forward, uint32_t port, struct rm_burst *burst);
void rm_forward_macswap(struct rm_forward *forward, uint32_t port, struct rm_burst *burst);

/** Mode l2, a learning bridge: out by the port of the station, else by all other ports that have counters. */
void rm_forward_bridge(struct rm_forward *forward, uint32_t port, struct rm_burst *burst, uint64_t now_ns);

#endif
