// SPDX-License-Identifier: Apache-2.0
/** Blocks and headers of log files (ringmaster/archive.h): made, and judged. Pure functions of bytes. */
#ifndef RM_ARCHIVE_BLOCK_H
#define RM_ARCHIVE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/archive.h>
#include <ringmaster/error.h>

/** Bytes that a payload takes in the file, its header not counted: the next multiple of RM_BLOCK_ALIGNMENT. */
static inline uint64_t rm_block_room(uint64_t stored_bytes) {
    return (stored_bytes + RM_BLOCK_ALIGNMENT - 1) & ~(uint64_t)(RM_BLOCK_ALIGNMENT - 1);
}

/** Bytes from this block to the next one. */
static inline uint64_t rm_block_stride(struct rm_block const *block) {
    return sizeof *block + rm_block_room(block->stored_bytes);
}

/** Whether a block has records, steps, events or an image: what a log is kept for. Marks and what belongs to the file have none. */
static inline bool rm_block_holds_records(struct rm_block const *block) {
    return (block->kind >= RM_BLOCK_RECORDS && block->kind <= RM_BLOCK_EVENTS) || block->kind == RM_BLOCK_IMAGE;
}

/** The number of an image, for its entry of the index; 0 of other blocks. `payload` is as stored. */
uint64_t rm_block_number(struct rm_block const *block, void const *payload);

/** Bytes of one step of a reduction of so many lanes. */
static inline size_t rm_reduced_bytes(uint32_t lanes) {
    return sizeof(struct rm_reduced) + lanes * 4ul * sizeof(float);
}

/** Finishes a block whose members but `magic` and the checksums are set: sums up the payload, which is
 * `stored_bytes` long, then the header. */
void rm_block_finish(struct rm_block *block, void const *payload);

/** Whether these 64 bytes are a block's header, of the file with this low word of its identity, and none that lies
 * about its bytes. The payload is not looked at. */
bool rm_block_is_good(struct rm_block const *block, uint32_t file_id);

/** Whether the payload is the one that was summed up. */
bool rm_block_payload_is_good(struct rm_block const *block, void const *payload);

/** Sets magic, version and checksum of a header whose other members are set. */
void rm_log_header_finish(struct rm_log_header *header);

/** Whether this program reads a version. */
static inline bool rm_archive_reads(unsigned version) {
    return version >= RM_ARCHIVE_VERSION_OLDEST && version <= RM_ARCHIVE_VERSION;
}

/** Whether it is the header of a log file that this program can read. `path` is for the text alone: RM_E_CONFIG for
 * what is no log or damaged, RM_E_VERSION for another version. */
enum rm_code rm_log_header_check(struct rm_log_header const *header, char const *path, struct rm_error *error);

/** A block's kind and a mark's reason in words, for messages: "records", "disk_full". Constant. */
char const *rm_block_kind_text(unsigned kind);
char const *rm_mark_reason_text(unsigned reason);

#endif
