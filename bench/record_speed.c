// SPDX-License-Identifier: Apache-2.0
/** How fast the recorder writes: eight streams in private memory, which have every turn that is asked for, or frames of
 * eight cameras, followed into one log on a disk, with all that the recorder does (checks of each record, checksums,
 * syncs, files one after the other, their sealing), on one core. Prints JSON. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "archive/record/disk_uring.h"
#include "archive/record/follow.h"
#include "archive/record/sealer.h"
#include "base/large_pages.h"
#include "base/options.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "fabric/stream_writer.h"
#include "record_speed_images.h"

enum {
    STREAMS = 8,
    /** 16 MiB of each, 128 MiB of all: more than any cache has, so that it is read from memory as in real life. */
    RECORDS = 1 << 18,
    MARGIN = 1024,
    LATE_TURNS = 1024,
    BUFFER_BYTES = 4 << 20,
    FILE_BYTES = 256 << 20,
    IMAGE_FILE_BYTES = 1 << 30,
    FLUSH_NS = 400 * 1000 * 1000,
    BLOCK_RECORDS = 4096,
    /** Where nothing has come it looks again so soon, as the recorder does. */
    IDLE_NS = 1000 * 1000,
    DONE_MOST = 64,
};

static char const USAGE[] =
    "Usage: ringmaster-record-speed FOLDER [--seconds S] [--core N] [--images]\n"
    "Writes an archive's files into FOLDER as fast as it goes, and removes them. Prints JSON.\n";

struct speed {
    struct rm_stream *stream[STREAMS];
    struct rm_follow follow[STREAMS];
    struct rm_archived_object object[STREAMS];
    /** NULL: streams. */
    struct speed_images *images;
    struct rm_archive_identity identity;
    struct rm_disk disk;
    struct rm_sealer sealer;
    struct rm_log log;
    struct rm_record_moment moment;
    uint64_t files;
};

static void speed_fail(struct rm_error const *error) {
    fprintf(stderr, "ringmaster-record-speed: %s\n", error->text);
    exit(EXIT_FAILURE);
}

static void *speed_memory(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        speed_fail(&(struct rm_error){.text = "no memory"});
    return memory;
}

static void speed_done_with(void *context, struct rm_log *log, struct rm_log_file const *file) {
    struct speed *speed = context;
    struct rm_seal_job *job = calloc(1, sizeof *job);
    (void)log;
    if (job == NULL)
        speed_fail(&(struct rm_error){.text = "no memory"});
    job->disk = &speed->disk;
    job->file = *file;
    rm_sealer_add(&speed->sealer, job);
}

static bool speed_prepare(void *context, struct rm_log *log, uint64_t number) {
    struct speed *speed = context;
    struct rm_seal_job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return false;
    job->task = RM_SEAL_MAKE;
    job->disk = &speed->disk;
    job->file_bytes = log->file_bytes;
    rm_log_file_path(job->file.path, log->folder, number);
    rm_sealer_add(&speed->sealer, job);
    return true;
}

static bool speed_make_room(void *context, struct rm_log *log, uint64_t bytes) {
    (void)context;
    (void)log;
    (void)bytes;
    return true;
}

/** A stream that has been filled once, and whose every turn stays there. */
static struct rm_stream *speed_stream(void) {
    size_t const offset = RM_PAGE_BYTES;
    struct rm_stream *stream = speed_memory(offset + RECORDS * sizeof(struct rm_slot));
    struct rm_stream_writer writer;
    stream->slots_offset = offset;
    stream->capacity = RECORDS;
    stream->margin = MARGIN;
    stream->period = 1;
    stream->lane_count = RM_LANES;
    atomic_store_explicit(&stream->head, RM_TURN_NONE, memory_order_relaxed);
    atomic_store_explicit(&stream->first, RM_TURN_NONE, memory_order_relaxed);
    struct rm_slot *slot = (struct rm_slot *)(void *)((uint8_t *)stream + offset);
    for (size_t i = 0; i < RECORDS; ++i)
        atomic_store_explicit(&slot[i].word[0], RM_TURN_NONE, memory_order_relaxed);
    if (!rm_stream_writer_open(&writer, stream, LATE_TURNS))
        speed_fail(&(struct rm_error){.text = "no memory"});
    for (uint64_t turn = 0; turn < RECORDS - MARGIN; ++turn) {
        struct rm_record record = {.turn = turn, .tag = turn};
        for (unsigned lane = 0; lane < RM_LANES; ++lane)
            record.lane[lane].i = (int32_t)(turn * (lane + 1));
        rm_stream_writer_put(&writer, &record);
        if (turn % (MARGIN / 2) == 0)
            rm_stream_writer_publish(&writer, 1);
    }
    rm_stream_writer_publish(&writer, 1);
    rm_stream_writer_close(&writer);
    return stream;
}

