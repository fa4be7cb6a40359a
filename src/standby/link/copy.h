// SPDX-License-Identifier: Apache-2.0
/** A copy of many bytes over the link: an application's state, the text of a configuration.
 *
 * The receiver asks. The sender offers: a number, a size, a sum. Then the receiver asks for the chunks that it misses,
 * some at a time, until all are there, and holds them against the sum. So whatever is lost is asked for again, a cut
 * only holds the copy up, and where the sender offers another number meanwhile, it begins anew.
 */
#ifndef RM_STANDBY_LINK_COPY_H
#define RM_STANDBY_LINK_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "standby/link/vectors.h"

enum {
    /** Most bytes of a copy. */
    RM_PEER_COPY_BYTES_MAX = 64 << 20,
    /** Chunks that are asked for at a time. */
    RM_PEER_COPY_CHUNKS = 64,
};

/** What is sent. The bytes are this struct's. */
struct rm_peer_copy_out {
    struct rm_peer_offer offer;
    uint8_t *bytes;
    size_t room;
};

struct rm_peer_copy_in {
    /** Its `id` is 0 while there is none. */
    struct rm_peer_offer offer;
    uint32_t chunks, come;
    /** Chunk before which all are there. */
    uint32_t next;
    uint8_t *bytes;
    bool *here;
    size_t room;
    /** All chunks are there, and come to the sum. */
    bool whole;
};

/** Room for so many bytes in `out->bytes`. False without memory, or beyond RM_PEER_COPY_BYTES_MAX. */
bool rm_peer_copy_room(struct rm_peer_copy_out *out, size_t bytes);
void rm_peer_copy_out_free(struct rm_peer_copy_out *out);

/** Offers what is in `out->bytes`: `out->offer` has all but the sum. */
void rm_peer_copy_offer(struct rm_peer_copy_out *out, struct rm_peer_emitter const *emitter);

/** Sends the chunks that are wanted; nothing where it is of another copy. Returns how many bytes. */
size_t rm_peer_copy_answer(struct rm_peer_copy_out const *out, struct rm_peer_want const *want,
                           struct rm_peer_emitter const *emitter);

void rm_peer_copy_in_free(struct rm_peer_copy_in *in);

/** Takes an offer of at most `capacity` bytes. True when its chunks are to be asked for: it is another one than before.
 */
bool rm_peer_copy_begin(struct rm_peer_copy_in *in, struct rm_peer_offer const *offer, uint64_t capacity);

/** Takes a chunk. True when it is one that was missing. */
bool rm_peer_copy_take(struct rm_peer_copy_in *in, struct rm_peer_chunk const *chunk);

/** Asks for the next chunks that are missing. */
void rm_peer_copy_ask(struct rm_peer_copy_in *in, struct rm_peer_emitter const *emitter);

/** There is none any more. */
void rm_peer_copy_end(struct rm_peer_copy_in *in);

#endif
