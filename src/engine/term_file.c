// SPDX-License-Identifier: Apache-2.0
#include "engine/term_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ringmaster/standby.h>

#include "base/fail.h"

enum { TEXT_BYTES = 16 };

/** True for a decimal number up to RM_TERM_MAX and the end of a line, which may be missing. */
static bool term_of(char const *text, uint32_t *term) {
    char *end;
    errno = 0;
    unsigned long const number = strtoul(text, &end, 10);
    bool const whole = end != text && (*end == '\0' || (*end == '\n' && end[1] == '\0'));
    *term = (uint32_t)number;
    return whole && text[0] >= '0' && text[0] <= '9' && errno == 0 && number <= RM_TERM_MAX;
}

enum rm_code rm_term_file_read(char const *path, uint32_t *term, struct rm_error *error) {
    char text[TEXT_BYTES] = "";
    *term = 0;
    int const file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT
                   ? RM_OK
                   : rm_fail(error, RM_E_SYSTEM, "%s: cannot read the highest term (%s)", path, strerror(errno));
    ssize_t const length = read(file, text, sizeof text - 1);
    int const why = errno;
    close(file);
    if (length < 0)
        return rm_fail(error, RM_E_SYSTEM, "%s: cannot read the highest term (%s)", path, strerror(why));
    if (!term_of(text, term))
        return rm_fail(
            error, RM_E_CONFIG,
            "%s: found \"%.15s\", expected the highest term, a number from 0 to %d; write it there, or remove "
            "the file where the chains still know their term",
            path, text, RM_TERM_MAX);
    return RM_OK;
}

/** Makes what `path` is of last on the disk, as far as the folder's file system does that. */
static void sync_folder_of(char const *path) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *const slash = strrchr(folder, '/');
    if (slash == NULL)
        snprintf(folder, sizeof folder, ".");
    else
        slash[slash == folder] = '\0';
    int const opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0)
        return;
    (void)fsync(opened);
    close(opened);
}

static bool term_file_fill(char const *path, uint32_t term) {
    char text[TEXT_BYTES];
    int const length = snprintf(text, sizeof text, "%u\n", term);
    int const file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0)
        return false;
    bool good = write(file, text, (size_t)length) == length && fsync(file) == 0;
    int const why = errno;
    good = close(file) == 0 && good;
    errno = good ? 0 : why;
    return good;
}

enum rm_code rm_term_file_write(char const *path, uint32_t term, struct rm_error *error) {
    char fresh[PATH_MAX];
    if ((size_t)snprintf(fresh, sizeof fresh, "%s.new", path) >= sizeof fresh)
        return rm_fail(error, RM_E_SYSTEM, "%s: the path is too long to keep the highest term there", path);
    if (!term_file_fill(fresh, term) || rename(fresh, path) != 0) {
        int const why = errno;
        (void)unlink(fresh);
        return rm_fail(error, RM_E_SYSTEM,
                       "%s: cannot keep the highest term, %u, there (%s); a server that starts anew "
                       "asks the chains for it",
                       path, term, strerror(why));
    }
    sync_folder_of(path);
    return RM_OK;
}
