// SPDX-License-Identifier: Apache-2.0
/** Setpoint vectors over the link: what has changed, and the whole vector where a part was lost.
 *
 * The sender numbers vectors from 1 in each session, and tells the differences to the one before. The receiver has a
 * vector when it had the one before and all parts came; else it asks for a whole one. No vector is ever put together
 * from two.
 */
#ifndef RM_STANDBY_LINK_VECTORS_H
#define RM_STANDBY_LINK_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "standby/link/message.h"

/** What takes messages to be sent. */
struct rm_peer_emitter {
    void (*emit)(void *context, struct rm_peer_message const *message);
    void *context;
};

struct rm_peer_vector_out {
    uint16_t actuators;
    /** As sent last. */
    double *value;
    uint64_t number;
    /** There is one. */
    bool known;
    /** The next one is told whole. */
    bool whole;
};

struct rm_peer_vector_in {
    uint16_t actuators;
    double *value;
    /** The newest whole vector here, and the one that is coming: its parts so far. */
    uint64_t number, coming;
    uint32_t parts;
    /** One was lost: a whole one is to be asked for. */
    bool wants;
};

/** Of so many actuators, up to RM_PEER_PARTS × RM_PEER_VECTOR_VALUES. False without memory. */
bool rm_peer_vector_out_make(struct rm_peer_vector_out *out, uint32_t actuators);
bool rm_peer_vector_in_make(struct rm_peer_vector_in *in, uint32_t actuators);
void rm_peer_vector_out_free(struct rm_peer_vector_out *out);
void rm_peer_vector_in_free(struct rm_peer_vector_in *in);

/** A session begins. */
void rm_peer_vector_out_begin(struct rm_peer_vector_out *out);
void rm_peer_vector_in_begin(struct rm_peer_vector_in *in);

/** Sends a vector, at least one message of it: so its turn is known where no value has changed. */
void rm_peer_vector_send(struct rm_peer_vector_out *out, enum rm_peer_vector_of of, double const *value, rm_turn turn,
                         struct rm_peer_emitter const *emitter);

/** Takes a part. True when the vector is whole, in in->value, and newer than what was there. */
bool rm_peer_vector_take(struct rm_peer_vector_in *in, struct rm_peer_vector const *part);

#endif
