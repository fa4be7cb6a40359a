// SPDX-License-Identifier: Apache-2.0
#include "fabric/segment_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "abi_hash.h"
#include "base/fail.h"
#include "base/timebase.h"
#include "fabric/directories.h"
#include "fabric/huge_pages.h"
#include "fabric/leases.h"
#include "fabric/owner_folder.h"
#include "fabric/segment_link.h"
#include "fabric/segment_lock.h"
#include "fabric/segment_map.h"
#include "fabric/segment_objects.h"

enum { SEGMENT_MODE = 0644 };

static void *map_segment_file(int file, uint64_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/** True when what is mapped at `header` can be gone on with. */
static bool segment_is_adoptable(struct rm_segment_header const *header, uint64_t mapped_bytes, uint64_t bytes,
                                 struct rm_segment_plan const *plan) {
    return header->segment_bytes == bytes && mapped_bytes >= bytes && rm_objects_equal(header, plan);
}

/** Opens what an earlier owner of the same user left. Another user could write it still. */
static int open_left(char const *path) {
    char target[PATH_MAX];
    int const how = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int const file = open(rm_segment_link(target, path) ? target : path, how);
    struct stat status;
    if (file < 0 || (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid()))
        return file;
    close(file);
    return -1;
}

/** Maps what an earlier owner left, if it equals the plan. Otherwise tells its readers. */
static bool adopt_segment(struct rm_segment *segment, uint64_t bytes, struct rm_segment_plan const *plan) {
    int const file = open_left(segment->path);
    if (file < 0)
        return false;
    struct stat status;
    struct statfs system;
    struct rm_segment_header *header = NULL;
    if (fstat(file, &status) == 0 && fstatfs(file, &system) == 0 && (uint64_t)status.st_size >= sizeof *header)
        header = map_segment_file(file, (uint64_t)status.st_size);
    close(file);
    if (header == NULL)
        return false;
    bool const ours =
        rm_segment_whole(header) && header->abi_version == RM_ABI_VERSION && header->layout_hash == RM_LAYOUT_HASH;
    if (ours && segment_is_adoptable(header, (uint64_t)status.st_size, bytes, plan)) {
        segment->header = header;
        segment->bytes = (uint64_t)status.st_size;
        segment->huge = system.f_type == HUGETLBFS_MAGIC;
        return true;
    }
    if (ours)
        atomic_store_explicit(&header->state, RM_SEGMENT_REPLACED, memory_order_release);
    munmap(header, (size_t)status.st_size);
    return false;
}

/** Reserves every page of a fresh file now, because a file system that fills up later would end the server with SIGBUS,
 * and maps it. 0, or what errno says. */
static int reserve_segment_pages(int file, uint64_t bytes, struct rm_segment *segment) {
    int reason;
    do
        reason = posix_fallocate(file, 0, (off_t)bytes);
    while (reason == EINTR);
    if (reason != 0)
        return reason;
    segment->header = map_segment_file(file, bytes);
    segment->bytes = bytes;
    return segment->header != NULL ? 0 : errno;
}

/** Makes the folders that the file at `path` lies in. */
static bool make_folders(char const *path) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    return rm_directories_make(folder, NULL) == RM_OK;
}

