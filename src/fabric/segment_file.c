// SPDX-License-Identifier: Apache-2.0
#include "fabric/segment_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "abi_hash.h"
#include "base/fail.h"
#include "base/timebase.h"
#include "fabric/huge_pages.h"
#include "fabric/segment_lock.h"
#include "fabric/segment_map.h"

enum { WORKSPACE_MODE = 0755, SEGMENT_MODE = 0644 };

static enum rm_code make_directories(char const *path, struct rm_error *error) {
    char partial[PATH_MAX];
    snprintf(partial, sizeof partial, "%s", path);
    for (char *slash = partial + 1;; ++slash) {
        if (*slash != '/' && *slash != '\0')
            continue;
        char const end = *slash;
        *slash = '\0';
        if (mkdir(partial, WORKSPACE_MODE) != 0 && errno != EEXIST)
            return rm_fail(error, RM_E_SYSTEM, "%s: cannot be made: %s", partial, strerror(errno));
        if (end == '\0')
            return RM_OK;
        *slash = end;
    }
}

static void *map(int file, uint64_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/** Maps what an earlier owner left, if it equals the plan. Otherwise tells its readers and unlinks it. */
static bool adopt(char const *path, uint64_t bytes, uint64_t directory_hash, struct rm_segment *segment) {
    int const file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return false;
    struct stat status;
    struct rm_segment_header *header = NULL;
    if (fstat(file, &status) == 0 && (uint64_t)status.st_size >= sizeof *header)
        header = map(file, (uint64_t)status.st_size);
    close(file);
    if (header == NULL)
        return false;
    bool const ours =
        rm_segment_whole(header) && header->abi_version == RM_ABI_VERSION && header->layout_hash == RM_LAYOUT_HASH;
    if (ours && header->directory_hash == directory_hash && header->segment_bytes == bytes) {
        segment->header = header;
        segment->bytes = (uint64_t)status.st_size;
        return true;
    }
    if (ours)
        atomic_store_explicit(&header->state, RM_SEGMENT_REPLACED, memory_order_release);
    munmap(header, (size_t)status.st_size);
    return false;
}

static void remove_segment(char const *path) {
    char target[PATH_MAX];
    ssize_t const length = readlink(path, target, sizeof target - 1);
    if (length > 0) {
        target[length] = '\0';
        unlink(target);
    }
    unlink(path);
}

/** Opens an empty file for the segment: on huge pages, with a link from the workspace, when enough of them are free. */
static int create_file(char const *path, char const *directory, char const *owner, uint64_t *bytes, bool *huge) {
    struct rm_huge_pages pages;
    *huge = rm_huge_pages_find(&pages) && pages.free_bytes >= *bytes + pages.page_bytes;
    if (*huge) {
        char const *name = strrchr(directory, '/');
        char target_directory[PATH_MAX], target[PATH_MAX];
        snprintf(target_directory, sizeof target_directory, "%.*s/ringmaster%s", PATH_MAX / 2, pages.mount,
                 name ? name : "");
        rm_segment_path(target, target_directory, owner);
        int const file = make_directories(target_directory, NULL) == RM_OK && (unlink(target), true)
                             ? open(target, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, SEGMENT_MODE)
                             : -1;
        if (file >= 0 && symlink(target, path) == 0) {
            *bytes = (*bytes + pages.page_bytes - 1) / pages.page_bytes * pages.page_bytes;
            return file;
        }
        if (file >= 0) {
            close(file);
            unlink(target);
        }
        *huge = false;
    }
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, SEGMENT_MODE);
}

static enum rm_code no_space(char const *directory, uint64_t bytes, int reason, struct rm_error *error) {
    struct statvfs space = {0};
    statvfs(directory, &space);
    return rm_fail(
        error, RM_E_NO_SPACE,
        "%s: the fabric needs %.1f MiB of shared memory but only %.1f MiB are free (%s); make the buffers smaller "
        "or the file system larger",
        directory, (double)bytes / 0x1p20, (double)space.f_bavail * (double)space.f_frsize / 0x1p20, strerror(reason));
}

static enum rm_code create(char const *path, char const *directory, char const *owner, uint64_t bytes,
                           struct rm_segment *segment, struct rm_error *error) {
    uint64_t file_bytes = bytes;
    int const file = create_file(path, directory, owner, &file_bytes, &segment->huge);
    if (file < 0)
        return rm_fail(error, errno == ENOSPC ? RM_E_NO_SPACE : RM_E_SYSTEM, "%s: cannot be made: %s", path,
                       strerror(errno));
    /* Reserve every page now: a file system that fills up later would end the server with SIGBUS. */
    int const reason = posix_fallocate(file, 0, (off_t)file_bytes);
    segment->header = reason == 0 ? map(file, file_bytes) : NULL;
    int const map_reason = errno;
    close(file);
    if (segment->header != NULL) {
        segment->bytes = file_bytes;
        return RM_OK;
    }
    remove_segment(path);
    if (reason != 0)
        return no_space(directory, bytes, reason, error);
    return rm_fail(error, RM_E_SYSTEM, "%s: cannot be mapped: %s", path, strerror(map_reason));
}

