// SPDX-License-Identifier: Apache-2.0
#include "log_buffers.h"

#include <string.h>

#include "archive/format/block.h"

static struct rm_log_buffer *log_buffer_in(struct rm_log *log, enum rm_log_buffer_state state) {
    struct rm_log_buffer *found = NULL;
    for (unsigned b = 0; b < RM_LOG_BUFFERS; ++b)
        if (log->buffer[b].state == state && (found == NULL || log->buffer[b].serial < found->serial))
            found = &log->buffer[b];
    return found;
}

struct rm_log_buffer *rm_log_filling(struct rm_log *log) {
    return log_buffer_in(log, RM_LOG_BUFFER_FILLING);
}

struct rm_log_buffer *rm_log_free_buffer(struct rm_log *log) {
    return log_buffer_in(log, RM_LOG_BUFFER_FREE);
}

struct rm_log_buffer *rm_log_oldest_ready(struct rm_log *log) {
    return log_buffer_in(log, RM_LOG_BUFFER_READY);
}

void rm_log_pad(uint8_t *data, size_t *fill, struct rm_log_file *file, uint64_t offset) {
    size_t const rest = -*fill & (RM_DISK_ALIGNMENT - 1);
    if (rest == 0)
        return;
    struct rm_block block = {
        .kind = RM_BLOCK_PADDING,
        .object = UINT32_MAX,
        .stored_bytes = (uint32_t)(rest - sizeof block),
        .plain_bytes = (uint32_t)(rest - sizeof block),
        .first_turn = RM_TURN_NONE,
    };
    memset(data + *fill + sizeof block, 0, block.stored_bytes);
    rm_log_file_place(file, &block, data + *fill + sizeof block, offset + *fill);
    memcpy(data + *fill, &block, sizeof block);
    *fill += rest;
}

void rm_log_restamp(struct rm_log_buffer *buffer, struct rm_log_file *file) {
    buffer->file = file;
    buffer->offset = file->at;
    for (size_t at = 0; at < buffer->fill;) {
        struct rm_block block;
        memcpy(&block, buffer->data + at, sizeof block);
        rm_log_file_place(file, &block, buffer->data + at + sizeof block, buffer->offset + at);
        memcpy(buffer->data + at, &block, sizeof block);
        at += rm_block_stride(&block);
    }
}