static void speed_streams(struct speed *speed) {
    for (unsigned s = 0; s < STREAMS; ++s) {
        struct rm_stream *stream = speed->stream[s] = speed_stream();
        speed->object[s] = (struct rm_archived_object){.kind = RM_BLOCK_RECORDS,
                                                       .record_bytes = sizeof(struct rm_record),
                                                       .period_turns = 1,
                                                       .lane_count = RM_LANES};
        snprintf(speed->object[s].name, sizeof speed->object[s].name, "bpm%02u/turn", s + 1);
        speed->follow[s] = (struct rm_follow){
            .view = {.header = stream,
                     .slot = (struct rm_slot *)(void *)((uint8_t *)stream + stream->slots_offset),
                     .mask = RECORDS - 1,
                     .period = 1},
            .log = &speed->log,
            .object = s,
            .block_records = BLOCK_RECORDS,
            .head = RM_TURN_NONE,
        };
    }
}

static void speed_log(struct speed *speed, char const *folder, bool images) {
    struct rm_log *log = &speed->log;
    struct iovec vector[RM_LOG_BUFFERS + 1];
    size_t const buffer_bytes = images ? SPEED_IMAGE_BUFFER_BYTES : BUFFER_BYTES;
    log->head_bytes = rm_log_head_bytes(STREAMS);
    uint8_t *memory = rm_large_pages_map(RM_LOG_BUFFERS * buffer_bytes + log->head_bytes);
    if (memory == NULL)
        speed_fail(&(struct rm_error){.text = "no memory"});
    snprintf(log->name, sizeof log->name, "%s", images ? "frames" : "turn");
    snprintf(log->folder, sizeof log->folder, "%s", folder);
    log->file_bytes = images ? IMAGE_FILE_BYTES : FILE_BYTES;
    log->file_ns = UINT64_MAX;
    log->next_number = 1;
    log->object = speed->object;
    log->object_count = STREAMS;
    log->disk = &speed->disk;
    log->identity = &speed->identity;
    log->owner = (struct rm_log_owner){speed, speed_done_with, speed_prepare, speed_make_room};
    log->buffer_bytes = buffer_bytes;
    for (unsigned b = 0; b < RM_LOG_BUFFERS; ++b) {
        log->buffer[b].data = memory + b * buffer_bytes;
        log->buffer[b].number = b;
        vector[b] = (struct iovec){log->buffer[b].data, buffer_bytes};
    }
    log->head = memory + RM_LOG_BUFFERS * buffer_bytes;
    log->head_number = RM_LOG_BUFFERS;
    vector[RM_LOG_BUFFERS] = (struct iovec){log->head, log->head_bytes};
    rm_disk_uring_buffers(&speed->disk, vector, RM_LOG_BUFFERS + 1);
    rm_log_open(log);
}

/** Takes what was done beside. Files stay until the end: removing is not writing, and on a disk that is told of free
 * sectors it holds writes up. */
static void speed_take_sealed(struct speed *speed) {
    for (struct rm_seal_job *job; (job = rm_sealer_take(&speed->sealer)) != NULL; free(job)) {
        if (job->task == RM_SEAL_MAKE)
            rm_log_prepared(&speed->log, job->file.handle);
        if (job->task != RM_SEAL_SEAL)
            continue;
        if (job->code != RM_OK)
            speed_fail(&job->error);
        ++speed->files;
    }
}

static void speed_reap(struct speed *speed, uint64_t wait_ns) {
    struct rm_disk_done done[DONE_MOST];
    int const count = speed->disk.ops->reap(speed->disk.state, done, DONE_MOST, wait_ns);
    for (int i = 0; i < count; ++i)
        rm_log_done(&speed->log, &done[i], speed->moment.now_ns);
}

