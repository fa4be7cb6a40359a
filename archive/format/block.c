// SPDX-License-Identifier: Apache-2.0
#include "block.h"

#include <string.h>

#include "base/fail.h"
#include "crc32c.h"

_Static_assert(sizeof(struct rm_log_header) <= RM_LOG_HEADER_BYTES, "the header has room for its struct");

static uint32_t block_header_crc(struct rm_block const *block) {
    struct rm_block copy = *block;
    copy.header_crc = 0;
    return rm_crc32c(&copy, sizeof copy);
}

void rm_block_finish(struct rm_block *block, void const *payload) {
    block->magic = RM_BLOCK_MAGIC;
    block->payload_crc = rm_crc32c(payload, block->stored_bytes);
    block->header_crc = block_header_crc(block);
}

bool rm_block_is_good(struct rm_block const *block, uint32_t file_id) {
    return block->magic == RM_BLOCK_MAGIC && block->file_id == file_id && block->stored_bytes <= RM_BLOCK_PAYLOAD_MAX &&
           block->plain_bytes <= RM_BLOCK_PAYLOAD_MAX && block->kind >= RM_BLOCK_DESCRIPTION &&
           block->kind <= RM_BLOCK_IMAGE && block->header_crc == block_header_crc(block);
}

bool rm_block_payload_is_good(struct rm_block const *block, void const *payload) {
    return block->payload_crc == rm_crc32c(payload, block->stored_bytes);
}

uint64_t rm_block_number(struct rm_block const *block, void const *payload) {
    struct rm_archived_image image;
    if (block->kind != RM_BLOCK_IMAGE || block->stored_bytes < sizeof image)
        return 0;
    memcpy(&image, payload, sizeof image);
    return image.number;
}

static uint32_t log_header_crc(struct rm_log_header const *header) {
    struct rm_log_header copy = *header;
    copy.crc = 0;
    return rm_crc32c(&copy, sizeof copy);
}

void rm_log_header_finish(struct rm_log_header *header) {
    header->magic = RM_LOG_MAGIC;
    header->version = RM_ARCHIVE_VERSION;
    header->crc = log_header_crc(header);
}

enum rm_code rm_log_header_check(struct rm_log_header const *header, char const *path, struct rm_error *error) {
    if (header->magic != RM_LOG_MAGIC)
        return rm_fail(error, RM_E_CONFIG, "%s: is no log file: it does not begin with \"RMARCLOG\"", path);
    if (!rm_archive_reads(header->version))
        return rm_fail(error, RM_E_VERSION,
                       "%s: is of version %u of the archive, expected %u to %u: read it with the programs "
                       "that wrote it",
                       path, header->version, RM_ARCHIVE_VERSION_OLDEST, RM_ARCHIVE_VERSION);
    if (header->crc != log_header_crc(header))
        return rm_fail(error, RM_E_CONFIG, "%s: its header is damaged: the checksum differs", path);
    return RM_OK;
}

char const *rm_block_kind_text(unsigned kind) {
    static char const *const TEXTS[] = {"unknown", "description", "records", "reduced", "events",
                                        "mark",    "index",       "end",     "padding", "image"};
    return TEXTS[kind < sizeof TEXTS / sizeof TEXTS[0] ? kind : 0];
}

char const *rm_mark_reason_text(unsigned reason) {
    static char const *const TEXTS[] = {"unknown",     "began",     "lapped",     "disk_full", "disk_slow",
                                        "disk_failed", "restarted", "owner_gone", "reopened",  "clock_stepped"};
    return TEXTS[reason < sizeof TEXTS / sizeof TEXTS[0] ? reason : 0];
}
