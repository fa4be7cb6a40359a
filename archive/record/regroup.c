// SPDX-License-Identifier: Apache-2.0
#include "regroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/format/codec.h"
#include "archive/format/mapped.h"
#include "archive/format/scan.h"
#include "base/fail.h"
#include "folder.h"

enum {
    /** Most plain bytes of a block; of a compressed one, which is read whole for a single record. */
    PLAIN_BYTES = 8 << 20,
    PACKED_BYTES = 1 << 20,
    EVENTS_BYTES = 1 << 20,
    NEW_FILE = 0640,
};

/** Turns within a block count as evenly spaced: so long is the turn clock taken for steady. */
static uint64_t const SPAN_NS = 60000000000;

/** What is being made. */
struct regroup {
    struct rm_mapped_file old;
    struct rm_block_place const *place;
    uint32_t place_count;
    uint32_t file_id;
    unsigned compress;
    FILE *out;
    uint64_t at;
    uint32_t sequence;
    struct rm_block_place *index;
    uint32_t index_count;
    /** The block that is being put together; its payload, and room for what compressing needs. */
    struct rm_block block;
    uint8_t *payload, *scratch, *packed;
    uint64_t next_turn;
    bool failed;
};

static uint8_t const *regroup_payload(struct regroup const *self, struct rm_block_place const *place) {
    return self->old.data + place->offset + sizeof place->block;
}

static uint32_t const *regroup_record_bytes(struct regroup const *self, uint32_t object, uint64_t *period) {
    for (uint32_t i = 0; i < self->place_count; ++i)
        if (self->place[i].block.kind == RM_BLOCK_DESCRIPTION && self->place[i].block.object == object) {
            struct rm_archived_object const *found = (void const *)regroup_payload(self, &self->place[i]);
            *period = found->period_turns;
            return &found->record_bytes;
        }
    return NULL;
}

static void regroup_write(struct regroup *self, struct rm_block *block, void const *payload) {
    static uint8_t const ZEROS[RM_BLOCK_ALIGNMENT];
    block->file_id = self->file_id;
    block->sequence = self->sequence++;
    rm_block_finish(block, payload);
    size_t const rest = rm_block_room(block->stored_bytes) - block->stored_bytes;
    bool good = fwrite(block, sizeof *block, 1, self->out) == 1;
    good = good && (block->stored_bytes == 0 || fwrite(payload, block->stored_bytes, 1, self->out) == 1);
    good = good && (rest == 0 || fwrite(ZEROS, rest, 1, self->out) == 1);
    self->failed = self->failed || !good;
    if (block->kind != RM_BLOCK_INDEX && block->kind != RM_BLOCK_END)
        self->index[self->index_count++] =
            (struct rm_block_place){.block = *block, .offset = self->at, .number = rm_block_number(block, payload)};
    self->at += rm_block_stride(block);
}

/** Writes the block that was put together, if there is one. */
static void regroup_end_block(struct regroup *self) {
    struct rm_block *block = &self->block;
    uint64_t period;
    if (block->count == 0)
        return;
    void const *payload = self->payload;
    block->stored_bytes = block->plain_bytes;
    block->codec = RM_CODEC_PLAIN;
    uint32_t const *record_bytes = regroup_record_bytes(self, block->object, &period);
    if (self->compress != RM_COMPRESS_NONE && block->kind != RM_BLOCK_EVENTS && record_bytes != NULL) {
        size_t const bytes =
            rm_codec_encode(self->payload, block->plain_bytes, *record_bytes,
                            self->compress == RM_COMPRESS_LZ4 ? "lz4" : "zstd", self->scratch, self->packed);
        if (bytes > 0) {
            block->codec = RM_CODEC_DELTA_BLOSC;
            block->stored_bytes = (uint32_t)bytes;
            payload = self->packed;
        }
    }
    regroup_write(self, block, payload);
    block->count = 0;
}

