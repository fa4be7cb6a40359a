// SPDX-License-Identifier: Apache-2.0
/** An application's state as bytes: what another server needs to go on from one step.
 *
 * The host of an application writes it into its own segment, object `state/NAME`, when it is asked: after the step that
 * is under way, behind the commit of its vector. `ringmaster-standby` carries it to the peer, whose own segment has it
 * as `peer/state/NAME`, and the peer's host of the same application begins there and follows the decision records of
 * the steps behind it. The bytes mean something to the same application with the same configuration alone, built from
 * the same sources: host_state_bytes.h says what they hold.
 *
 * ## Memory ordering
 * The writer makes `sequence` odd (relaxed), fences (release), writes the bytes and members, and makes it even
 * (release). A reader's acquire load of an even `sequence` pairs with that; it copies, fences (acquire), and looks
 * again. There is one copy: a reader that is overtaken reads again.
 */
#ifndef RINGMASTER_STATE_H
#define RINGMASTER_STATE_H

#include <stdatomic.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/record.h>

struct rm_state {
    /* Constant since the segment was finished. */

    /** Bytes from the start of this struct to the first byte of the state, and room there. */
    uint64_t bytes_offset, capacity;

    uint64_t reserved[6];

    /* Written by the owner. */

    /** Odd while what follows changes. */
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t sequence;
    /** Turn of the step behind which it was taken; RM_TURN_NONE: there is none yet. */
    _Atomic uint64_t turn;
    /** Steps since init, that one included: the first to follow has this number. */
    _Atomic uint64_t steps;
    /** Bytes used, and their checksum (host_checksum.h). */
    _Atomic uint64_t bytes, checksum;

    _Atomic uint64_t reserved_too[3];
};

#endif
