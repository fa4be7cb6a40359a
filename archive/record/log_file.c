// SPDX-License-Identifier: Apache-2.0
#include "log_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "archive/format/block.h"

enum { PLACES_FIRST = 1024 };

void rm_log_file_path(char path[PATH_MAX], char const *folder, uint64_t number) {
    snprintf(path, PATH_MAX, "%s/%016" PRIu64 ".rmlog", folder, number);
}

static void log_file_header(struct rm_log_file const *file, char const *log, struct rm_archive_identity const *identity,
                            struct rm_log_header *header) {
    *header = (struct rm_log_header){
        .number = file->number,
        .file_id = file->file_id,
        .begun_tai_ns = file->begun_tai_ns,
        .tai_minus_utc_s = identity->tai_minus_utc_s,
        .abi_version = RM_ABI_VERSION,
        .turn_rate_hz = identity->turn_rate_hz,
    };
    memcpy(header->archive_uuid, identity->uuid, sizeof header->archive_uuid);
    snprintf(header->log, sizeof header->log, "%s", log);
    rm_log_header_finish(header);
}

int rm_log_file_create(struct rm_log_file *file, struct rm_disk *disk, char const *folder, char const *log,
                       int prepared, uint64_t number, uint64_t bytes, struct rm_archive_identity const *identity,
                       uint64_t tai_ns, struct rm_log_header *header) {
    *file = (struct rm_log_file){.handle = -1, .number = number, .begun_tai_ns = tai_ns};
    if (getrandom(&file->file_id, sizeof file->file_id, 0) != sizeof file->file_id)
        return -EIO;
    rm_log_file_path(file->path, folder, number);
    int const handle = prepared >= 0 ? prepared : disk->ops->create(disk->state, file->path, bytes);
    if (handle < 0)
        return handle;
    file->handle = handle;
    file->limit = bytes - bytes / RM_LOG_INDEX_SHARE;
    log_file_header(file, log, identity, header);
    return 0;
}

void rm_log_file_place(struct rm_log_file *file, struct rm_block *block, void const *payload, uint64_t offset) {
    block->file_id = (uint32_t)file->file_id;
    block->sequence = file->sequence++;
    rm_block_finish(block, payload);
    if (block->kind == RM_BLOCK_PADDING)
        return;
    if (file->place_count == file->place_capacity) {
        uint32_t const capacity = file->place_capacity > 0 ? 2 * file->place_capacity : PLACES_FIRST;
        struct rm_block_place *grown = realloc(file->place, capacity * sizeof *grown);
        file->failed = file->failed || grown == NULL;
        if (grown == NULL)
            return;
        file->place = grown;
        file->place_capacity = capacity;
    }
    file->place[file->place_count++] =
        (struct rm_block_place){.block = *block, .offset = offset, .number = rm_block_number(block, payload)};
}
