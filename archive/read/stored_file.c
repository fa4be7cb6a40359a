// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/format/scan.h"
#include "base/fail.h"
#include "object_check.h"
#include "stored_file.h"

bool rm_read_all(int descriptor, void *bytes, size_t count, uint64_t offset) {
    char *at = bytes;
    while (count > 0) {
        ssize_t const got = pread(descriptor, at, count, (off_t)offset);
        if (got <= 0)
            return false;
        at += got;
        offset += (uint64_t)got;
        count -= (size_t)got;
    }
    return true;
}

static struct rm_file_identity descriptor_identity(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return (struct rm_file_identity){0};
    return (struct rm_file_identity){.device = status.st_dev, .inode = status.st_ino};
}

bool rm_stored_file_is(struct rm_stored_file const *file, int descriptor) {
    struct rm_file_identity const its = descriptor_identity(descriptor);
    return its.device == file->identity.device && its.inode == file->identity.inode;
}

void rm_stored_file_damaged(struct rm_stored_file *file, uint64_t offset, uint64_t bytes, char const *what) {
    struct rm_archive_damage const *const known = file->damages.items;
    for (size_t i = 0; i < file->damages.count; ++i)
        if (known[i].offset == offset)
            return;
    struct rm_archive_damage *const damage = rm_growing_add(&file->damages, sizeof *damage);
    if (damage == NULL)
        return;
    damage->offset = offset;
    damage->bytes = bytes;
    memcpy(damage->path, file->info.path, sizeof damage->path);
    snprintf(damage->what, sizeof damage->what, "%s", what);
}

static bool header_is_empty(struct rm_log_header const *header) {
    static struct rm_log_header const EMPTY;
    return memcmp(header, &EMPTY, sizeof EMPTY) == 0;
}

char const *rm_stored_file_begin(struct rm_stored_file *file, int descriptor, char const *path) {
    *file = (struct rm_stored_file){.identity = descriptor_identity(descriptor)};
    snprintf(file->info.path, sizeof file->info.path, "%s", path);
    bool const whole = rm_read_all(descriptor, &file->info.header, sizeof file->info.header, 0);
    if (header_is_empty(&file->info.header))
        return "";
    if (!whole)
        return "it is shorter than the header of a file of an archive";
    struct rm_log_header const *const header = &file->info.header;
    switch (rm_log_header_check(header, path, NULL)) {
    case RM_OK:
        break;
    case RM_E_VERSION:
        return "it is of another version of the archive";
    default:
        return header->magic == RM_LOG_MAGIC ? "its header is damaged" : "it is no file of an archive";
    }
    if (memchr(header->log, 0, sizeof header->log) == NULL)
        return "the name of its log does not end";
    file->good.at = RM_LOG_HEADER_BYTES;
    return NULL;
}

void rm_stored_file_free(struct rm_stored_file *file) {
    rm_growing_free(&file->places);
    rm_growing_free(&file->objects);
    rm_growing_free(&file->marks);
    rm_growing_free(&file->damages);
}

/** The payload of a plain block in the mapped file, of the length that is expected; NULL where it is none. */
static void const *place_payload(struct rm_stored_file *file, struct rm_scan const *scan,
                                 struct rm_block_place const *place, size_t bytes) {
    struct rm_block const *const block = &place->block;
    void const *const payload = scan->file + place->offset + sizeof *block;
    if (block->codec == RM_CODEC_PLAIN && block->stored_bytes == bytes && rm_block_payload_is_good(block, payload))
        return payload;
    rm_stored_file_damaged(file, place->offset, rm_block_stride(block), "what the block holds is damaged");
    return NULL;
}

static bool file_describe(struct rm_stored_file *file, struct rm_scan const *scan, struct rm_block_place const *place) {
    struct rm_archived_object object;
    void const *const payload = place_payload(file, scan, place, sizeof object);
    if (payload == NULL)
        return true;
    memcpy(&object, payload, sizeof object);
    char const *const fault = place->block.object >= RM_FILE_OBJECTS_MAX ? "the object has a number that cannot be"
                                                                         : rm_object_fault(&object);
    if (fault != NULL) {
        rm_stored_file_damaged(file, place->offset, rm_block_stride(&place->block), fault);
        return true;
    }
    while (file->objects.count <= place->block.object)
        if (rm_growing_add(&file->objects, sizeof object) == NULL)
            return false;
    struct rm_archived_object *const known = file->objects.items;
    if (known[place->block.object].kind == 0)
        known[place->block.object] = object;
    else if (memcmp(&known[place->block.object], &object, sizeof object) != 0)
        rm_stored_file_damaged(file, place->offset, rm_block_stride(&place->block),
                               "an object is described in two ways");
    return true;
}