/** Whether a block goes on where the one that is put together ends. */
static bool regroup_goes_on(struct regroup const *self, struct rm_block const *next) {
    struct rm_block const *block = &self->block;
    size_t const most = block->kind == RM_BLOCK_EVENTS       ? EVENTS_BYTES
                        : self->compress != RM_COMPRESS_NONE ? PACKED_BYTES
                                                             : PLAIN_BYTES;
    bool const same = block->count > 0 && block->kind == next->kind && block->object == next->object &&
                      block->turn_epoch == next->turn_epoch && block->plain_bytes + next->plain_bytes <= most;
    if (block->kind == RM_BLOCK_EVENTS)
        return same;
    bool const near = block->kind == RM_BLOCK_REDUCED || next->last_tai_ns - block->first_tai_ns < SPAN_NS;
    return same && near && self->next_turn == next->first_turn;
}

/** Takes a block that has records, steps or events. */
static void regroup_take(struct regroup *self, struct rm_block_place const *place) {
    struct rm_block const *block = &place->block;
    uint64_t period = 0;
    if (!regroup_goes_on(self, block))
        regroup_end_block(self);
    if (block->codec != RM_CODEC_PLAIN || block->plain_bytes > PLAIN_BYTES) { /* it is as it shall be */
        struct rm_block copy = *block;
        regroup_write(self, &copy, regroup_payload(self, place));
        return;
    }
    if (self->block.count == 0) {
        self->block = *block;
        self->block.plain_bytes = 0;
        self->block.count = 0;
    }
    memcpy(self->payload + self->block.plain_bytes, regroup_payload(self, place), block->plain_bytes);
    self->block.plain_bytes += block->plain_bytes;
    self->block.count += block->count;
    self->block.last_tai_ns = block->last_tai_ns;
    regroup_record_bytes(self, block->object, &period);
    self->next_turn = block->first_turn + block->count * period;
}

/** An image is a block of its own. */
static void regroup_image(struct regroup *self, struct rm_block_place const *place) {
    struct rm_block block = place->block;
    void const *payload = regroup_payload(self, place);
    if (self->compress != RM_COMPRESS_NONE && block.codec == RM_CODEC_PLAIN) {
        size_t const bytes = rm_codec_encode_image(payload, block.plain_bytes,
                                                   self->compress == RM_COMPRESS_LZ4 ? "lz4" : "zstd", self->packed);
        if (bytes > 0) {
            block.codec = RM_CODEC_BLOSC;
            block.stored_bytes = (uint32_t)bytes;
            payload = self->packed;
        }
    }
    regroup_write(self, &block, payload);
}

/** Everything of an object, in its order; UINT32_MAX: what is of none. */
static void regroup_object(struct regroup *self, uint32_t object) {
    for (uint32_t i = 0; i < self->place_count && !self->failed; ++i) {
        struct rm_block_place const *place = &self->place[i];
        if (place->block.object != object || place->block.kind == RM_BLOCK_DESCRIPTION)
            continue;
        if (place->block.kind == RM_BLOCK_IMAGE) {
            regroup_image(self, place);
        } else if (place->block.kind == RM_BLOCK_MARK) {
            struct rm_block copy = place->block;
            regroup_end_block(self);
            regroup_write(self, &copy, regroup_payload(self, place));
        } else {
            regroup_take(self, place);
        }
    }
    regroup_end_block(self);
}

static void regroup_tail(struct regroup *self) {
    uint64_t const at = self->at;
    uint32_t const bytes = self->index_count * (uint32_t)sizeof *self->index;
    struct rm_block index = {.kind = RM_BLOCK_INDEX,
                             .object = UINT32_MAX,
                             .count = self->index_count,
                             .stored_bytes = bytes,
                             .plain_bytes = bytes,
                             .first_turn = RM_TURN_NONE};
    struct rm_block end = {.kind = RM_BLOCK_END, .object = UINT32_MAX, .first_turn = at};
    // NOLINTBEGIN(clang-analyzer-unix.Malloc): rm_regroup frees the index, and all else
    regroup_write(self, &index, self->index);
    regroup_write(self, &end, NULL);
    // NOLINTEND(clang-analyzer-unix.Malloc)
}

