// SPDX-License-Identifier: Apache-2.0
/** An application between two steps, as bytes: what another server goes on from (ringmaster/state.h).
 *
 *     size_t const room = rm_host_state_room(program);
 *     bytes = rm_host_state_save(program, &decisions, record, memory, room);            after a step, `prepare` included
 *     … the bytes go to another server
 *     rm_host_state_restore(program, &decisions, record, memory, bytes, &place, &error)
 *     rm_host_follow_begin(&follow, place.turn, place.generation);
 *
 * They hold all that a step depends on beside its own inputs: the settings as the last step had them; what had been
 * sent; the last command; readings, streams and rows, which come with what was told last; the last record of each
 * input; how far the exchange with `work` has come; the state's bytes; and what `pack` of the application writes.
 *
 * They begin with a version, what must be alike on both sides, and a checksum. All numbers are those of the machine.
 * Saving copies and adds up: it allocates nothing and calls no system.
 */
#ifndef RM_HOST_HOST_STATE_BYTES_H
#define RM_HOST_HOST_STATE_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "host/host_decision.h"
#include "host/host_program.h"

/** Where the bytes are from. */
struct rm_host_state_place {
    /** Turn of the last step, and steps since init, that one included. */
    rm_turn turn;
    uint64_t steps;
    /** Generation of the settings. */
    uint32_t generation;
};

/** RM_OK, or RM_E_CONFIG: the application has `open`, and does not say what its memory is. */
enum rm_code rm_host_state_can_be_saved(struct rm_host_program const *program, struct rm_error *error);

/** The most bytes that saving may need. */
size_t rm_host_state_room(struct rm_host_program const *program);

/** Returns the bytes written; 0: there was no step since init, or there is no room. `record` is per input. */
size_t rm_host_state_save(struct rm_host_program const *program, struct rm_host_decisions const *decisions,
                          struct rm_record const *record, void *bytes, size_t room);

/** What the bytes say of themselves. RM_E_FORMAT where they are not whole, or no such bytes; RM_E_VERSION; RM_E_CONFIG
 * where they are of another application or another configuration. */
enum rm_code rm_host_state_check(struct rm_host_program const *program, void const *bytes, size_t count,
                                 struct rm_host_state_place *place, struct rm_error *error);

/** Checks, calls `init`, and takes all over. `program->input` is set; no thread is in `work`. After an error of
 * the check nothing has changed; after one of `init` or `unpack` the application must be restored or initialised again. */
enum rm_code rm_host_state_restore(struct rm_host_program *program, struct rm_host_decisions *decisions,
                                   struct rm_record *record, void const *bytes, size_t count,
                                   struct rm_host_state_place *place, struct rm_error *error);

#endif
