// SPDX-License-Identifier: Apache-2.0
#include "log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "archive/format/block.h"
#include "log_buffers.h"

enum { RETRY_NS = 1000000000 };

static size_t sectors(size_t bytes) { return (bytes + RM_DISK_ALIGNMENT - 1) & ~(size_t)(RM_DISK_ALIGNMENT - 1); }

size_t rm_log_head_bytes(uint32_t objects) {
    size_t const one = sizeof(struct rm_block) + rm_block_room(sizeof(struct rm_archived_object));
    return sectors(RM_LOG_HEADER_BYTES + objects * one + sizeof(struct rm_block));
}

void rm_log_open(struct rm_log *log) {
    for (unsigned f = 0; f < RM_LOG_FILES; ++f)
        log->file[f] = (struct rm_log_file){.handle = -1};
    log->open = NULL;
    log->head_file = NULL;
    log->preparing = false;
    log->prepared = -1;
    log->first_turn = RM_TURN_NONE;
    for (unsigned b = 0; b < RM_LOG_BUFFERS; ++b)
        log->buffer[b].state = RM_LOG_BUFFER_FREE;
}

/** The header, and what each object is, as the file begins. */
static void log_make_head(struct rm_log *log, struct rm_log_header const *header, struct rm_log_file *file) {
    memset(log->head, 0, log->head_bytes);
    memcpy(log->head, header, sizeof *header);
    size_t at = RM_LOG_HEADER_BYTES;
    for (uint32_t i = 0; i < log->object_count; ++i) {
        struct rm_block block = {
            .kind = RM_BLOCK_DESCRIPTION,
            .object = i,
            .count = 1,
            .stored_bytes = sizeof log->object[i],
            .plain_bytes = sizeof log->object[i],
            .first_turn = RM_TURN_NONE,
            .first_tai_ns = header->begun_tai_ns,
            .last_tai_ns = header->begun_tai_ns,
        };
        memcpy(log->head + at + sizeof block, &log->object[i], sizeof log->object[i]);
        rm_log_file_place(file, &block, log->head + at + sizeof block, at);
        memcpy(log->head + at, &block, sizeof block);
        at += rm_block_stride(&block);
    }
    rm_log_pad(log->head, &at, file, 0);
    file->at = at;
}

static void log_enter_trouble(struct rm_log *log, int error, uint64_t now_ns) {
    bool const is_full = error == ENOSPC || error == EDQUOT;
    log->trouble = is_full ? RM_MARK_DISK_FULL : RM_MARK_DISK_FAILED;
    log->trouble_error = error;
    log->retry_ns = now_ns + RETRY_NS;
    ++log->figures.errors;
}

/** Wants all of the file synced that was handed over. Records that wait for another file are not durable by that. */
static void log_want_sync(struct rm_log *log, struct rm_log_file *file) {
    file->sync_wanted = log->serial + (log->serial == 0);
    file->wanted_tai_ns = rm_log_oldest_ready(log) == NULL ? log->newest_tai_ns : 0;
}

/** A write or a sync of the file failed: it ends here, and what was not written goes to another one. What was wanted
 * counted on it: durable is what the next flush wants. */
static void log_fail(struct rm_log *log, struct rm_log_file *file, int error, uint64_t now_ns) {
    file->failed = true;
    log_want_sync(log, file);
    for (unsigned f = 0; f < RM_LOG_FILES; ++f)
        log->file[f].wanted_tai_ns = 0;
    if (log->open != file && log->open != NULL) { /* it has gone on in another file already */
        ++log->figures.errors;
        return;
    }
    log_enter_trouble(log, error, now_ns);
    log->open = NULL;
    for (unsigned b = 0; b < RM_LOG_BUFFERS; ++b)
        if (log->buffer[b].state == RM_LOG_BUFFER_FILLING && log->buffer[b].file == file)
            log->buffer[b].file = NULL;
}

static uint64_t log_tag(struct rm_log const *log, unsigned what) { return (uint64_t)log->index << 8 | what; }

static void log_submit(struct rm_log *log, struct rm_log_buffer *buffer, uint64_t now_ns) {
    struct rm_log_file *file = buffer->file;
    if (buffer->fill == 0) {
        buffer->state = RM_LOG_BUFFER_FREE;
        return;
    }
    rm_log_pad(buffer->data, &buffer->fill, file, buffer->offset);
    file->at = buffer->offset + buffer->fill;
    buffer->state = RM_LOG_BUFFER_IN_FLIGHT;
    buffer->serial = ++log->serial;
    ++file->in_flight;
    int const result = log->disk->ops->write(log->disk->state, file->handle, buffer->offset, buffer->data, buffer->fill,
                                             buffer->number, log_tag(log, (unsigned)(buffer - log->buffer)));
    if (result < 0)
        rm_log_done(log, &(struct rm_disk_done){log_tag(log, (unsigned)(buffer - log->buffer)), result}, now_ns);
}