static bool file_mark(struct rm_stored_file *file, struct rm_scan const *scan, struct rm_block_place const *place) {
    void const *const payload = place_payload(file, scan, place, sizeof(struct rm_mark));
    if (payload == NULL)
        return true;
    struct rm_file_mark *const mark = rm_growing_add(&file->marks, sizeof *mark);
    if (mark == NULL)
        return false;
    memcpy(&mark->mark, payload, sizeof mark->mark);
    mark->block = place->block;
    return true;
}

static bool file_place(struct rm_stored_file *file, struct rm_block_place const *place) {
    struct rm_archived_object const *const objects = file->objects.items;
    uint32_t const number = place->block.object;
    char const *const fault = number >= file->objects.count || objects[number].kind == 0
                                  ? "the description of the block's object is missing"
                                  : rm_block_fault(&place->block, &objects[number]);
    if (fault != NULL) {
        rm_stored_file_damaged(file, place->offset, rm_block_stride(&place->block), fault);
        return true;
    }
    struct rm_block_place *const added = rm_growing_add(&file->places, sizeof *added);
    if (added != NULL)
        *added = *place;
    return added != NULL;
}

/** Takes in one block. false: there is no memory. */
static bool file_take(struct rm_stored_file *file, struct rm_scan const *scan, struct rm_block_place const *place) {
    switch (place->block.kind) {
    case RM_BLOCK_DESCRIPTION:
        return file_describe(file, scan, place);
    case RM_BLOCK_MARK:
        return file_mark(file, scan, place);
    case RM_BLOCK_RECORDS:
    case RM_BLOCK_REDUCED:
    case RM_BLOCK_EVENTS:
    case RM_BLOCK_IMAGE:
        return file_place(file, place);
    default:
        return true;
    }
}

/** An entry of the index that lies about its place would lead out of the file. */
static bool scan_has(struct rm_scan const *scan, struct rm_block_place const *place) {
    return place->offset % RM_BLOCK_ALIGNMENT == 0 && place->offset >= RM_LOG_HEADER_BYTES &&
           place->offset <= scan->bytes - sizeof place->block &&
           place->block.stored_bytes <= scan->bytes - sizeof place->block - place->offset &&
           rm_block_is_good(&place->block, scan->file_id);
}

static bool file_take_index(struct rm_stored_file *file, struct rm_scan const *scan, struct rm_block_place const *index,
                            uint32_t count) {
    file->info.sealed = 1;
    file->places.count = 0; // what was found while it grew
    file->marks.count = 0;
    file->damages.count = 0;
    for (uint32_t i = 0; i < count; ++i)
        if (!scan_has(scan, &index[i]))
            rm_stored_file_damaged(file, scan->bytes, 0, "an entry of the index leads nowhere");
        else if (!file_take(file, scan, &index[i]))
            return false;
    return true;
}

static struct rm_file_progress file_progress(struct rm_stored_file const *file, struct rm_scan const *scan) {
    return (struct rm_file_progress){
        .at = scan->at,
        .places = file->places.count,
        .marks = file->marks.count,
        .damages = file->damages.count,
        .sequence = scan->sequence,
    };
}

/** Puts a copy in place of what stands behind the last good block: the writer may cut it off, and what is mapped of it
 * would be no memory any more. False: there is none for that. */
