// SPDX-License-Identifier: Apache-2.0
#include "seal.h"

#include <stdlib.h>
#include <string.h>

#include "archive/format/mapped.h"
#include "archive/format/scan.h"
#include "base/fail.h"

/** What stands behind the last block: the index, then the end. */
struct seal_tail {
    uint8_t *data;
    size_t bytes;
};

static bool seal_tail_make(struct rm_block_place const *place, uint32_t count, uint64_t at, uint32_t file_id,
                           uint32_t sequence, struct seal_tail *tail) {
    size_t const payload = count * sizeof *place;
    struct rm_block index = {
        .kind = RM_BLOCK_INDEX,
        .object = UINT32_MAX,
        .sequence = sequence,
        .file_id = file_id,
        .count = count,
        .stored_bytes = (uint32_t)payload,
        .plain_bytes = (uint32_t)payload,
        .first_turn = RM_TURN_NONE,
    };
    struct rm_block end = {
        .kind = RM_BLOCK_END, .object = UINT32_MAX, .sequence = sequence + 1, .file_id = file_id, .first_turn = at};
    tail->bytes = rm_block_stride(&index) + sizeof end;
    tail->data = calloc(1, tail->bytes);
    if (tail->data == NULL)
        return false;
    if (payload > 0)
        memcpy(tail->data + sizeof index, place, payload);
    rm_block_finish(&index, tail->data + sizeof index);
    rm_block_finish(&end, NULL);
    memcpy(tail->data, &index, sizeof index);
    memcpy(tail->data + tail->bytes - sizeof end, &end, sizeof end);
    return true;
}

void rm_seal_take(struct rm_block const *block, struct rm_sealed *sealed) {
    bool const holds = rm_block_holds_records(block);
    if (holds && (sealed->first_tai_ns == 0 || block->first_tai_ns < sealed->first_tai_ns)) {
        sealed->first_tai_ns = block->first_tai_ns;
        sealed->first_turn = block->first_turn;
    }
    if (holds && block->last_tai_ns > sealed->newest_tai_ns)
        sealed->newest_tai_ns = block->last_tai_ns;
}

static void seal_sum_up(struct rm_block_place const *place, uint32_t count, struct rm_sealed *sealed) {
    sealed->blocks = count;
    sealed->first_turn = RM_TURN_NONE;
    for (uint32_t i = 0; i < count; ++i)
        rm_seal_take(&place[i].block, sealed);
}

static enum rm_code seal_write(struct rm_disk *disk, char const *path, uint64_t at, struct rm_block_place const *place,
                               uint32_t count, uint32_t file_id, uint32_t sequence, struct rm_sealed *sealed,
                               struct rm_error *error) {
    struct seal_tail tail;
    if (!seal_tail_make(place, count, at, file_id, sequence, &tail))
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory for its index of %u blocks", path, count);
    int const result = disk->ops->finish(disk->state, path, at, tail.data, tail.bytes);
    sealed->bytes = at + tail.bytes;
    free(tail.data);
    seal_sum_up(place, count, sealed);
    return result < 0 ? rm_fail(error, RM_E_SYSTEM, "%s: cannot be sealed: %s", path, strerror(-result)) : RM_OK;
}

enum rm_code rm_seal_known(struct rm_disk *disk, struct rm_log_file const *file, struct rm_sealed *sealed,
                           struct rm_error *error) {
    *sealed = (struct rm_sealed){0};
    return seal_write(disk, file->path, file->at, file->place, file->place_count, (uint32_t)file->file_id,
                      file->sequence, sealed, error);
}

/** All blocks of a file that was left, and where they end. */
struct seal_walk {
    struct rm_block_place *place;
    uint32_t count, capacity;
    struct rm_scan scan;
};

static bool seal_walk_add(struct seal_walk *walk, struct rm_block_place const *place) {
    if (walk->count == walk->capacity) {
        uint32_t const capacity = walk->capacity > 0 ? 2 * walk->capacity : 1024;
        struct rm_block_place *grown = realloc(walk->place, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        walk->place = grown;
        walk->capacity = capacity;
    }
    walk->place[walk->count++] = *place;
    return true;
}

/** An index or an end that a crash left half is none of the file's blocks: it is made anew behind the last record. */
static enum rm_code seal_walk_through(struct seal_walk *walk, struct rm_mapped_file const *file,
                                      struct rm_error *error) {
    enum rm_code const code = rm_scan_begin(&walk->scan, file->data, file->bytes, file->path, error);
    if (code != RM_OK)
        return code;
    walk->scan.verifies = true;
    uint64_t end = walk->scan.end;
    uint32_t sequence = 0;
    for (struct rm_block_place place; rm_scan_next(&walk->scan, &place);) {
        if (place.block.kind == RM_BLOCK_INDEX || place.block.kind == RM_BLOCK_END)
            continue;
        if (!seal_walk_add(walk, &place))
            return rm_fail(error, RM_E_NO_SPACE, "%s: no memory for its index", file->path);
        end = place.offset + rm_block_stride(&place.block);
        sequence = place.block.sequence + 1;
    }
    uint32_t count;
    walk->scan.sealed = rm_scan_index(&walk->scan, &count) != NULL;
    walk->scan.end = end;
    walk->scan.sequence = sequence;
    return RM_OK;
}

enum rm_code rm_seal_found(struct rm_disk *disk, char const *path, struct rm_sealed *sealed, struct rm_error *error) {
    struct rm_mapped_file file;
    struct seal_walk walk = {.count = 0};
    *sealed = (struct rm_sealed){0};
    enum rm_code code = rm_mapped_file_open(path, &file, error);
    if (code != RM_OK)
        return code;
    code = seal_walk_through(&walk, &file, error);
    uint32_t const file_id = walk.scan.file_id;
    rm_mapped_file_close(&file);
    sealed->damaged_bytes = walk.scan.damaged_bytes;
    sealed->bytes = file.bytes;
    if (code == RM_OK && walk.scan.sealed)
        seal_sum_up(walk.place, walk.count, sealed);
    else if (code == RM_OK)
        code =
            seal_write(disk, path, walk.scan.end, walk.place, walk.count, file_id, walk.scan.sequence, sealed, error);
    free(walk.place);
    return code;
}