/** Ends the filling of a buffer: to the disk, or put by while there is no file. */
static void log_hand_over(struct rm_log *log, struct rm_log_buffer *buffer, uint64_t now_ns) {
    if (buffer->file != NULL) {
        log_submit(log, buffer, now_ns);
    } else {
        buffer->state = RM_LOG_BUFFER_READY;
        buffer->serial = ++log->serial;
    }
}

static struct rm_log_file *log_free_file(struct rm_log *log) {
    for (unsigned f = 0; f < RM_LOG_FILES; ++f)
        if (log->file[f].handle < 0)
            return &log->file[f];
    return NULL;
}

static bool log_begin_file(struct rm_log *log, uint64_t now_ns, uint64_t tai_ns) {
    struct rm_log_file *file = log_free_file(log);
    struct rm_log_header header;
    if (file == NULL || log->head_file != NULL || log->preparing)
        return false;
    int result = -ENOSPC;
    if (log->prepared >= 0 || log->owner.make_room(log->owner.context, log, log->file_bytes))
        result = rm_log_file_create(file, log->disk, log->folder, log->name, log->prepared, log->next_number,
                                    log->file_bytes, log->identity, tai_ns, &header);
    log->prepared = -1;
    if (result < 0) {
        file->handle = -1;
        log_enter_trouble(log, -result, now_ns);
        return false;
    }
    ++log->next_number;
    log_make_head(log, &header, file);
    log->open = file;
    log->head_file = file;
    log->first_turn = RM_TURN_NONE;
    log->first_tai_ns = 0;
    ++file->in_flight;
    if (log->trouble != 0) {
        log->ended_trouble = log->trouble;
        log->ended_error = log->trouble_error;
        log->trouble = 0;
    }
    uint64_t const tag = log_tag(log, RM_LOG_TAG_HEAD);
    result = log->disk->ops->write(log->disk->state, file->handle, 0, log->head, file->at, log->head_number, tag);
    if (result < 0)
        rm_log_done(log, &(struct rm_disk_done){tag, result}, now_ns);
    return log->open != NULL;
}

void rm_log_end_file(struct rm_log *log) {
    struct rm_log_file *file = log->open;
    if (file == NULL)
        return;
    struct rm_log_buffer *buffer = rm_log_filling(log);
    if (buffer != NULL)
        log_hand_over(log, buffer, 0);
    log_want_sync(log, file);
    log->open = NULL;
}

/** Whether the next buffer must be another file's. */
static bool log_file_is_full(struct rm_log const *log, uint64_t tai_ns) {
    struct rm_log_file const *file = log->open;
    return file->at + log->buffer_bytes > file->limit ||
           file->place_count + log->buffer_bytes / sizeof(struct rm_block) / 2 > RM_LOG_BLOCKS_MAX ||
           (tai_ns > file->begun_tai_ns && tai_ns - file->begun_tai_ns > log->file_ns);
}

void *rm_log_room(struct rm_log *log, size_t least, size_t *bytes, uint64_t now_ns, uint64_t tai_ns) {
    struct rm_log_buffer *buffer = rm_log_filling(log);
    if (buffer != NULL && buffer->fill + sizeof(struct rm_block) + rm_block_room(least) > log->buffer_bytes) {
        log_hand_over(log, buffer, now_ns);
        buffer = NULL;
    }
    if (buffer == NULL) {
        buffer = rm_log_free_buffer(log);
        if (buffer != NULL && log->open != NULL && log_file_is_full(log, tai_ns))
            rm_log_end_file(log);
        if (buffer == NULL ||
            (log->open == NULL && log->trouble == 0 && !log_begin_file(log, now_ns, tai_ns) && log->trouble == 0)) {
            ++log->figures.stalls;
            return NULL;
        }
        buffer->state = RM_LOG_BUFFER_FILLING;
        buffer->fill = 0;
        buffer->records = 0;
        buffer->file = log->open;
        buffer->offset = log->open != NULL ? log->open->at : 0;
    }
    *bytes = log->buffer_bytes - buffer->fill - sizeof(struct rm_block);
    return buffer->data + buffer->fill + sizeof(struct rm_block);
}

