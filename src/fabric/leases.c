// SPDX-License-Identifier: Apache-2.0
#include "fabric/leases.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

void rm_leases_path(char path[PATH_MAX], char const *segment_path) {
    static char const ENDING[] = ".segment";
    size_t const length = strlen(segment_path), end = sizeof ENDING - 1;
    bool const named = length > end && strcmp(segment_path + length - end, ENDING) == 0;
    if (!named || snprintf(path, PATH_MAX, "%.*s.leases", (int)(length - end), segment_path) >= PATH_MAX)
        path[0] = '\0';
}

/** Never through a link, and never waiting: the folder may be another user's. */
static int leases_open_file(char const *path, int how) {
    int const file = open(path, how | O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    struct stat status;
    if (file < 0 || (fstat(file, &status) == 0 && S_ISREG(status.st_mode)))
        return file;
    close(file);
    errno = EINVAL;
    return -1;
}

/** Every user who may read the segment may write here. */
static bool leases_open_to_readers(int file, char const *segment_path) {
    struct stat segment, own;
    if (stat(segment_path, &segment) != 0 || fstat(file, &own) != 0)
        return false;
    mode_t const reads = segment.st_mode & 0444;
    return own.st_uid == geteuid() && fchmod(file, reads | reads >> 1) == 0;
}

enum rm_code rm_leases_make(char const *segment_path, struct rm_error *error) {
    char path[PATH_MAX];
    rm_leases_path(path, segment_path);
    int const file = leases_open_file(path, O_CREAT);
    bool const good = file >= 0 && leases_open_to_readers(file, segment_path);
    int const reason = errno;
    if (file >= 0)
        close(file);
    return good ? RM_OK
                : rm_fail(error, reason == ENOSPC ? RM_E_NO_SPACE : RM_E_SYSTEM,
                          "%s: the file of leases cannot be made: %s; remove it, if another user left it", path,
                          strerror(reason));
}

enum rm_code rm_leases_open(char const *path, int *file, struct rm_error *error) {
    *file = leases_open_file(path, 0);
    if (*file >= 0)
        return RM_OK;
    return rm_fail(error, errno == ENOENT ? RM_E_ABSENT : RM_E_SYSTEM,
                   "%s: the file of leases cannot be opened for writing: %s; its owner makes it when it starts", path,
                   strerror(errno));
}

static bool lease_set(int file, uint64_t byte, short type) {
    struct flock one = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};
    return fcntl(file, F_OFD_SETLK, &one) == 0;
}

bool rm_lease_share(int file, uint64_t byte) { return lease_set(file, byte, F_RDLCK); }

bool rm_lease_take(int file, uint64_t byte) { return lease_set(file, byte, F_WRLCK); }

void rm_lease_drop(int file, uint64_t byte) { lease_set(file, byte, F_UNLCK); }
