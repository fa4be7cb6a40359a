// SPDX-License-Identifier: Apache-2.0
#include "fabric/segment_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

static void lock_path(char path[PATH_MAX], char const *workspace_path, char const *owner) {
    snprintf(path, PATH_MAX, "%s/%s.lock", workspace_path, owner);
}

/** The process id that the holder wrote, for messages; 0 when it is not readable. */
static long holder(int file) {
    char text[24] = "";
    long pid = 0;
    if (pread(file, text, sizeof text - 1, 0) > 0)
        sscanf(text, "%ld", &pid);
    return pid;
}

enum rm_code rm_segment_lock_take(char const *workspace_path, char const *owner, int *file, struct rm_error *error) {
    char path[PATH_MAX];
    lock_path(path, workspace_path, owner);
    int const opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (opened < 0)
        return rm_fail(error, errno == ENOSPC ? RM_E_NO_SPACE : RM_E_SYSTEM, "%s: cannot be opened: %s", path,
                       strerror(errno));
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(opened, F_OFD_SETLK, &whole) != 0) {
        int const reason = errno;
        long const pid = holder(opened);
        close(opened);
        if (reason != EAGAIN && reason != EACCES)
            return rm_fail(error, RM_E_SYSTEM, "%s: cannot be locked: %s", path, strerror(reason));
        return rm_fail(error, RM_E_BUSY,
                       "%s: process %ld owns \"%s\" of this workspace and is alive; stop it, or choose another "
                       "workspace name",
                       workspace_path, pid, owner);
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

bool rm_segment_lock_held(char const *workspace_path, char const *owner) {
    char path[PATH_MAX];
    lock_path(path, workspace_path, owner);
    int const file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    struct flock question = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    bool const held = fcntl(file, F_OFD_GETLK, &question) == 0 && question.l_type != F_UNLCK;
    close(file);
    return held;
}
