// SPDX-License-Identifier: Apache-2.0
#include "fabric/segment_map.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <ringmaster/truncation.h>

#include "abi_hash.h"
#include "base/fail.h"
#include "fabric/owner_folder.h"
#include "fabric/segment_check.h"
#include "fabric/segment_lock.h"

void rm_segment_path(char path[PATH_MAX], char const *directory, char const *owner) {
    if (snprintf(path, PATH_MAX, "%s/%s.segment", directory, owner) >= PATH_MAX)
        path[0] = '\0';
}

bool rm_segment_whole(struct rm_segment_header const *header) {
    return atomic_load_explicit(&header->magic, memory_order_acquire) == RM_SEGMENT_MAGIC;
}

static enum rm_code half_made(char const *path, char const *directory, char const *owner, struct rm_error *error) {
    if (rm_segment_lock_held_in(directory, owner))
        return rm_fail(error, RM_E_HALF_MADE, "%s is being made just now; try again in a moment", path);
    return rm_fail(error, RM_E_HALF_MADE, "%s is half made: its owner ended while it started; start it again", path);
}

/** Checks of a reader, in the order in which each makes the next one possible. */
static enum rm_code check_mapped_segment(char const *path, char const *directory, char const *owner,
                                         struct rm_segment_header const *header, uint64_t bytes,
                                         struct rm_error *error) {
    if (!rm_segment_whole(header))
        return half_made(path, directory, owner, error);
    if (header->abi_version != RM_ABI_VERSION || header->layout_hash != RM_LAYOUT_HASH)
        return rm_fail(error, RM_E_VERSION,
                       "%s has ABI version %u (layout %016llx), this program has %u (%016llx): use programs of one "
                       "Ringmaster version",
                       path, header->abi_version, (unsigned long long)header->layout_hash, RM_ABI_VERSION,
                       (unsigned long long)RM_LAYOUT_HASH);
    if (strncmp(header->owner, owner, sizeof header->owner) != 0)
        return rm_fail(error, RM_E_HALF_MADE,
                       "%s is damaged: it names another owner; remove it and start its owner again", path);
    char const *fault = rm_segment_fault(header, bytes);
    if (fault != NULL)
        return rm_fail(error, RM_E_HALF_MADE, "%s is damaged: %s; remove it and start its owner again", path, fault);
    return RM_OK;
}

/** True for what may be mapped: an ordinary file, and behind a link only one on huge pages. Where the folder is one
 * user's, the file is his, or root's. */
static bool may_be_read(int place, bool through_link, char const *directory, bool own_folder) {
    struct stat status, folder;
    struct statfs system;
    return fstat(place, &status) == 0 && S_ISREG(status.st_mode) &&
           (!through_link || (fstatfs(place, &system) == 0 && system.f_type == HUGETLBFS_MAGIC)) &&
           (!own_folder || (stat(directory, &folder) == 0 && (status.st_uid == folder.st_uid || status.st_uid == 0)));
}

/** Opens a file without touching what is not to be read: a place is opened first (which wakes no device and waits for
 * no pipe), then judged, and then that same place is read. */
static int open_segment(char const *path, char const *directory, bool own_folder) {
    struct stat status;
    int place = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    bool const link = place >= 0 && fstat(place, &status) == 0 && S_ISLNK(status.st_mode);
    if (link) {
        close(place);
        place = open(path, O_PATH | O_CLOEXEC);
    }
    if (place < 0)
        return -1;
    char again[48];
    snprintf(again, sizeof again, "/proc/self/fd/%d", place);
    bool const good = may_be_read(place, link, directory, own_folder);
    int const file = good ? open(again, O_RDONLY | O_CLOEXEC) : -1;
    int const reason = good ? errno : EINVAL;
    close(place);
    errno = reason;
    return file;
}

static enum rm_code map_in(char const *directory, char const *owner, bool own_folder, struct rm_mapped_segment *mapped,
                           struct rm_error *error) {
    *mapped = (struct rm_mapped_segment){0};
    char path[PATH_MAX];
    rm_segment_path(path, directory, owner);
    int const file = open_segment(path, directory, own_folder);
    if (file < 0 && errno == ENOENT)
        return rm_fail(error, RM_E_ABSENT, "%s does not exist: nothing runs under that name", path);
    if (file < 0 && errno == EINVAL)
        return rm_fail(error, RM_E_SYSTEM, "%s: is not the file of that segment's owner; it is not read", path);
    if (file < 0)
        return rm_fail(error, RM_E_SYSTEM, "%s: cannot be opened: %s", path, strerror(errno));
    struct stat status = {0};
    fstat(file, &status);
    uint64_t const bytes = (uint64_t)status.st_size;
    if (bytes < sizeof(struct rm_segment_header)) {
        close(file);
        return half_made(path, directory, owner, error);
    }
    void *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    int const reason = errno;
    close(file);
    if (memory == MAP_FAILED)
        return rm_fail(error, RM_E_SYSTEM, "%s: cannot be mapped: %s", path, strerror(reason));
    *mapped = (struct rm_mapped_segment){
        .header = memory, .bytes = bytes, .uid = status.st_uid, .device = status.st_dev, .inode = status.st_ino};
    snprintf(mapped->owner, sizeof mapped->owner, "%s", owner);
    enum rm_code const code =
        rm_truncation_watch(memory, bytes)
            ? check_mapped_segment(path, directory, owner, mapped->header, bytes, error)
            : rm_fail(error, RM_E_NO_SPACE, "%s: is not mapped: this process maps %d segments already; detach some",
                      path, RM_WATCHED_MAX);
    if (code != RM_OK)
        rm_segment_unmap(mapped);
    return code;
}

enum rm_code rm_segment_map_readonly(char const *workspace_path, char const *owner, struct rm_mapped_segment *mapped,
                                     struct rm_error *error) {
    char directory[PATH_MAX];
    uid_t uid;
    rm_owner_directory(directory, workspace_path, owner);
    return map_in(directory, owner, rm_owner_folder(workspace_path, owner, &uid), mapped, error);
}

enum rm_code rm_segment_map_in(char const *directory, char const *owner, struct rm_mapped_segment *mapped,
                               struct rm_error *error) {
    return map_in(directory, owner, false, mapped, error);
}

bool rm_segment_lives(char const *directory, struct rm_mapped_segment const *mapped) {
    char path[PATH_MAX];
    struct stat there;
    rm_segment_path(path, directory, mapped->owner);
    /* The lock before the state: segment_lock.h says why. */
    if (!rm_segment_lock_tells_in(directory, mapped->owner) || stat(path, &there) != 0 ||
        there.st_ino != mapped->inode || there.st_dev != mapped->device)
        return false;
    /* Acquire: pairs with the release of rm_segment_finish, whose generation is then the one that is read, and of the
     * owner that replaced the segment (adopt_segment() in segment_file.c). */
    uint32_t const state = atomic_load_explicit(&mapped->header->state, memory_order_acquire);
    return state == RM_SEGMENT_LIVE && rm_segment_whole(mapped->header);
}

void rm_segment_unmap(struct rm_mapped_segment *mapped) {
    if (mapped->header != NULL) {
        rm_truncation_forget(mapped->header);
        munmap((void *)(uintptr_t)mapped->header, mapped->bytes);
    }
    mapped->header = NULL;
}
