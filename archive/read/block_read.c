// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/format/block.h"
#include "archive/format/codec.h"
#include "archive_parts.h"
#include "base/fail.h"
#include "object_check.h"

int rm_archive_descriptor(struct rm_archive *archive, uint32_t i) {
    if (archive->open_file == i)
        return archive->descriptor;
    if (archive->open_file != UINT32_MAX)
        close(archive->descriptor);
    archive->descriptor = open(rm_archive_stored_file(archive, i)->info.path, O_RDONLY | O_CLOEXEC);
    archive->open_file = archive->descriptor < 0 ? UINT32_MAX : i;
    if (archive->open_file == i && rm_stored_file_is(rm_archive_stored_file(archive, i), archive->descriptor))
        return archive->descriptor;
    if (archive->open_file == i)
        close(archive->descriptor);
    archive->open_file = UINT32_MAX;
    archive->changed = true;
    return -1;
}

/** Reads header and payload as stored, and compares them with what the index says. */
static char const *block_fetch(int descriptor, struct rm_archive_block const *block, char *stored) {
    size_t const bytes = sizeof block->block + block->block.stored_bytes;
    if (descriptor < 0)
        return "its file is no longer there, or was stored anew";
    if (!rm_read_all(descriptor, stored, bytes, block->offset))
        return "the file ends within the block";
    if (memcmp(stored, &block->block, sizeof block->block) != 0)
        return "the block's header is another one than the index has";
    return rm_block_payload_is_good(&block->block, stored + sizeof block->block)
               ? NULL
               : "what the block holds is damaged: its checksum is another one";
}

static char const *block_decode(struct rm_archive_block const *block, char const *stored, uint32_t record_bytes,
                                void *bytes) {
    if (block->block.codec == RM_CODEC_PLAIN) {
        memcpy(bytes, stored, block->block.plain_bytes);
        return NULL;
    }
    if (block->block.codec == RM_CODEC_BLOSC)
        return rm_codec_decode_image(stored, block->block.stored_bytes, bytes, block->block.plain_bytes)
                   ? NULL
                   : "what the block holds cannot be decoded";
    uint32_t *const scratch = malloc(block->block.plain_bytes);
    if (scratch == NULL)
        return "there is no memory to decode the block";
    bool const decoded =
        rm_codec_decode(stored, block->block.stored_bytes, record_bytes, scratch, bytes, block->block.plain_bytes);
    free(scratch);
    return decoded ? NULL : "what the block holds cannot be decoded";
}

char const *rm_block_read(struct rm_archive *archive, struct rm_archive_block const *block, uint32_t record_bytes,
                          void *bytes) {
    char *const stored = malloc(sizeof block->block + block->block.stored_bytes);
    char const *fault = stored == NULL ? "there is no memory to read the block"
                                       : block_fetch(rm_archive_descriptor(archive, block->file), block, stored);
    if (fault == NULL)
        fault = block_decode(block, stored + sizeof block->block, record_bytes, bytes);
    if (fault == NULL && block->block.kind == RM_BLOCK_IMAGE) {
        struct rm_archived_image image;
        memcpy(&image, bytes, sizeof image);
        fault = rm_image_fault(&image, block->block.plain_bytes);
    }
    if (fault != NULL && !archive->changed)
        rm_stored_file_damaged(rm_archive_stored_file(archive, block->file), block->offset,
                               rm_block_stride(&block->block), fault);
    free(stored);
    return fault;
}

enum rm_code rm_archive_is_unchanged(struct rm_archive *archive, struct rm_error *error) {
    bool const changed = archive->changed;
    archive->changed = false;
    return changed ? rm_fail(error, RM_E_BUSY,
                             "%s: files were removed or stored anew since it was looked at; refresh it", archive->path)
                   : RM_OK;
}

enum rm_code rm_archive_payload(struct rm_archive *archive, uint32_t object, uint32_t block, void *bytes,
                                struct rm_error *error) {
    if (object >= archive->objects.count || block >= rm_archive_parts(archive, object)->public.block_count)
        return rm_fail(error, RM_E_ARGUMENT, "%s: has no block %u of object %u", archive->path, block, object);
    struct rm_archive_object const *const it = &rm_archive_parts(archive, object)->public;
    struct rm_archive_block const *const at = &it->block[block];
    char const *const fault = rm_block_read(archive, at, it->is.record_bytes, bytes);
    if (fault == NULL)
        return RM_OK;
    enum rm_code code = rm_archive_is_unchanged(archive, error);
    if (code == RM_OK)
        code = rm_archive_list_damages(archive, error);
    return code != RM_OK
               ? code
               : rm_fail(error, RM_E_CONFIG, "%s: at byte %llu: %s",
                         rm_archive_stored_file(archive, at->file)->info.path, (unsigned long long)at->offset, fault);
}
