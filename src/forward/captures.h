// SPDX-License-Identifier: Apache-2.0
/** Captures of a router's ports: what they receive and send, in files. A capture is of some ports, and is one file; each
 * forwarding core has a ring of its own into it.
 *
 * Commands begin and end captures (`capture west,east FILE`). A core learns by a mailbox, between two bursts, where it
 * puts frames; so a file is closed when every core has answered that it puts none there any more.
 */
#ifndef RM_FORWARD_CAPTURES_H
#define RM_FORWARD_CAPTURES_H

#include <stdbool.h>

#include "base/mailbox.h"
#include "capture/capture_ring.h"
#include "commands/command.h"
#include "forward/interface.h"
#include "forward/routes.h"
#include "net/port.h"

/** Of one forwarding core. */
struct rm_captures_core {
    /** [port]: where the core puts what it receives and sends there; NULL: nowhere. The core's. */
    struct rm_capture_ring *ring[RM_FORWARD_PORTS_MAX];
    struct rm_mailbox mailbox;
    /** The message: `ring`, as it is to be. */
    struct rm_capture_ring *wanted[RM_FORWARD_PORTS_MAX];
};

struct rm_captures_setup {
    uint32_t core_count;
    /** [port]: its name, which lives longer; NULL: it is not the router's. */
    char const *port[RM_FORWARD_PORTS_MAX];
    /** Bytes, of any port. */
    uint32_t longest_frame;
    double tsc_hz;
};

struct rm_captures;

/** NULL: no memory. */
struct rm_captures *rm_captures_make(struct rm_captures_setup const *setup);
/** When no core forwards any more: ends all captures. NULL is allowed. */
void rm_captures_free(struct rm_captures *captures);

struct rm_captures_core *rm_captures_core(struct rm_captures *captures, uint32_t core);

/** Its commands: `capture`. For one thread, while the cores run. */
void rm_captures_commands(struct rm_captures *captures, struct rm_command_table *table);

/** For the core, between two bursts: does what it was told. */
static inline void rm_captures_obey(struct rm_captures_core *core) {
    if (!rm_mailbox_take(&core->mailbox))
        return;
    memcpy(core->ring, core->wanted, sizeof core->ring);
    rm_mailbox_answer(&core->mailbox);
}

#endif
