// SPDX-License-Identifier: Apache-2.0
#include "sealer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/background.h"
#include "base/fail.h"
#include "folder.h"
#include "regroup.h"

static uint64_t thread_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void seal_job_regroup(struct rm_seal_job *job) {
    uint64_t const begun_ns = thread_ns(), plain_bytes = job->sealed.bytes;
    job->code = rm_regroup(job->disk, job->file.path, job->compress, &job->sealed, &job->error);
    if (job->code != RM_OK)
        return;
    job->plain_bytes = plain_bytes;
    job->stored_bytes = job->sealed.bytes;
    job->store_ns = thread_ns() - begun_ns;
}

void rm_seal_job_do(struct rm_seal_job *job) {
    if (job->task == RM_SEAL_MAKE)
        job->file.handle = job->disk->ops->create(job->disk->state, job->file.path, job->file_bytes);
    if (job->task == RM_SEAL_REMOVE) {
        rm_log_forget_live(job->file.path);
        job->disk->ops->remove(job->disk->state, job->file.path);
    }
    if (job->task != RM_SEAL_SEAL)
        return;
    if (job->file.failed)
        job->code = rm_seal_found(job->disk, job->file.path, &job->sealed, &job->error);
    else
        job->code = rm_seal_known(job->disk, &job->file, &job->sealed, &job->error);
    free(job->file.place);
    job->file.place = NULL;
    if (job->code == RM_OK && job->by_object)
        seal_job_regroup(job);
}

static void sealer_append(struct rm_seal_job **list, struct rm_seal_job *job) {
    job->next = NULL;
    while (*list != NULL)
        list = &(*list)->next;
    *list = job;
}

static void *sealer_run(void *argument) {
    struct rm_sealer *sealer = argument;
    rm_background_enter();
    pthread_mutex_lock(&sealer->mutex);
    while (sealer->todo != NULL || !sealer->ending) {
        struct rm_seal_job *job = sealer->todo;
        if (job == NULL) {
            pthread_cond_wait(&sealer->wanted, &sealer->mutex);
            continue;
        }
        sealer->todo = job->next;
        pthread_mutex_unlock(&sealer->mutex);
        rm_seal_job_do(job);
        pthread_mutex_lock(&sealer->mutex);
        sealer_append(&sealer->done, job);
        --sealer->waiting;
    }
    pthread_mutex_unlock(&sealer->mutex);
    return NULL;
}

enum rm_code rm_sealer_start(struct rm_sealer *sealer, struct rm_error *error) {
    *sealer = (struct rm_sealer){.started = false};
    pthread_mutex_init(&sealer->mutex, NULL);
    pthread_cond_init(&sealer->wanted, NULL);
    int const result = pthread_create(&sealer->thread, NULL, sealer_run, sealer);
    if (result != 0)
        return rm_fail(error, RM_E_SYSTEM, "no thread: %s", strerror(result));
    sealer->started = true;
    pthread_setname_np(sealer->thread, "rm-seal");
    return RM_OK;
}

void rm_sealer_stop(struct rm_sealer *sealer) {
    if (!sealer->started)
        return;
    pthread_mutex_lock(&sealer->mutex);
    sealer->ending = true;
    pthread_cond_signal(&sealer->wanted);
    pthread_mutex_unlock(&sealer->mutex);
    pthread_join(sealer->thread, NULL);
    sealer->started = false;
}

void rm_sealer_add(struct rm_sealer *sealer, struct rm_seal_job *job) {
    pthread_mutex_lock(&sealer->mutex);
    if (job->task == RM_SEAL_MAKE) { /* a log waits for it */
        job->next = sealer->todo;
        sealer->todo = job;
    } else {
        sealer_append(&sealer->todo, job);
    }
    ++sealer->waiting;
    pthread_cond_signal(&sealer->wanted);
    pthread_mutex_unlock(&sealer->mutex);
}

struct rm_seal_job *rm_sealer_take(struct rm_sealer *sealer) {
    pthread_mutex_lock(&sealer->mutex);
    struct rm_seal_job *job = sealer->done;
    if (job != NULL)
        sealer->done = job->next;
    pthread_mutex_unlock(&sealer->mutex);
    return job;
}

unsigned rm_sealer_waiting(struct rm_sealer *sealer) {
    pthread_mutex_lock(&sealer->mutex);
    unsigned const waiting = sealer->waiting;
    pthread_mutex_unlock(&sealer->mutex);
    return waiting;
}