static bool file_copy_rest(struct rm_scan const *scan, int descriptor) {
    uint64_t const from = scan->at & ~(uint64_t)(RM_PAGE_BYTES - 1);
    if (from >= scan->bytes)
        return true;
    size_t const bytes = scan->bytes - from;
    char *const rest = mmap((void *)(uintptr_t)(scan->file + from), bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (rest == MAP_FAILED)
        return false;
    for (size_t have = 0; have < bytes;) {
        ssize_t const got = pread(descriptor, rest + have, bytes - have, (off_t)(from + have));
        if (got <= 0) /* it was cut: zeros stand there */
            break;
        have += (size_t)got;
    }
    return true;
}

/** Takes in blocks as long as the scan gives some; false: there is no memory. */
static bool file_take_blocks(struct rm_stored_file *file, struct rm_scan *scan) {
    struct rm_block_place place;
    for (uint64_t before = scan->at, damaged = 0; rm_scan_next(scan, &place); before = scan->at) {
        if (scan->damaged_bytes != damaged)
            rm_stored_file_damaged(file, before, scan->damaged_bytes - damaged, "no good block stands here");
        damaged = scan->damaged_bytes;
        if (!file_take(file, scan, &place))
            return false;
        if (scan->damages == 0)
            file->good = file_progress(file, scan);
    }
    return true;
}

/** Walks from the last good place. What lies behind a damage is taken in, but looked at again the next time: of a file
 * that is being written, a block may come into the gap. */
static bool file_walk(struct rm_stored_file *file, struct rm_scan *scan, int descriptor) {
    file->places.count = file->good.places;
    file->marks.count = file->good.marks;
    file->damages.count = file->good.damages;
    scan->at = file->good.at;
    scan->sequence = file->good.sequence;
    scan->verifies = true;
    scan->stops = true;
    if (!file_take_blocks(file, scan) || !file_copy_rest(scan, descriptor))
        return false;
    scan->stops = false;
    return file_take_blocks(file, scan);
}

/** What stands behind the last good block of a file, where that is not zeros alone. */
static void file_judge_end(struct rm_stored_file *file, struct rm_scan const *scan) {
    for (uint64_t at = scan->end; at < scan->bytes; ++at)
        if (scan->file[at] != 0) {
            rm_stored_file_damaged(file, scan->end, scan->bytes - scan->end,
                                   "no good block follows up to the end: it was cut, or is being written");
            return;
        }
}

/** Bytes up to which a file has data: behind it may be room that its writer gives back when it seals the file. */
static uint64_t file_data_bytes(int descriptor, uint64_t bytes) {
    uint64_t end = 0;
    for (off_t data = 0; (data = lseek(descriptor, data, SEEK_DATA)) >= 0;) {
        off_t const hole = lseek(descriptor, data, SEEK_HOLE);
        if (hole < 0)
            return bytes;
        end = (uint64_t)hole;
        data = hole;
    }
    return end < bytes ? end : bytes;
}

/** Whether a file seems to be sealed. One that is not may be cut at any instant, and its end is not to be touched. */
static bool file_has_end(int descriptor, uint64_t bytes) {
    struct rm_block end;
    return rm_read_all(descriptor, &end, sizeof end, bytes - sizeof end) && end.magic == RM_BLOCK_MAGIC &&
           end.kind == RM_BLOCK_END;
}

enum rm_code rm_stored_file_look(struct rm_stored_file *file, int descriptor, struct rm_error *error) {
    struct stat status;
    if (file->info.sealed != 0)
        return RM_OK;
    if (fstat(descriptor, &status) != 0)
        return rm_fail(error, RM_E_SYSTEM, "%s: cannot be looked at: %m", file->info.path);
    file->info.bytes = (uint64_t)status.st_size;
    uint64_t const bytes = file_data_bytes(descriptor, file->info.bytes);
    if (bytes < RM_LOG_HEADER_BYTES)
        return RM_OK;
    void *const memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED)
        return rm_fail(error, RM_E_SYSTEM, "%s: cannot be mapped: %m", file->info.path);
    struct rm_scan scan;
    enum rm_code code = rm_scan_begin(&scan, memory, bytes, file->info.path, error);
    if (code == RM_OK) {
        uint32_t count = 0;
        struct rm_block_place const *const index =
            file_has_end(descriptor, bytes) ? rm_scan_index(&scan, &count) : NULL;
        bool const took =
            index != NULL ? file_take_index(file, &scan, index, count) : file_walk(file, &scan, descriptor);
        if (!took)
            code = rm_fail(error, RM_E_NO_SPACE, "%s: no memory for its index", file->info.path);
        else if (index == NULL)
            file_judge_end(file, &scan);
        file->info.read_bytes = index != NULL ? bytes : scan.end;
    }
    munmap(memory, bytes);
    return code;
}
