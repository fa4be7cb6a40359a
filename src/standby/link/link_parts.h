// SPDX-License-Identifier: Apache-2.0
/** The inside of peer_link.h. */
#ifndef RM_STANDBY_LINK_LINK_PARTS_H
#define RM_STANDBY_LINK_LINK_PARTS_H

#include "standby/link/peer_link.h"

enum { RM_PEER_MS = 1000000 };

/** Sends a message of the session. */
void rm_peer_link_emit(struct rm_peer_link *link, struct rm_peer_message const *message);

static inline bool rm_peer_link_is_active(struct rm_peer_link const *link) {
    return link->has_server && link->state.role == RM_STANDBY_ACTIVE;
}

/** How long an answer is waited for. */
static inline uint64_t rm_peer_link_wait_ns(struct rm_peer_link const *link) {
    return RM_PEER_MS + 2 * link->round_trip_ns;
}

static inline uint64_t rm_peer_link_cycle_ns(struct rm_peer_link const *link) {
    return (uint64_t)(link->setup.period_turns * 1e9 / link->setup.turn_rate_hz);
}

/* link_source.c: the active server's part. */
void rm_peer_source_begin(struct rm_peer_link *link);
void rm_peer_source_tick(struct rm_peer_link *link);
void rm_peer_source_status(struct rm_peer_link *link);
void rm_peer_source_repeat(struct rm_peer_link *link, struct rm_peer_repeat const *repeat);
void rm_peer_source_want(struct rm_peer_link *link, struct rm_peer_want const *want, uint64_t now_ns);

/* link_join.c: the standby's part. */
void rm_peer_join_begin(struct rm_peer_link *link);
void rm_peer_join_tick(struct rm_peer_link *link, uint64_t now_ns);
void rm_peer_join_vector(struct rm_peer_link *link, struct rm_peer_vector const *part);
void rm_peer_join_step(struct rm_peer_link *link, struct rm_peer_step const *part);
/** The active server's next STATUS, while link->status is the one before. */
void rm_peer_join_status(struct rm_peer_link *link, struct rm_peer_status const *next);
/** An application has made the steps that came, but for those of the last moment. */
bool rm_peer_join_follows(struct rm_peer_link const *link, uint32_t application);
/** Everything is here, but for what was lost on its way just now. */
bool rm_peer_join_is_whole(struct rm_peer_link const *link);

/* link_copy.c: copies that come. */
void rm_peer_copying_tick(struct rm_peer_link *link, uint64_t now_ns);
void rm_peer_copying_offer(struct rm_peer_link *link, struct rm_peer_offer const *offer, uint64_t now_ns);
void rm_peer_copying_chunk(struct rm_peer_link *link, struct rm_peer_chunk const *chunk, uint64_t now_ns);

/* link_switch.c */
void rm_peer_switch_tick(struct rm_peer_link *link, uint64_t now_ns);
void rm_peer_switch_take(struct rm_peer_link *link, struct rm_peer_switch const *exchange, uint64_t now_ns);

/* link_tell.c */
void rm_peer_tell(struct rm_peer_link *link, uint64_t now_ns);

#endif
