// SPDX-License-Identifier: Apache-2.0
#include "capture/capture.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <pthread.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/background.h"
#include "base/fail.h"
#include "base/timebase.h"
#include "base/zeroed.h"

enum {
    FILE_HEADER_BYTES = 24,
    FRAME_HEADER_BYTES = 16,
    PATH_BYTES = 1024,
    REST_NS = 1000000,
    ANCHOR_READINGS = 3,
};

struct rm_capture {
    char path[PATH_BYTES];
    double ns_per_tick;
    uint64_t file_bytes;

    pcap_t *pcap;
    pcap_dumper_t *dumper;
    pthread_t thread;
    atomic_bool ending;
    /** Why the disk has refused a frame; 0: it has not. */
    int refusal;
    /** The last stamp: time does not go back in the file, whatever a clock does. */
    uint64_t last_ns;
    /** A frame did not fit into the file: no later one is written, as nobody could tell what is missing between. */
    bool ended;
    /** Frames and their bytes that the kernel has not been given yet. */
    uint64_t pending, pending_bytes;
    /** A moment by both clocks. */
    uint64_t anchor_tsc, anchor_ns;

    _Atomic uint64_t written, bytes, file_full;

    uint32_t ring_count;
    struct rm_capture_ring ring[];
};

static void capture_add(_Atomic uint64_t *count, uint64_t amount) {
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + amount, memory_order_relaxed);
}

/** Reads both clocks, a few times: the core may have been taken away in between, so the quickest reading counts. */
static void capture_anchor(struct rm_capture *capture) {
    uint64_t quickest = UINT64_MAX;
    for (int i = 0; i < ANCHOR_READINGS; ++i) {
        struct timespec now;
        uint64_t const before = rm_tsc();
        clock_gettime(CLOCK_REALTIME, &now);
        uint64_t const took = rm_tsc() - before;
        if (took >= quickest)
            continue;
        quickest = took;
        capture->anchor_tsc = before + took / 2;
        capture->anchor_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    }
}

static uint64_t capture_utc_ns(struct rm_capture *capture, uint64_t tsc) {
    double const since_ns = (double)(int64_t)(tsc - capture->anchor_tsc) * capture->ns_per_tick;
    uint64_t const utc_ns = capture->anchor_ns + (uint64_t)(int64_t)since_ns;
    if (utc_ns > capture->last_ns)
        capture->last_ns = utc_ns;
    return capture->last_ns;
}

static void capture_write(struct rm_capture *capture, struct rm_capture_record const *record) {
    uint64_t const bytes = FRAME_HEADER_BYTES + record->length;
    uint64_t const given = atomic_load_explicit(&capture->bytes, memory_order_relaxed);
    capture->ended |= given + capture->pending_bytes + bytes > capture->file_bytes;
    if (capture->ended) {
        capture_add(&capture->file_full, 1);
        return;
    }
    uint64_t const utc_ns = capture_utc_ns(capture, record->tsc);
    struct pcap_pkthdr const header = {
        .ts = {.tv_sec = (time_t)(utc_ns / 1000000000u), .tv_usec = (suseconds_t)(utc_ns % 1000000000u)},
        .caplen = record->length,
        .len = record->length,
    };
    pcap_dump((u_char *)capture->dumper, &header, (u_char const *)(record + 1));
    ++capture->pending;
    capture->pending_bytes += bytes;
}

/** Gives what was written to the kernel. Where that goes wrong, the file ends with the last frame that was given to it
 * before. */
static void capture_flush(struct rm_capture *capture) {
    if (capture->refusal != 0)
        return;
    FILE *const file = pcap_dump_file(capture->dumper);
    errno = EIO; /* where a write before this flush has failed, nobody has kept why */
    bool const good = pcap_dump_flush(capture->dumper) == 0 && ferror(file) == 0;
    if (good) {
        capture_add(&capture->written, capture->pending);
        capture_add(&capture->bytes, capture->pending_bytes);
    } else {
        capture->refusal = errno;
        capture->ended = true;
        capture_add(&capture->file_full, capture->pending);
        __fpurge(file);
        if (ftruncate(fileno(file), (off_t)atomic_load_explicit(&capture->bytes, memory_order_relaxed)) != 0)
            capture->refusal = errno;
    }
    capture->pending = capture->pending_bytes = 0;
}

/** The ring whose first record is the earliest, and that record; NULL when all are empty. */
static struct rm_capture_ring *capture_earliest(struct rm_capture *capture, struct rm_capture_record const **record) {
    struct rm_capture_ring *earliest = NULL;
    for (uint32_t i = 0; i < capture->ring_count; ++i) {
        struct rm_capture_record const *const first = rm_capture_ring_first(&capture->ring[i]);
        if (first == NULL || (earliest != NULL && (int64_t)(first->tsc - (*record)->tsc) >= 0))
            continue;
        earliest = &capture->ring[i];
        *record = first;
    }
    return earliest;
}

static bool capture_write_all(struct rm_capture *capture) {
    struct rm_capture_ring *ring;
    struct rm_capture_record const *record;
    capture_anchor(capture);
    bool any = false;
    while ((ring = capture_earliest(capture, &record)) != NULL) {
        capture_write(capture, record);
        rm_capture_ring_next(ring, record);
        any = true;
    }
    if (any)
        capture_flush(capture);
    return any;
}

