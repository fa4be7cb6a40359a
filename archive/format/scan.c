// SPDX-License-Identifier: Apache-2.0
#include "scan.h"

#include <string.h>

#include "base/fail.h"

enum rm_code rm_scan_begin(struct rm_scan *scan, void const *file, uint64_t bytes, char const *path,
                           struct rm_error *error) {
    struct rm_log_header header;
    if (bytes < RM_LOG_HEADER_BYTES)
        return rm_fail(error, RM_E_CONFIG, "%s: has %llu bytes, expected at least the %d of a header: it was cut", path,
                       (unsigned long long)bytes, RM_LOG_HEADER_BYTES);
    memcpy(&header, file, sizeof header);
    *scan = (struct rm_scan){
        .file = file,
        .bytes = bytes,
        .file_id = (uint32_t)header.file_id,
        .at = RM_LOG_HEADER_BYTES,
        .end = RM_LOG_HEADER_BYTES,
    };
    return rm_log_header_check(&header, path, error);
}

/** A good block at an offset, whole within the file. */
static bool scan_block_at(struct rm_scan const *scan, uint64_t at, struct rm_block *block) {
    if (at > scan->bytes || scan->bytes - at < sizeof *block)
        return false;
    memcpy(block, scan->file + at, sizeof *block);
    return rm_block_is_good(block, scan->file_id) && block->stored_bytes <= scan->bytes - at - sizeof *block &&
           (!scan->verifies || rm_block_payload_is_good(block, scan->file + at + sizeof *block));
}

/** The next offset from `at` on where a good block stands that was not there before. */
static bool scan_search(struct rm_scan const *scan, uint64_t at, uint64_t *found, struct rm_block *block) {
    static uint32_t const MAGIC = RM_BLOCK_MAGIC;
    for (; at + sizeof *block <= scan->bytes; at += RM_BLOCK_ALIGNMENT)
        if (memcmp(scan->file + at, &MAGIC, sizeof MAGIC) == 0 && scan_block_at(scan, at, block) &&
            block->sequence >= scan->sequence) {
            *found = at;
            return true;
        }
    return false;
}

bool rm_scan_next(struct rm_scan *scan, struct rm_block_place *place) {
    struct rm_block block;
    while (!scan->sealed) {
        uint64_t at = scan->at;
        if (!scan_block_at(scan, at, &block) && (scan->stops || !scan_search(scan, at, &at, &block)))
            return false;
        scan->damaged_bytes += at - scan->at;
        scan->damages += at != scan->at;
        scan->at = at + rm_block_stride(&block);
        scan->end = scan->at < scan->bytes ? scan->at : scan->bytes;
        scan->sequence = block.sequence + 1;
        scan->sealed = block.kind == RM_BLOCK_END;
        if (block.kind == RM_BLOCK_PADDING)
            continue;
        uint64_t const number = rm_block_number(&block, scan->file + at + sizeof block);
        *place = (struct rm_block_place){.block = block, .offset = at, .number = number};
        return true;
    }
    return false;
}

struct rm_block_place const *rm_scan_index(struct rm_scan const *scan, uint32_t *count) {
    struct rm_scan strict = *scan;
    struct rm_block end, index;
    strict.verifies = true;
    if (scan->bytes < RM_LOG_HEADER_BYTES + sizeof end || scan->bytes % RM_BLOCK_ALIGNMENT != 0 ||
        !scan_block_at(&strict, scan->bytes - sizeof end, &end) || end.kind != RM_BLOCK_END ||
        end.first_turn % RM_BLOCK_ALIGNMENT != 0 || !scan_block_at(&strict, end.first_turn, &index) ||
        index.kind != RM_BLOCK_INDEX || index.stored_bytes != index.count * sizeof(struct rm_block_place))
        return NULL;
    *count = index.count;
    return (struct rm_block_place const *)(void const *)(scan->file + end.first_turn + sizeof index);
}
