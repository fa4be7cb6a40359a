// SPDX-License-Identifier: Apache-2.0
/** A session of two processes, and which datagrams are of it: recorded ones of another session are not.
 *
 *     a                                         b
 *     HELLO from A to 0       ──────────▶       it offers B, which it drew at random
 *     it has session (A, B)   ◀──────────       HELLO from B to A
 *     HELLO from A to B       ──────────▶       it has session (B, A)
 *
 * Each side draws an *offer*, a random number that was never used. Only the other side's answer to that very offer
 * makes a session of it, and then the next offer is drawn. So an answer proves that its sender lives and has the key,
 * and nothing that was recorded makes a session. Within one, each sequence is taken once, in any order within a window.
 * A session lasts, whatever is lost, until the peer answers another offer: it was started anew.
 */
#ifndef RM_STANDBY_LINK_SESSION_H
#define RM_STANDBY_LINK_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "standby/link/datagram.h"

enum {
    /** Sequences behind the newest in which a datagram may still come. A power of two. */
    RM_PEER_WINDOW = 4096,
};

struct rm_peer_session {
    /** Draws a number that nobody can guess. Never 0. */
    uint64_t (*draw)(void *context);
    void *context;

    /** For the session that is to come. */
    uint64_t offer;
    /** There is a session, of these two numbers. */
    bool up;
    uint64_t mine, peer;
    /** Sequence of the newest datagram that was sent. */
    uint64_t sent;
    /** The newest that came, and a bit for each of the last RM_PEER_WINDOW. */
    uint64_t newest;
    uint64_t came[RM_PEER_WINDOW / 64];
    /** Sequences that did not come before a newer one did, less those that came then. */
    uint64_t lost, reordered;
};

/** What a datagram is to a session. */
enum rm_peer_judged {
    /** Of the session: to be obeyed. */
    RM_PEER_OURS,
    /** A HELLO that makes a session, which has begun: to be obeyed. */
    RM_PEER_BEGINS,
    /** A HELLO to an offer that we do not make: answer it with a HELLO from our offer, to its `from`. */
    RM_PEER_GREETS,
    /** It came before, or is too old to tell. */
    RM_PEER_REPEATED,
    /** Of another session, or our own that comes back to us. */
    RM_PEER_FOREIGN,
};

/** `draw` and `context` are set. */
void rm_peer_session_make(struct rm_peer_session *session);

/** Judges a datagram whose tag is right. */
enum rm_peer_judged rm_peer_session_judge(struct rm_peer_session *session, struct rm_peer_datagram const *datagram,
                                          bool is_hello);

#endif
