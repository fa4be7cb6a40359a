// SPDX-License-Identifier: Apache-2.0
/** Decision records over the link: step by step, in their order, without a gap that is not known.
 *
 * Each step names the one before it. The receiver takes the step behind its newest one and no other; where one is
 * missing it asks for what is behind its newest, again and again until it comes. The sender reads from the rings of its
 * own workspace, which keep some seconds. What these have no more it says with a step that has no `previous`: the
 * receiver's records then have a gap, and its application needs a new copy of the state.
 */
#ifndef RM_STANDBY_LINK_STEPS_H
#define RM_STANDBY_LINK_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "standby/link/vectors.h"

enum { RM_PEER_STEP_RECORDS_MAX = RM_PEER_PARTS * RM_PEER_STEP_RECORDS };

/** All records of one step. The decision is the last one. */
struct rm_peer_records {
    rm_turn turn;
    uint32_t count;
    struct rm_peer_record record[RM_PEER_STEP_RECORDS_MAX];
};

struct rm_peer_steps_in {
    /** The newest step that is here; RM_TURN_NONE: none. And its beginning. */
    rm_turn came;
    uint32_t beginning;
    /** The one that is coming: its parts so far. */
    uint32_t parts;
    /** One is missing. */
    bool wants;
    /** There is a gap before `records`. */
    bool gap;
    struct rm_peer_records records;
};

/** Nothing is here. */
void rm_peer_steps_in_clear(struct rm_peer_steps_in *in);

/** A session begins: what came in the one before is here, and may go on. */
void rm_peer_steps_in_begin(struct rm_peer_steps_in *in);

/** Sends a step in parts. `previous` is the one before it, or RM_TURN_NONE: then `beginning` was never used before. */
void rm_peer_step_send(uint8_t application, struct rm_peer_records const *records, rm_turn previous, uint32_t beginning,
                       struct rm_peer_emitter const *emitter);

/** Takes a part. True when the step is whole, in in->records, and the one behind `came`, which it then is. */
bool rm_peer_step_take(struct rm_peer_steps_in *in, struct rm_peer_step const *part);

#endif
