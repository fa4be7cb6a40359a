// SPDX-License-Identifier: Apache-2.0
/** The two ends of a link of one kind, and processes at them. Each end is a process of its own, as DPDK demands. */
#ifndef RM_NET_CONFORMANCE_ENDPOINTS_H
#define RM_NET_CONFORMANCE_ENDPOINTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "bench/namespaces/veth_pair.h"
#include "net/port.h"

enum { RECEIVER = 0, SENDER = 1 };

/** What the processes at both ends and the test itself share. */
struct endpoints_shared {
    /** Datagrams that the receiver has checked. */
    _Atomic uint64_t received;
    /** Datagrams that the sender has sent. */
    _Atomic uint64_t sent;
    /** Step of a test's own script. */
    _Atomic uint32_t step;
    /** How often each end's port was opened. */
    _Atomic uint32_t openings[2];
};

enum { NEITHER = -1, PROCESSES = 8 };

struct endpoints {
    /** Kind of the receiver's port. */
    enum rm_port_kind kind;
    /** The end that the other cannot be opened without, or NEITHER. */
    int first;
    /** The link keeps datagrams that are not taken, and its sender waits. */
    bool slow;
    /** Datagrams that wait in the link are lost when the sender closes. */
    bool forgets;
    /** The link takes only UDP datagrams to CLAIMED_PORT. */
    bool claimed;

    bool has_veth;
    /** Both ends are in one namespace. */
    bool together;

    struct rm_port_config config[2];
    struct rm_veth_pair veth;
    /** Where the socket lies, for kinds that have one. */
    char directory[64];

    struct endpoints_shared *shared;
    /** The processes that were started last. */
    pid_t process[PROCESSES];

    uint32_t started;
};

/** What a process at one end does; it ends well when this returns. */
typedef void script(struct endpoints *endpoints, int end);

/** Makes the ends of a link: "memif", "af_packet", … False where this machine does not allow it, with the reason on
 * standard error. */
bool endpoints_make(struct endpoints *endpoints, char const *kind);
/** The same, of a link that carries IP packets of `mtu` bytes. */
bool endpoints_make_mtu(struct endpoints *endpoints, char const *kind, int mtu);
void endpoints_remove(struct endpoints *endpoints);

/** Call it before each test that starts processes: it clears what the last test shared, and ends processes of one that
 * failed. */
void endpoints_begin(struct endpoints *endpoints);

/** Starts a process at an end: in its namespace, with DPDK started, and killed when the test ends. */
pid_t endpoints_start(struct endpoints *endpoints, int end, script *act);

/** Waits for a process. True when it ended well. */
bool endpoints_wait(pid_t process);

/** Waits for both. True when both ended well. The first that did not ends the other, which would wait for it for ever.
 */
bool endpoints_wait_both(pid_t one, pid_t other);
void endpoints_kill(pid_t process);

/** In a script: ends the process unless `good`, and says `what` was expected. */
void expect(bool good, char const *what);

/** In a script: opens the end's port, after the other where it has to be. If that fails, the process ends. */
struct rm_port *open_end(struct endpoints *endpoints, int end);
void wait_for_link(struct rm_port *port, bool up);

/** In a script: closes the sender's port. Where that matters, it first waits until `count` datagrams have arrived. */
void close_sender(struct endpoints *endpoints, struct rm_port *port, uint64_t count);

/** Waits until shared->step is at least `step`. */
void wait_for_step(struct endpoints *endpoints, uint32_t step);
void pause_ms(long milliseconds);

#endif
