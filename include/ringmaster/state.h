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
 * again. There is one copy: a reader that is overtaken reads again. The acquire load in rm_state_copy pairs with the
 * release store in rm_state_commit, its acquire fence with the release fence in rm_state_begin.
 */
#ifndef RINGMASTER_STATE_H
#define RINGMASTER_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/record.h>

/** The head of a state object. The bytes follow it. */
struct rm_state {
    /* Constant since the segment was finished. */

    /** Bytes from the start of this struct to the first byte of the state: behind it. */
    uint64_t bytes_offset;
    /** Bytes of room there, a multiple of 8. */
    uint64_t capacity;

    uint64_t reserved[6];

    /* Written by the owner. */

    /** Odd while what follows changes. */
    _Alignas(RM_CACHE_LINE) _Atomic uint64_t sequence;
    /** Turn of the step behind which it was taken. While `sequence` is 0 there is none. */
    _Atomic uint64_t turn;
    /** Steps since init, that one included: the first to follow has this number. */
    _Atomic uint64_t steps;
    /** Bytes used, and their checksum (host_checksum.h). */
    _Atomic uint64_t bytes, checksum;

    _Atomic uint64_t reserved_too[3];
};

/** What is told of a copy. */
struct rm_state_reading {
    rm_turn turn;
    uint64_t steps;
    uint64_t bytes, checksum;
};

/** Begin and end a new state, for the owner alone. Between them the caller writes at most `capacity` bytes to what
 * rm_state_begin returns. A state that cannot be finished ends as one of 0 bytes. */
void *rm_state_begin(struct rm_state *state);
void rm_state_commit(struct rm_state *state, struct rm_state_reading const *reading);

/** Copies it whole and consistent: its bytes to `bytes`, which has room for `capacity`. False while there is none, while
 * the owner is inside for longer than a tenth of a second, or where it is longer than `capacity`, which is not above
 * the state's own: the caller has checked that when it attached, because this memory belongs to another process, which
 * may write anything into it later. The checksum is the caller's to judge. */
bool rm_state_copy(struct rm_state const *state, void *bytes, uint64_t capacity, struct rm_state_reading *reading);

#endif
