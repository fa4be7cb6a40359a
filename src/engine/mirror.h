// SPDX-License-Identifier: Apache-2.0
/** Mirrored networks: an instrument sends every datagram twice, over two networks, and either may lose.
 *
 * The first copy of a record is stored, the second dropped; that is the stream writer's doing, and the stream is whole
 * while one copy arrives. Here is the account of each network: what it brought first, second or twice, and what it has
 * not brought at all. A path remembers which of the last RM_MIRROR_RECORDS records its network has brought.
 */
#ifndef RM_ENGINE_MIRROR_H
#define RM_ENGINE_MIRROR_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>

#include "fabric/stream_writer.h"

enum {
    /** Records that are remembered: the longest late window, and what comes while it is reconciled. */
    RM_MIRROR_RECORDS = 2 * RM_PRESENCE_TURNS,
};

/** One network's half of a mirrored instrument. Used by one thread. */
struct rm_mirror_path {
    /** Counters of the set "path". */
    rm_counter *counters;
    /** RM_MIRROR_RECORDS bits, by record number. */
    uint64_t *presence;
    /** Record number up to which bits are kept; 0 while `begun` is false. */
    uint64_t newest;
    /** Records below this number are counted in `lost`, or came. */
    uint64_t reconciled;

    uint64_t lost;
    bool begun;
};

/** Allocates the memory of the records seen; false when there is none. */
bool rm_mirror_path_init(struct rm_mirror_path *path, rm_counter *counters);
void rm_mirror_path_free(struct rm_mirror_path *path);

/** Notes that this network brought record `number` = turn / period, and what became of it. Returns true when it is a
 * duplicate that this network alone has made; false for a second copy, and for a first one. */
bool rm_mirror_path_note(struct rm_mirror_path *path, uint64_t number, enum rm_put put);

/** Reconciles the account up to record `number`, which is behind the stream's head by the late window. */
void rm_mirror_path_reconcile(struct rm_mirror_path *path, uint64_t number);

/** A new turn-counter epoch: record numbers begin anew, counts go on. */
void rm_mirror_path_restart(struct rm_mirror_path *path);

#endif
