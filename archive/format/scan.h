// SPDX-License-Identifier: Apache-2.0
/** Walks through a log file in memory, from block to block: over damage to the next good block, up to the exact end.
 *
 *     struct rm_scan scan;
 *     if (rm_scan_begin(&scan, file, bytes, path, &error) != RM_OK) …
 *     for (struct rm_block_place place; rm_scan_next(&scan, &place);)
 *         … place.block at place.offset, its payload 64 bytes behind …
 *     … scan.end, scan.damaged_bytes …
 *
 * Headers alone are looked at, unless `verifies`: then a block whose payload does not have its checksum is damage. That
 * is how a file that was not sealed is read: of what was written and not synced when the power went, anything may be
 * there. A preallocated file that was not sealed has zeros behind its end, or what an older file left there; that one
 * has another `file_id`.
 *
 * The memory may be a mapping of a file that grows: bytes is what there was at the beginning. A mapping of a file that
 * another process cuts ends the reader with SIGBUS. The recorder cuts a file when it seals it, behind its last good
 * block: a reader of such a file `stops` there, and copies what stands behind before it goes on.
 */
#ifndef RM_ARCHIVE_SCAN_H
#define RM_ARCHIVE_SCAN_H

#include "block.h"

struct rm_scan {
    uint8_t const *file;
    uint64_t bytes;
    uint32_t file_id;
    /** Payloads are summed up, too. Set it after rm_scan_begin. */
    bool verifies;
    /** Where no good block stands, none is looked for behind it. Set it after rm_scan_begin. */
    bool stops;
    /** Where the next block is looked for. */
    uint64_t at;
    /** Behind the last good block so far. After the last call: the end of what can be read. */
    uint64_t end;
    /** Bytes that were skipped between good blocks, and how many times. What lies behind the end is none. */
    uint64_t damaged_bytes;
    uint64_t damages;
    /** Number that the next block is expected to have. */
    uint32_t sequence;
    /** The file has its last block, RM_BLOCK_END: it was sealed. */
    bool sealed;
};

/** Judges the header, and stands before the first block. `path` is for the text alone. Errors: those of
 * rm_log_header_check; RM_E_CONFIG for a file that is shorter than its header. */
enum rm_code rm_scan_begin(struct rm_scan *scan, void const *file, uint64_t bytes, char const *path,
                           struct rm_error *error);

/** The next good block, with its place. Padding is passed over. Returns false at the end. */
bool rm_scan_next(struct rm_scan *scan, struct rm_block_place *place);

/** Of a sealed file: the place of its index, whose payload was summed up, and how many entries it has. NULL where the
 * file was not sealed, or its index is damaged: walk through it. The entries are in the order of the file. */
struct rm_block_place const *rm_scan_index(struct rm_scan const *scan, uint32_t *count);

#endif