static void *capture_run(void *made) {
    struct rm_capture *const capture = made;
    rm_background_enter();
    while (!atomic_load_explicit(&capture->ending, memory_order_acquire))
        if (!capture_write_all(capture))
            nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
    capture_write_all(capture);
    return NULL;
}

static enum rm_code capture_open(struct rm_capture *capture, struct rm_capture_plan const *plan,
                                 struct rm_error *error) {
    FILE *const file = fopen(plan->path, "wbe");
    if (file == NULL)
        return rm_fail(error, RM_E_SYSTEM, "%s: the capture cannot be written: %s", plan->path, strerror(errno));
    capture->pcap =
        pcap_open_dead_with_tstamp_precision(DLT_EN10MB, (int)plan->longest_frame, PCAP_TSTAMP_PRECISION_NANO);
    if (capture->pcap != NULL)
        capture->dumper = pcap_dump_fopen(capture->pcap, file);
    if (capture->dumper == NULL || pcap_dump_flush(capture->dumper) != 0) {
        if (capture->dumper == NULL)
            fclose(file);
        return rm_fail(error, RM_E_SYSTEM, "%s: the capture cannot be written: %s", plan->path,
                       capture->dumper != NULL ? strerror(errno)
                       : capture->pcap != NULL ? pcap_geterr(capture->pcap)
                                               : "no memory");
    }
    return RM_OK;
}

static enum rm_code capture_make_rings(struct rm_capture *capture, uint64_t bytes, struct rm_error *error) {
    for (uint32_t i = 0; i < capture->ring_count; ++i) {
        struct rm_capture_ring *const ring = &capture->ring[i];
        ring->bytes = aligned_alloc(64, bytes);
        if (ring->bytes == NULL)
            return rm_fail(error, RM_E_NO_SPACE, "no memory for a capture's ring of %llu bytes",
                           (unsigned long long)bytes);
        memset(ring->bytes, 0, bytes); /* its pages are there before the core writes */
        ring->mask = bytes - 1;
    }
    return RM_OK;
}

static void capture_free(struct rm_capture *capture) {
    if (capture->dumper != NULL)
        pcap_dump_close(capture->dumper);
    if (capture->pcap != NULL)
        pcap_close(capture->pcap);
    for (uint32_t i = 0; i < capture->ring_count; ++i)
        free(capture->ring[i].bytes);
    free(capture);
}

enum rm_code rm_capture_start(struct rm_capture_plan const *plan, struct rm_capture **made, struct rm_error *error) {
    struct rm_capture *const capture =
        rm_zeroed(1, sizeof *capture + plan->ring_count * sizeof(struct rm_capture_ring));
    if (capture == NULL || strlen(plan->path) >= sizeof capture->path) {
        free(capture);
        return rm_fail(error, RM_E_ARGUMENT, "no capture to \"%s\": no memory, or a path of more than %d bytes",
                       plan->path, PATH_BYTES - 1);
    }
    capture->ns_per_tick = 1e9 / plan->tsc_hz;
    capture->file_bytes = plan->file_bytes != 0 ? plan->file_bytes : RM_CAPTURE_FILE_BYTES;
    capture->bytes = FILE_HEADER_BYTES;
    capture->ring_count = plan->ring_count;
    strcpy(capture->path, plan->path);
    enum rm_code code =
        capture_make_rings(capture, plan->ring_bytes != 0 ? plan->ring_bytes : RM_CAPTURE_RING_BYTES, error);
    if (code == RM_OK)
        code = capture_open(capture, plan, error);
    if (code == RM_OK && pthread_create(&capture->thread, NULL, capture_run, capture) != 0)
        code = rm_fail(error, RM_E_SYSTEM, "%s: no thread for the capture", plan->path);
    if (code != RM_OK) {
        capture_free(capture);
        return code;
    }
    *made = capture;
    return RM_OK;
}

struct rm_capture_ring *rm_capture_ring_of(struct rm_capture *capture, uint32_t core) {
    return &capture->ring[core];
}

void rm_capture_count(struct rm_capture const *capture, struct rm_capture_counts *counts) {
    *counts = (struct rm_capture_counts){
        .written = atomic_load_explicit(&capture->written, memory_order_relaxed),
        .bytes = atomic_load_explicit(&capture->bytes, memory_order_relaxed),
        .file_full = atomic_load_explicit(&capture->file_full, memory_order_relaxed),
    };
    for (uint32_t i = 0; i < capture->ring_count; ++i)
        counts->ring_full += atomic_load_explicit(&capture->ring[i].full, memory_order_relaxed);
}

enum rm_code rm_capture_stop(struct rm_capture *capture, struct rm_capture_counts *counts, struct rm_error *error) {
    atomic_store_explicit(&capture->ending, true, memory_order_release);
    pthread_join(capture->thread, NULL);
    rm_capture_count(capture, counts);
    enum rm_code code = RM_OK;
    if (capture->refusal != 0)
        code = rm_fail(error, RM_E_SYSTEM, "%s: the capture ends early: %s", capture->path, strerror(capture->refusal));
    capture_free(capture);
    return code;
}
