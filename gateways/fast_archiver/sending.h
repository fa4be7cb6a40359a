// SPDX-License-Identifier: Apache-2.0
/** A subscription: what the client asked for, put together out of the frames that all share. */
#ifndef FA_SENDING_H
#define FA_SENDING_H

#include "client.h"

/** What became of it. */
enum fa_sent {
    /** The client has all there is. */
    FA_SENT_ALL,
    /** The socket takes no more just now. */
    FA_SENT_WAITS,
    /** There is more, after the others' turn. */
    FA_SENT_MORE,
    /** The client is behind by more than is kept, or by more time than it may be. */
    FA_SENT_TOO_SLOW,
    /** The client has gone. */
    FA_SENT_GONE,
    /** Frames are missing between two. */
    FA_SENT_GAP,
};

/** Begins a subscription: the first bytes of the answer, up to the first frame. False: `error` is the answer. */
bool fa_sending_begin(struct fa_sending *sending, struct fa_live const *live, char error[FA_ERROR_BYTES]);
void fa_sending_end(struct fa_sending *sending);

/** Sends what there is to a socket that does not block; some hundreds of kilobytes at most. */
enum fa_sent fa_sending_step(struct fa_sending *sending, struct fa_live const *live, int socket, uint64_t now_ns);

/** Frames in a block, at a rate: a tenth of a second of them, 128 at most. */
uint64_t fa_block_frames(double rate_hz);

#endif