/** Makes the segment on huge pages, with a link from the workspace, when enough of them are free. */
static bool create_huge(uint64_t bytes, struct rm_segment *segment) {
    struct rm_huge_pages pages;
    char target[PATH_MAX];
    if (!rm_huge_pages_find(&pages) || pages.free_bytes < bytes + pages.page_bytes ||
        !rm_segment_huge_path(target, pages.mount, segment->path) || !make_folders(target))
        return false;
    unlink(target);
    int const file = open(target, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, SEGMENT_MODE);
    if (file < 0)
        return false;
    uint64_t const whole_pages = (bytes + pages.page_bytes - 1) / pages.page_bytes * pages.page_bytes;
    segment->huge = reserve_segment_pages(file, whole_pages, segment) == 0 && symlink(target, segment->path) == 0;
    close(file);
    if (segment->huge)
        return true;
    unlink(target);
    if (segment->header != NULL)
        munmap(segment->header, segment->bytes);
    segment->header = NULL;
    return false;
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

static enum rm_code create_segment_file(char const *directory, uint64_t bytes, struct rm_segment *segment,
                                        struct rm_error *error) {
    if (create_huge(bytes, segment))
        return RM_OK;
    int const file = open(segment->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, SEGMENT_MODE);
    if (file < 0)
        return rm_fail(error, errno == ENOSPC ? RM_E_NO_SPACE : RM_E_SYSTEM, "%s: cannot be made: %s", segment->path,
                       strerror(errno));
    int const reason = reserve_segment_pages(file, bytes, segment);
    close(file);
    if (reason == 0)
        return RM_OK;
    unlink(segment->path);
    if (reason == ENOSPC || reason == ENOMEM)
        return no_space(directory, bytes, reason, error);
    return rm_fail(error, RM_E_SYSTEM, "%s: cannot be reserved: %s", segment->path, strerror(reason));
}

/** Lets go of a segment that could not be opened whole. */
static void give_up(struct rm_segment *segment) {
    if (segment->header != NULL)
        munmap(segment->header, segment->bytes);
    segment->header = NULL;
    close(segment->lock_file);
}

/** Opens, in a directory that is there. */
enum rm_code rm_segment_open_in(char const *directory, char const *owner, struct rm_segment_plan *plan,
                                struct rm_segment *segment, struct rm_error *error) {
    *segment = (struct rm_segment){.lock_file = -1};
    enum rm_code code = rm_segment_lock_take(directory, owner, &segment->lock_file, error);
    if (code != RM_OK)
        return code;
    rm_plan_own(plan, owner);
    uint64_t const bytes = rm_plan_layout(plan);
    rm_segment_path(segment->path, directory, owner);
    segment->adopted = adopt_segment(segment, bytes, plan);
    if (segment->adopted) {
        atomic_store_explicit(&segment->header->state, RM_SEGMENT_BUILDING, memory_order_relaxed);
        rm_objects_renew(segment->header, plan);
    } else {
        rm_segment_unlink(segment->path);
        code = create_segment_file(directory, bytes, segment, error);
        if (code == RM_OK)
            rm_objects_begin(segment->header, plan, owner, bytes);
    }
    if (code == RM_OK && rm_plan_count(plan, RM_OBJECT_IMAGES) > 0)
        code = rm_leases_make(segment->path, error);
    if (code == RM_OK)
        code = rm_segment_lock_tell(directory, segment->lock_file, error);
    if (code != RM_OK)
        give_up(segment);
    return code;
}

enum rm_code rm_segment_open(char const *workspace, char const *owner, struct rm_segment_plan *plan,
                             struct rm_segment *segment, struct rm_error *error) {
    *segment = (struct rm_segment){.lock_file = -1};
    char path[PATH_MAX], directory[PATH_MAX];
    enum rm_code code = rm_plan_check(plan, error);
    if (code == RM_OK && !rm_owner_name_good(owner))
        code = rm_fail(error, RM_E_ARGUMENT,
                       "\"%s\" is no name for an owner: 1 to %d bytes, no slash, no dot in front, not \"%s\"", owner,
                       RM_OWNER_BYTES - 1, RM_REQUESTS_FOLDER);
    if (code == RM_OK)
        code = rm_workspace_path(workspace, path, error);
    bool again = code == RM_OK;
    for (int tries = 0; again && tries < 3; ++tries) {
        code = rm_directories_make(path, error);
        if (code != RM_OK)
            break;
        rm_owner_directory(directory, path, owner);
        code = rm_segment_open_in(directory, owner, plan, segment, error);
        again = code != RM_OK && access(directory, F_OK) != 0; // the last of others has just left, with the folder
    }
    return code;
}

void *rm_segment_memory(struct rm_segment const *segment, struct rm_segment_plan const *plan, rm_planned_index index) {
    return (uint8_t *)segment->header + plan->planned[index].object.offset;
}

void rm_segment_finish(struct rm_segment *segment) {
    struct rm_segment_header *header = segment->header;
    atomic_store_explicit(&header->owner_pid, (uint32_t)getpid(), memory_order_relaxed);
    atomic_store_explicit(&header->started_tai_ns, rm_tai_ns(), memory_order_relaxed);
    uint64_t const generation = atomic_load_explicit(&header->generation, memory_order_relaxed);
    atomic_store_explicit(&header->generation, generation + 1, memory_order_relaxed);
    /* Release: for readers that were attached already when this owner adopted the segment. */
    atomic_store_explicit(&header->state, RM_SEGMENT_LIVE, memory_order_release);
    /* Release: pairs with the acquire in rm_segment_whole. */
    atomic_store_explicit(&header->magic, RM_SEGMENT_MAGIC, memory_order_release);
}

void rm_segment_close(struct rm_segment *segment) {
    if (segment->header == NULL)
        return;
    if (rm_segment_whole(segment->header))
        atomic_store_explicit(&segment->header->state, RM_SEGMENT_CLOSED, memory_order_release);
    else
        rm_segment_unlink(segment->path);
    munmap(segment->header, segment->bytes);
    close(segment->lock_file);
    segment->header = NULL;
}

/** Removes the lock beside a segment, held as it is: the process that takes it next makes a new one (segment_lock.c).
 */
static void remove_lock(char const *segment_path) {
    char path[PATH_MAX];
    size_t const length = strlen(segment_path) - strlen(".segment");
    snprintf(path, sizeof path, "%.*s.lock", (int)length, segment_path);
    unlink(path);
}

void rm_segment_remove(struct rm_segment *segment) {
    if (segment->header == NULL)
        return;
    /* Release: for readers, which keep the mapping: what comes under this name is another segment. */
    atomic_store_explicit(&segment->header->state, RM_SEGMENT_REPLACED, memory_order_release);
    rm_segment_unlink(segment->path);
    remove_lock(segment->path);
    munmap(segment->header, segment->bytes);
    close(segment->lock_file);
    segment->header = NULL;
}
