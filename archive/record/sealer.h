// SPDX-License-Identifier: Apache-2.0
/** The thread that seals files which are full, beside the one that records: what it does waits for the disk. */
#ifndef RM_RECORD_SEALER_H
#define RM_RECORD_SEALER_H

#include <pthread.h>
#include <stdbool.h>

#include "seal.h"

/** A file to be sealed, and what came of it. */
struct rm_seal_job {
    struct rm_seal_job *next;
    struct rm_disk *disk;
    struct rm_log_file file;
    /** Number of the log, for the one who asks for it. */
    unsigned log;
    /** How it is stored anew: enum rm_record_compress; and whether its blocks are put together by object. */
    unsigned compress;
    bool by_object;

    enum rm_code code;
    struct rm_error error;
    struct rm_sealed sealed;
    /** Bytes before and after it was stored anew, and the time of a core that it took; 0: it was not. */
    uint64_t plain_bytes, stored_bytes, store_ns;
};

struct rm_sealer {
    pthread_t thread;
    bool started;
    pthread_mutex_t mutex;
    pthread_cond_t wanted;
    bool ending;
    /** To be done, and done; the oldest first. */
    struct rm_seal_job *todo, *done;
    unsigned waiting;
};

enum rm_code rm_sealer_start(struct rm_sealer *sealer, struct rm_error *error);
/** Does what waits, and ends. Jobs that are done can be taken afterwards. */
void rm_sealer_stop(struct rm_sealer *sealer);

/** Hands a job over: memory of its own. */
void rm_sealer_add(struct rm_sealer *sealer, struct rm_seal_job *job);
/** A job that is done, for the caller to free, or NULL. */
struct rm_seal_job *rm_sealer_take(struct rm_sealer *sealer);
/** Jobs that wait, or are being done. */
unsigned rm_sealer_waiting(struct rm_sealer *sealer);

/** Does a job at once. */
void rm_seal_job_do(struct rm_seal_job *job);

#endif