static void write_directory(struct rm_segment *segment, struct rm_segment_plan const *plan, char const *owner,
                            uint64_t bytes) {
    struct rm_segment_header *header = segment->header;
    header->abi_version = RM_ABI_VERSION;
    header->header_bytes = sizeof *header;
    header->layout_hash = RM_LAYOUT_HASH;
    header->directory_hash = rm_plan_hash(plan);
    header->segment_bytes = bytes;
    header->directory_offset = sizeof *header;
    header->object_count = (uint32_t)plan->count;
    header->object_bytes = sizeof(struct rm_object);
    snprintf(header->owner, sizeof header->owner, "%s", owner);
    struct rm_object *directory = (struct rm_object *)(header + 1);
    for (size_t i = 0; i < plan->count; ++i)
        directory[i] = plan->planned[i].object;
}

/** A fresh stream is empty: no head, and no slot that could be taken for turn 0. */
static void clear_stream(struct rm_stream *stream) {
    struct rm_slot *slot = (struct rm_slot *)((uint8_t *)stream + stream->slots_offset);
    atomic_store_explicit(&stream->head, RM_TURN_NONE, memory_order_relaxed);
    atomic_store_explicit(&stream->first, RM_TURN_NONE, memory_order_relaxed);
    for (uint64_t i = 0; i < stream->capacity; ++i)
        atomic_store_explicit(&slot[i].word[0], RM_TURN_NONE, memory_order_relaxed);
}

/** Objects as they begin: an adopted segment keeps its streams, everything else starts anew. */
static void write_objects(struct rm_segment *segment, struct rm_segment_plan const *plan) {
    for (size_t i = 0; i < plan->count; ++i) {
        struct rm_planned const *planned = &plan->planned[i];
        bool const stream = planned->object.kind == RM_OBJECT_STREAM;
        uint8_t *memory = rm_segment_memory(segment, plan, i);
        if (stream && segment->adopted)
            continue;
        if (segment->adopted)
            memset(memory, 0, planned->object.bytes);
        if (planned->constant_bytes > 0)
            memcpy(memory, planned->constant, planned->constant_bytes);
        if (stream)
            clear_stream((struct rm_stream *)memory);
    }
}

enum rm_code rm_segment_open(char const *workspace, char const *owner, struct rm_segment_plan *plan,
                             struct rm_segment *segment, struct rm_error *error) {
    *segment = (struct rm_segment){.lock_file = -1};
    char directory[PATH_MAX];
    char *path = segment->path;
    enum rm_code code = rm_plan_check(plan, error);
    if (code == RM_OK)
        code = rm_workspace_path(workspace, directory, error);
    if (code == RM_OK)
        code = make_directories(directory, error);
    if (code == RM_OK)
        code = rm_segment_lock_take(directory, owner, &segment->lock_file, error);
    if (code != RM_OK)
        return code;
    uint64_t const bytes = rm_plan_layout(plan);
    rm_segment_path(path, directory, owner);
    segment->adopted = adopt(path, bytes, rm_plan_hash(plan), segment);
    if (!segment->adopted) {
        remove_segment(path);
        code = create(path, directory, owner, bytes, segment, error);
        if (code != RM_OK) {
            close(segment->lock_file);
            return code;
        }
        write_directory(segment, plan, owner, bytes);
    }
    atomic_store_explicit(&segment->header->state, RM_SEGMENT_BUILDING, memory_order_release);
    write_objects(segment, plan);
    return RM_OK;
}

void *rm_segment_memory(struct rm_segment const *segment, struct rm_segment_plan const *plan, rm_planned_index index) {
    return (uint8_t *)segment->header + plan->planned[index].object.offset;
}

void rm_segment_finish(struct rm_segment *segment) {
    struct rm_segment_header *header = segment->header;
    header->owner_pid = (uint32_t)getpid();
    header->started_tai_ns = rm_tai_ns();
    uint64_t const epoch = atomic_load_explicit(&header->epoch, memory_order_relaxed);
    atomic_store_explicit(&header->epoch, epoch + 1, memory_order_relaxed);
    atomic_store_explicit(&header->state, RM_SEGMENT_LIVE, memory_order_relaxed);
    /* Release: pairs with the acquire in rm_segment_whole. */
    atomic_store_explicit(&header->magic, RM_SEGMENT_MAGIC, memory_order_release);
}

void rm_segment_close(struct rm_segment *segment) {
    if (segment->header == NULL)
        return;
    if (rm_segment_whole(segment->header))
        atomic_store_explicit(&segment->header->state, RM_SEGMENT_CLOSED, memory_order_release);
    else
        remove_segment(segment->path);
    munmap(segment->header, segment->bytes);
    close(segment->lock_file);
    segment->header = NULL;
}