void rm_log_append(struct rm_log *log, struct rm_block *block) {
    struct rm_log_buffer *buffer = rm_log_filling(log);
    uint8_t *at = buffer->data + buffer->fill;
    uint8_t *payload = at + sizeof *block;
    memset(payload + block->stored_bytes, 0, rm_block_room(block->stored_bytes) - block->stored_bytes);
    if (buffer->file != NULL)
        rm_log_file_place(buffer->file, block, payload, buffer->offset + buffer->fill);
    memcpy(at, block, sizeof *block);
    buffer->fill += rm_block_stride(block);
    bool const holds = rm_block_holds_records(block); /* a mark is newer than the records that are still to come */
    if (holds && block->last_tai_ns > log->newest_tai_ns)
        log->newest_tai_ns = block->last_tai_ns;
    if (holds && log->first_tai_ns == 0) {
        log->first_turn = block->first_turn;
        log->first_tai_ns = block->first_tai_ns;
    }
    ++log->figures.blocks;
    log->figures.bytes += rm_block_stride(block);
    uint64_t const records = holds ? block->count : 0;
    log->figures.records += records;
    buffer->records += records;
}

void rm_log_flush(struct rm_log *log) {
    struct rm_log_buffer *buffer = rm_log_filling(log);
    if (buffer != NULL && buffer->fill > 0 && buffer->file != NULL)
        log_submit(log, buffer, 0);
    if (log->open != NULL && log->serial > 0)
        log_want_sync(log, log->open);
}

/** What became of a buffer's write: free, or ready for another file. */
static void log_leave_buffer(struct rm_log_buffer *buffer, bool failed) {
    buffer->state = failed ? RM_LOG_BUFFER_READY : RM_LOG_BUFFER_FREE;
    buffer->file = NULL;
}

/** The same for all that was written behind a head. */
static void log_leave_headless(struct rm_log *log, struct rm_log_file const *file, bool failed) {
    for (unsigned b = 0; b < RM_LOG_BUFFERS; ++b)
        if (log->buffer[b].state == RM_LOG_BUFFER_HEADLESS && log->buffer[b].file == file)
            log_leave_buffer(&log->buffer[b], failed);
}

void rm_log_done(struct rm_log *log, struct rm_disk_done const *done, uint64_t now_ns) {
    unsigned const what = (unsigned)(done->tag & 0xFF);
    if ((what & RM_LOG_TAG_SYNC) != 0) {
        struct rm_log_file *file = &log->file[what & ~(unsigned)RM_LOG_TAG_SYNC];
        file->syncing = false;
        if (done->result < 0) {
            log_fail(log, file, (int)-done->result, now_ns);
            file->sync_wanted = 0; /* it is not tried again */
            return;
        }
        if (file->syncing_tai_ns > log->figures.durable_tai_ns)
            log->figures.durable_tai_ns = file->syncing_tai_ns;
        if (file->sync_wanted <= file->syncing_serial)
            file->sync_wanted = 0;
        return;
    }
    struct rm_log_buffer *buffer = what == RM_LOG_TAG_HEAD ? NULL : &log->buffer[what];
    struct rm_log_file *file = buffer != NULL ? buffer->file : &log->file[log->head_file - log->file];
    size_t const wanted = buffer != NULL ? buffer->fill : (size_t)done->result;
    --file->in_flight;
    bool const failed = done->result < 0 || (size_t)done->result != wanted || file->head_error != 0;
    if (buffer == NULL) {
        log->head_file = NULL;
        file->head_error = failed ? (int)-done->result : 0;
        log_leave_headless(log, file, failed);
    } else if (!failed && log->head_file == file) {
        buffer->state = RM_LOG_BUFFER_HEADLESS;
    } else {
        log_leave_buffer(buffer, failed);
    }
    int const error = done->result < 0 ? (int)-done->result : file->head_error;
    if (failed) /* a short write: the disk has no more */
        log_fail(log, file, error != 0 ? error : ENOSPC, now_ns);
}

/** The file's head, a write up to the one that is to be synced, or the sync of a file before it is under way: what is
 * durable has no gap. */
static bool log_awaits_others(struct rm_log const *log, struct rm_log_file const *file) {
    bool awaits = log->head_file == file;
    for (unsigned b = 0; b < RM_LOG_BUFFERS; ++b)
        awaits =
            awaits || (log->buffer[b].state == RM_LOG_BUFFER_IN_FLIGHT && log->buffer[b].serial <= file->sync_wanted);
    for (unsigned f = 0; f < RM_LOG_FILES; ++f)
        awaits =
            awaits || (log->file[f].handle >= 0 && log->file[f].number < file->number && log->file[f].sync_wanted != 0);
    return awaits;
}