static void speed_turn(struct speed *speed, uint64_t *flushed_ns) {
    uint64_t taken = 0;
    speed->moment.now_ns = rm_monotonic_ns();
    speed->moment.tai_ns = rm_tai_ns();
    speed_reap(speed, 0);
    if (speed->images != NULL)
        taken = speed_images_step(speed->images, &speed->moment);
    for (unsigned s = 0; speed->images == NULL && s < STREAMS; ++s) {
        struct rm_follow *follow = &speed->follow[s];
        if (follow->next + 2ul * BLOCK_RECORDS > RECORDS - MARGIN)
            follow->next = 4ul * MARGIN; /* round again, over what is there */
        taken += rm_follow_step(follow, &speed->moment, RM_FOLLOW_BLOCKS);
    }
    if (speed->moment.now_ns - *flushed_ns >= FLUSH_NS) {
        rm_log_flush(&speed->log);
        *flushed_ns = speed->moment.now_ns;
    }
    rm_log_work(&speed->log, speed->moment.now_ns, speed->moment.tai_ns);
    speed_take_sealed(speed);
    if (taken == 0)
        speed_reap(speed, IDLE_NS);
}

static double speed_cpu_s(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void speed_end(struct speed *speed) {
    rm_log_end_file(&speed->log);
    while (!rm_log_is_idle(&speed->log) || speed->log.preparing) {
        speed_take_sealed(speed);
        speed_reap(speed, IDLE_NS);
        rm_log_work(&speed->log, rm_monotonic_ns(), rm_tai_ns());
    }
}

int main(int argc, char **argv) {
    char const *folder = NULL;
    double seconds = 2;
    uint64_t core = UINT64_MAX, flushed_ns = 0;
    bool images = false;
    struct rm_option options[] = {
        {"FOLDER", &folder, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"seconds", &seconds, 0.01, 3600, .kind = RM_OPTION_NUMBER},
        {"core", &core, 0, RM_CORE_MOST, .kind = RM_OPTION_WHOLE},
        {"images", &images, .kind = RM_OPTION_FLAG},
    };
    rm_options_or_exit(argc, argv, USAGE, options, sizeof options / sizeof *options);
    struct speed *speed = calloc(1, sizeof *speed);
    struct rm_error error = {.text = "no memory"};
    if (speed == NULL || (core != UINT64_MAX && rm_pin((uint32_t)core, &error) != RM_OK) ||
        rm_disk_uring_open(&speed->disk, &error) != RM_OK || rm_sealer_start(&speed->sealer, &error) != RM_OK)
        speed_fail(&error);
    speed_log(speed, folder, images);
    if (!images)
        speed_streams(speed);
    else if (speed_images_open(&speed->log, speed->object, &speed->images, &error) != RM_OK)
        speed_fail(&error);
    double const cpu_s = speed_cpu_s();
    uint64_t const begun_ns = rm_monotonic_ns();
    while ((double)(rm_monotonic_ns() - begun_ns) < seconds * 1e9)
        speed_turn(speed, &flushed_ns);
    speed_end(speed); /* what is counted is on the disk */
    double const took_s = (double)(rm_monotonic_ns() - begun_ns) * 1e-9, used_s = speed_cpu_s() - cpu_s;
    rm_log_unprepare(&speed->log);
    rm_sealer_stop(&speed->sealer);
    speed_take_sealed(speed);
    for (uint64_t number = 1; number < speed->log.next_number; ++number) {
        char path[PATH_MAX];
        rm_log_file_path(path, folder, number);
        unlink(path);
    }
    struct rm_log_figures const *figures = &speed->log.figures;
    uint64_t lost = 0;
    for (unsigned s = 0; s < STREAMS; ++s)
        lost += speed->follow[s].missing;
    if (speed->images != NULL) {
        lost = speed_images_lost(speed->images);
        speed_images_close(speed->images);
    }
    printf("{\"bytes\": %llu, \"seconds\": %.6f, \"cpu_seconds\": %.6f, \"files\": %llu, \"errors\": %llu, "
           "\"missing\": %llu, \"block_bytes\": %zu}\n",
           (unsigned long long)figures->bytes, took_s, used_s, (unsigned long long)speed->files,
           (unsigned long long)figures->errors, (unsigned long long)lost, speed->log.buffer_bytes);
    return figures->errors == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
