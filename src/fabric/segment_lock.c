// SPDX-License-Identifier: Apache-2.0
#include "fabric/segment_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "fabric/owner_folder.h"
#include "fabric/segment_link.h"
#include "fabric/segment_map.h"

static void lock_path(char path[PATH_MAX], char const *directory, char const *owner) {
    if (snprintf(path, PATH_MAX, "%s/%s.lock", directory, owner) >= PATH_MAX)
        path[0] = '\0';
}

/** The process id that the holder wrote, for messages; 0 when it is not readable. */
static long segment_lock_holder(int file) {
    char text[24] = "";
    long pid = 0;
    if (pread(file, text, sizeof text - 1, 0) > 0)
        sscanf(text, "%ld", &pid);
    return pid;
}

/** Never through a link of either kind, and never waiting: the directory may be another user's. */
static int open_lock(char const *path, int how) {
    int const file = open(path, how | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
    struct stat status;
    if (file < 0 || (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink <= 1))
        return file;
    close(file);
    errno = EINVAL;
    return -1;
}

/** The bytes of the file that are locked, each for itself; the file may be shorter. */
enum lock_byte {
    BYTE_OWNS = 0,  /**< by the owner, for its whole life */
    BYTE_TELLS = 1, /**< by the owner too, as soon as its segment tells nothing of an earlier life */
};

static bool lock_byte(int file, enum lock_byte byte) {
    struct flock one = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(file, F_OFD_SETLK, &one) == 0;
}

/** True when the file at `path` is the open one: it was not removed since. */
static bool still_there(char const *path, int file) {
    struct stat there, open_one;
    return lstat(path, &there) == 0 && fstat(file, &open_one) == 0 && there.st_ino == open_one.st_ino &&
           there.st_dev == open_one.st_dev;
}

static enum rm_code fail_busy_segment(char const *directory, char const *owner, int file, struct rm_error *error) {
    return rm_fail(error, RM_E_BUSY,
                   "%s: process %ld owns \"%s\" of this workspace and is alive; stop it, or choose another "
                   "workspace name",
                   directory, segment_lock_holder(file), owner);
}

enum rm_code rm_segment_lock_take(char const *directory, char const *owner, int *file, struct rm_error *error) {
    char path[PATH_MAX];
    lock_path(path, directory, owner);
    for (;;) {
        int const opened = open_lock(path, O_RDWR | O_CREAT);
        if (opened < 0)
            return rm_fail(error, errno == ENOSPC ? RM_E_NO_SPACE : RM_E_SYSTEM, "%s: cannot be opened: %s", path,
                           strerror(errno));
        if (!lock_byte(opened, BYTE_OWNS)) {
            int const reason = errno;
            enum rm_code const code =
                reason == EAGAIN || reason == EACCES
                    ? fail_busy_segment(directory, owner, opened, error)
                    : rm_fail(error, RM_E_SYSTEM, "%s: cannot be locked: %s", path, strerror(reason));
            close(opened);
            return code;
        }
        if (!still_there(path, opened)) {
            close(opened); // another process cleared it away first; the next one is ours
            continue;
        }
        char text[24];
        int const length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
        if (ftruncate(opened, 0) != 0 || pwrite(opened, text, (size_t)length, 0) != length) {
            int const reason = errno;
            close(opened);
            return rm_fail(error, RM_E_NO_SPACE, "%s: cannot be written: %s", path, strerror(reason));
        }
        *file = opened;
        return RM_OK;
    }
}

enum rm_code rm_segment_lock_tell(char const *directory, int file, struct rm_error *error) {
    if (lock_byte(file, BYTE_TELLS))
        return RM_OK;
    return rm_fail(error, RM_E_SYSTEM, "%s: a lock cannot be taken whole: %s", directory, strerror(errno));
}

static bool byte_is_locked(char const *directory, char const *owner, enum lock_byte byte) {
    char path[PATH_MAX];
    lock_path(path, directory, owner);
    int const file = open_lock(path, O_RDONLY);
    if (file < 0)
        return false;
    struct flock question = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    bool const held = fcntl(file, F_OFD_GETLK, &question) == 0 && question.l_type != F_UNLCK;
    close(file);
    return held;
}

bool rm_segment_lock_held_in(char const *directory, char const *owner) {
    return byte_is_locked(directory, owner, BYTE_OWNS);
}

bool rm_segment_lock_held(char const *workspace_path, char const *owner) {
    char directory[PATH_MAX];
    rm_owner_directory(directory, workspace_path, owner);
    return rm_segment_lock_held_in(directory, owner);
}

bool rm_segment_lock_tells_in(char const *directory, char const *owner) {
    return byte_is_locked(directory, owner, BYTE_TELLS);
}

bool rm_segment_lock_tells(char const *workspace_path, char const *owner) {
    char directory[PATH_MAX];
    rm_owner_directory(directory, workspace_path, owner);
    return rm_segment_lock_tells_in(directory, owner);
}

void rm_segment_lock_clear(char const *directory, char const *owner) {
    char path[PATH_MAX], segment[PATH_MAX];
    lock_path(path, directory, owner);
    rm_segment_path(segment, directory, owner);
    int const file = open_lock(path, O_RDWR);
    if (file < 0)
        return;
    if (lock_byte(file, BYTE_OWNS) && still_there(path, file)) {
        rm_segment_unlink(segment);
        unlink(path);
    }
    close(file);
}