static void log_sync(struct rm_log *log, struct rm_log_file *file, uint64_t now_ns) {
    if (file->sync_wanted == 0 || file->syncing || log_awaits_others(log, file))
        return;
    file->syncing = true;
    file->syncing_serial = file->sync_wanted;
    file->syncing_tai_ns = file->wanted_tai_ns;
    uint64_t const tag = log_tag(log, RM_LOG_TAG_SYNC | (unsigned)(file - log->file));
    int const result = log->disk->ops->sync(log->disk->state, file->handle, tag);
    if (result < 0)
        rm_log_done(log, &(struct rm_disk_done){tag, result}, now_ns);
}

/** Closes a file that is not written any more, when all of it has come to rest. */
static void log_close_ended(struct rm_log *log, struct rm_log_file *file) {
    if (file == log->open || file->syncing || file->in_flight > 0 || file->sync_wanted != 0)
        return;
    log->disk->ops->close(log->disk->state, file->handle);
    file->handle = -1;
    log->owner.done_with(log->owner.context, log, file);
    file->place = NULL;
}

/** Gives what was put by to the file that is there now, in its order. */
static void log_submit_ready(struct rm_log *log, uint64_t now_ns) {
    struct rm_log_buffer *buffer = rm_log_filling(log);
    bool const waits = rm_log_oldest_ready(log) != NULL;
    if (buffer != NULL && waits && buffer->file != NULL)
        log_submit(log, buffer, now_ns);
    for (struct rm_log_buffer *ready; log->open != NULL && (ready = rm_log_oldest_ready(log)) != NULL;) {
        rm_log_restamp(ready, log->open);
        log_submit(log, ready, now_ns);
    }
    buffer = rm_log_filling(log);
    if (buffer != NULL && buffer->file == NULL && log->open != NULL)
        rm_log_restamp(buffer, log->open);
}

void rm_log_prepared(struct rm_log *log, int handle) {
    log->preparing = false;
    log->prepared = handle; /* what was refused is tried again, and told, when the file is needed */
}

void rm_log_unprepare(struct rm_log *log) {
    char path[PATH_MAX];
    if (log->prepared < 0)
        return;
    rm_log_file_path(path, log->folder, log->next_number);
    log->disk->ops->close(log->disk->state, log->prepared);
    log->disk->ops->remove(log->disk->state, path);
    log->prepared = -1;
}

/** Has the next file made as soon as this one is begun: on a disk that is busy with the log's own writes that takes as
 * long as half a file. */
static void log_prepare(struct rm_log *log) {
    if (log->open != NULL && log->owner.prepare != NULL && log->prepared < 0 && !log->preparing)
        log->preparing = log->owner.prepare(log->owner.context, log, log->next_number);
}

void rm_log_work(struct rm_log *log, uint64_t now_ns, uint64_t tai_ns) {
    for (unsigned f = 0; f < RM_LOG_FILES; ++f)
        if (log->file[f].handle >= 0) {
            log_sync(log, &log->file[f], now_ns);
            log_close_ended(log, &log->file[f]);
        }
    if (log->trouble != 0 && log->open == NULL && now_ns >= log->retry_ns)
        log_begin_file(log, now_ns, tai_ns);
    if (log->trouble == 0 && log->open != NULL)
        log_submit_ready(log, now_ns);
    log_prepare(log);
}

uint64_t rm_log_unwritten(struct rm_log const *log) {
    uint64_t records = 0;
    for (unsigned b = 0; b < RM_LOG_BUFFERS; ++b)
        records += log->buffer[b].state != RM_LOG_BUFFER_FREE ? log->buffer[b].records : 0;
    return records;
}

bool rm_log_is_idle(struct rm_log const *log) {
    for (unsigned b = 0; b < RM_LOG_BUFFERS; ++b)
        if (log->buffer[b].state == RM_LOG_BUFFER_IN_FLIGHT)
            return false;
    for (unsigned f = 0; f < RM_LOG_FILES; ++f)
        if (log->file[f].handle >= 0 && (&log->file[f] != log->open || log->file[f].in_flight > 0 ||
                                         log->file[f].syncing || log->file[f].sync_wanted != 0))
            return false;
    return true;
}
