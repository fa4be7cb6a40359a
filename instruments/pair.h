// SPDX-License-Identifier: Apache-2.0
/** The same port of both servers of a pair: every frame that leaves goes to both, byte by byte, as from a switch that
 * mirrors it. One that has gone is left out at once. One that takes nothing is waited for, for a while: on a host whose
 * cores are shared a server is off its core now and then, and misses nothing. After that it misses what it does not take
 * at once, until it takes something again.
 *
 *     rm_port_reserve, rm_port_send, rm_port_release and rm_port_check of both ports, with the same meanings; for one
 *     thread.
 */
#ifndef RM_INSTRUMENTS_PAIR_H
#define RM_INSTRUMENTS_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "config/config.h"
#include "net/port.h"

struct rm_pair {
    struct rm_port *port[RM_CONFIG_SERVERS];
    /** The other end is there, as far as is known. */
    bool up[RM_CONFIG_SERVERS];
    /** Frames of the burst in hand that it has taken. */
    uint32_t done[RM_CONFIG_SERVERS];
    /** TSC of the last that it took, and of the next look at whether it is there. */
    uint64_t took_tsc[RM_CONFIG_SERVERS], look_tsc[RM_CONFIG_SERVERS];
    /** Frames that the other one has, and this one did not take. */
    uint64_t missed[RM_CONFIG_SERVERS];
    uint64_t timeout_ticks, look_ticks;
    /** Buffers of a burst. */
    uint8_t *memory;
};

/** `timeout_s`: for so long one that takes nothing is waited for; 0: never. The ports stay the caller's.
 * RM_E_NO_SPACE. */
enum rm_code rm_pair_make(struct rm_port *const port[RM_CONFIG_SERVERS], double timeout_s, double tsc_hz,
                          struct rm_pair *pair, struct rm_error *error);
void rm_pair_free(struct rm_pair *pair);

/** True when one of the two takes frames, or will soon; asks the kernel. */
bool rm_pair_works(struct rm_pair *pair);

uint32_t rm_pair_reserve(struct rm_pair *pair, struct rm_burst *burst, uint32_t count);

/** Returns 0 as long as one of them is waited for, then how many frames have left: to one of the two at least. */
uint32_t rm_pair_send(struct rm_pair *pair, struct rm_burst *burst);

void rm_pair_release(struct rm_pair *pair, struct rm_burst *burst);

#endif
