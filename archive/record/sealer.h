// SPDX-License-Identifier: Apache-2.0
/** The thread that makes files, seals those that are full, and removes old ones, beside the one that records: all of
 * that waits for the disk. */
#ifndef RM_RECORD_SEALER_H
#define RM_RECORD_SEALER_H

#include <pthread.h>
#include <stdbool.h>

#include "seal.h"

/** What is to be done with a file. */
enum rm_seal_task { RM_SEAL_SEAL, RM_SEAL_MAKE, RM_SEAL_REMOVE };

/** A file to be sealed, or made for later, or removed; and what came of it. */
struct rm_seal_job {
    struct rm_seal_job *next;
    enum rm_seal_task task;
    struct rm_disk *disk;
    /** Of the tasks other than sealing only its path and, when it was made, its handle or a negative errno. */
    struct rm_log_file file;
    /** Of a file that is made. */
    uint64_t file_bytes;
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
