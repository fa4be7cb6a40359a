// SPDX-License-Identifier: Apache-2.0
#include "standby/link/session.h"

#include <string.h>

void rm_peer_session_make(struct rm_peer_session *session) { session->offer = session->draw(session->context); }

static void session_begin(struct rm_peer_session *session, uint64_t peer) {
    session->mine = session->offer;
    session->peer = peer;
    session->offer = session->draw(session->context);
    session->up = true;
    session->sent = session->newest = 0;
    memset(session->came, 0, sizeof session->came);
}

static uint64_t *session_word(struct rm_peer_session *session, uint64_t sequence, uint64_t *bit) {
    *bit = 1ull << sequence % 64;
    return &session->came[sequence % RM_PEER_WINDOW / 64];
}

/** Moves the window up to `sequence`. Those that it passes have not come so far. */
static void session_advance(struct rm_peer_session *session, uint64_t sequence) {
    uint64_t const step = sequence - session->newest;
    session->lost += session->newest == 0 ? 0 : step - 1;
    if (step >= RM_PEER_WINDOW)
        memset(session->came, 0, sizeof session->came);
    else
        for (uint64_t i = session->newest + 1; i <= sequence; ++i) {
            uint64_t bit;
            uint64_t *const word = session_word(session, i, &bit);
            *word &= ~bit;
        }
    session->newest = sequence;
}

/** True for a sequence that has not come; it has then. */
static bool session_takes(struct rm_peer_session *session, uint64_t sequence) {
    if (sequence == 0 || (sequence <= session->newest && session->newest - sequence >= RM_PEER_WINDOW))
        return false;
    bool const is_new = sequence > session->newest;
    if (is_new)
        session_advance(session, sequence);
    uint64_t bit;
    uint64_t *const word = session_word(session, sequence, &bit);
    if (*word & bit)
        return false;
    *word |= bit;
    if (!is_new) {
        ++session->reordered;
        session->lost -= session->lost > 0;
    }
    return true;
}

enum rm_peer_judged rm_peer_session_judge(struct rm_peer_session *session, struct rm_peer_datagram const *datagram,
                                          bool is_hello) {
    bool const ours = session->up && datagram->from == session->peer && datagram->to == session->mine;
    if (ours)
        return session_takes(session, datagram->sequence) ? RM_PEER_OURS : RM_PEER_REPEATED;
    bool const is_own = datagram->from == session->offer || (session->up && datagram->from == session->mine);
    if (!is_hello || is_own || datagram->from == 0)
        return RM_PEER_FOREIGN;
    if (datagram->to != session->offer)
        return RM_PEER_GREETS;
    session_begin(session, datagram->from);
    if (datagram->sequence > 0) // of the session already: the greeting that began it at the peer was lost here
        session_takes(session, datagram->sequence);
    return RM_PEER_BEGINS;
}
