// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: any bytes as a file of an archive. All that can be asked is asked.
 *
 * Checksums would stop nearly all inputs at the first header. So wherever a header or a block seems to begin, its
 * checksums and its identity are put right first, but for blocks whose `payload_crc` is 1. Aborts when a record that is
 * said to be there has another turn than was asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ringmaster/archive_read.h>

#include "archive/format/block.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

enum { RECORDS_MAX = 4096, BLOCK_PAYLOADS_MAX = 16 };

static void bytes_mend_block(uint8_t *bytes, size_t size, size_t at, uint32_t file_id) {
    struct rm_block block;
    memcpy(&block, bytes + at, sizeof block);
    if (block.magic != RM_BLOCK_MAGIC)
        return;
    bool const bad = block.payload_crc == 1;
    block.file_id = file_id;
    if (block.stored_bytes <= size - at - sizeof block)
        rm_block_finish(&block, bytes + at + sizeof block);
    block.payload_crc ^= bad;
    memcpy(bytes + at, &block, sizeof block);
}

/** From the end on: the payload of a block that holds blocks is right before it is summed up. */
static void bytes_mend(uint8_t *bytes, size_t size) {
    struct rm_log_header header;
    if (size < sizeof header)
        return;
    memcpy(&header, bytes, sizeof header);
    if (header.magic == RM_LOG_MAGIC)
        rm_log_header_finish(&header);
    memcpy(bytes, &header, sizeof header);
    size_t const blocks = size / RM_BLOCK_ALIGNMENT;
    for (size_t i = blocks; i-- > RM_LOG_HEADER_BYTES / RM_BLOCK_ALIGNMENT;)
        bytes_mend_block(bytes, size, i * RM_BLOCK_ALIGNMENT, (uint32_t)header.file_id);
}

static void archive_read_run(struct rm_archive *archive, uint32_t object, uint32_t run) {
    struct rm_archive_object const *const it = rm_archive_object_at(archive, object);
    struct rm_archive_run const its = it->run[run];
    size_t const bytes = it->is.record_bytes;
    uint64_t const period = it->is.period_turns;
    uint64_t const there = (its.last_turn - its.first_turn) / period + 1;
    uint64_t const count = there < RECORDS_MAX ? there : RECORDS_MAX;
    char *const records = malloc(count * bytes);
    uint8_t *const results = malloc(count);
    uint64_t *const times = malloc(2 * count * sizeof *times);
    struct rm_archive_request const request = {
        .object = object, .run = run, .first_turn = its.first_turn, .count = count};
    struct rm_archive_answer const answer = {
        .records = records, .results = results, .tai_ns = times, .utc_ns = times + count};
    if (rm_archive_read(archive, &request, &answer, NULL) == RM_OK)
        for (uint64_t i = 0; i < count; ++i) {
            uint64_t turn;
            memcpy(&turn, records + i * bytes, sizeof turn);
            if (results[i] == RM_ARCHIVE_OK && turn != its.first_turn + i * period)
                abort();
        }
    free(records);
    free(results);
    free(times);
}

/** A frame that is said to be whole has its map and its bytes in the payload, and each has been asked for by its number. */
static void archive_read_images(struct rm_archive *archive, uint32_t object, void *payload) {
    uint32_t blocks[BLOCK_PAYLOADS_MAX];
    for (unsigned order = RM_IMAGE_BY_TAI; order <= RM_IMAGE_BY_NUMBER; ++order) {
        uint32_t const there =
            rm_archive_images_between(archive, object, order, 0, UINT64_MAX, blocks, BLOCK_PAYLOADS_MAX);
        for (uint32_t i = 0; i < there && i < BLOCK_PAYLOADS_MAX; ++i) {
            struct rm_archive_image image;
            if (rm_archive_image(archive, object, blocks[i], payload, &image, NULL) != RM_OK)
                continue;
            (void)rm_crc32c(image.map, (image.is.fragments + 7ull) / 8);
            (void)rm_crc32c(image.bytes, image.is.length);
        }
    }
}

static void archive_read_all(struct rm_archive *archive) {
    static _Alignas(8) char payload[RM_BLOCK_PAYLOAD_MAX];
    for (uint32_t object = 0; object < rm_archive_object_count(archive); ++object) {
        struct rm_archive_object const *const it = rm_archive_object_at(archive, object);
        for (uint32_t block = 0; block < it->block_count && block < BLOCK_PAYLOADS_MAX; ++block)
            (void)rm_archive_payload(archive, object, block, payload, NULL);
        struct rm_archive_range ranges[2];
        (void)rm_archive_between(archive, object, RM_TIME_UTC, 1, UINT64_MAX - 1, ranges, 2);
        archive_read_images(archive, object, payload);
        bool const dense = it->is.kind == RM_BLOCK_RECORDS || it->is.kind == RM_BLOCK_REDUCED;
        for (uint32_t run = 0; run < it->run_count && dense; ++run)
            archive_read_run(archive, object, run);
    }
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    uint8_t *const bytes = malloc(size != 0 ? size : 1);
    int const file = memfd_create("fuzz_archive", MFD_CLOEXEC);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    memcpy(bytes, data, size);
    bytes_mend(bytes, size);
    struct rm_archive *archive = NULL;
    if (write(file, bytes, size) == (ssize_t)size && rm_archive_open(path, &archive, NULL) == RM_OK) {
        archive_read_all(archive);
        (void)rm_archive_refresh(archive, NULL);
        rm_archive_close(archive);
    }
    free(bytes);
    close(file);
    return 0;
}