static void regroup_all(struct regroup *self) {
    uint32_t objects = 0;
    self->at = RM_LOG_HEADER_BYTES;
    self->failed = fwrite(self->old.data, RM_LOG_HEADER_BYTES, 1, self->out) != 1;
    for (uint32_t i = 0; i < self->place_count; ++i)
        if (self->place[i].block.kind == RM_BLOCK_DESCRIPTION) {
            struct rm_block copy = self->place[i].block;
            regroup_write(self, &copy, regroup_payload(self, &self->place[i]));
            objects = copy.object + 1 > objects ? copy.object + 1 : objects;
        }
    regroup_object(self, UINT32_MAX);
    for (uint32_t object = 0; object < objects; ++object)
        regroup_object(self, object);
    regroup_tail(self);
}

/** Opens the new file, writes it, and syncs it. */
static enum rm_code regroup_file(struct regroup *self, char const *path, struct rm_error *error) {
    int const file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, NEW_FILE);
    self->out = file >= 0 ? fdopen(file, "wb") : NULL;
    if (self->out == NULL) {
        int const why = errno;
        if (file >= 0)
            close(file);
        return rm_fail(error, RM_E_SYSTEM, "%s: %s", path, strerror(why));
    }
    regroup_all(self);
    self->failed = fflush(self->out) != 0 || self->failed;
    self->failed = fsync(file) != 0 || self->failed;
    int const why = errno;
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    fclose(self->out);
    return self->failed ? rm_fail(error, RM_E_SYSTEM, "%s: cannot be written: %s", path, strerror(why)) : RM_OK;
}

/** Whether every payload is what it was: what is damaged stays where it is, to be salvaged by people. */
static bool regroup_is_whole(struct regroup const *self) {
    for (uint32_t i = 0; i < self->place_count; ++i)
        if (!rm_block_payload_is_good(&self->place[i].block, regroup_payload(self, &self->place[i])))
            return false;
    return true;
}

static enum rm_code regroup_open(struct regroup *self, char const *path, struct rm_error *error) {
    struct rm_scan scan;
    enum rm_code code = rm_mapped_file_open(path, &self->old, error);
    if (code == RM_OK)
        code = rm_scan_begin(&scan, self->old.data, self->old.bytes, path, error);
    if (code != RM_OK)
        return code;
    self->file_id = scan.file_id;
    self->place = rm_scan_index(&scan, &self->place_count);
    if (self->place == NULL || !regroup_is_whole(self))
        return rm_fail(error, RM_E_CONFIG, "%s: is not sealed or damaged: it stays as it is", path);
    self->index = calloc(self->place_count + 1ul, sizeof *self->index);
    self->payload = malloc(PLAIN_BYTES + RM_BLOCK_ALIGNMENT);
    self->scratch = malloc(PLAIN_BYTES + RM_BLOCK_ALIGNMENT);
    self->packed = malloc(rm_codec_bound(RM_BLOCK_PAYLOAD_MAX));
    bool const good = self->index != NULL && self->payload != NULL && self->scratch != NULL && self->packed != NULL;
    return good ? RM_OK : rm_fail(error, RM_E_NO_SPACE, "%s: no memory to store it anew", path);
}

enum rm_code rm_regroup(struct rm_disk *disk, char const *path, unsigned compress, struct rm_sealed *sealed,
                        struct rm_error *error) {
    struct regroup self = {.compress = compress};
    char fresh[PATH_MAX + sizeof RM_LOG_NEW_SUFFIX];
    snprintf(fresh, sizeof fresh, "%s%s", path, RM_LOG_NEW_SUFFIX);
    enum rm_code code = regroup_open(&self, path, error);
    if (code == RM_OK) {
        code = regroup_file(&self, fresh, error);
        if (code == RM_OK)
            rm_log_forget_live(path);
        int const result = code == RM_OK ? disk->ops->rename(disk->state, fresh, path) : 0;
        rm_log_forget_live(path); /* one that was made meanwhile */
        if (result < 0)
            code = rm_fail(error, RM_E_SYSTEM, "%s: cannot be given its name: %s", fresh, strerror(-result));
        if (code != RM_OK)
            unlink(fresh);
    }
    if (code == RM_OK) {
        sealed->bytes = self.at;
        sealed->blocks = self.index_count;
    }
    rm_mapped_file_close(&self.old);
    free(self.index);
    free(self.payload);
    free(self.scratch);
    free(self.packed);
    return code;
}
