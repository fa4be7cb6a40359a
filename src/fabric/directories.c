// SPDX-License-Identifier: Apache-2.0
#include "fabric/directories.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"

enum { DIRECTORY_MODE = 0755 };

enum rm_code rm_directories_make(char const *path, struct rm_error *error) {
    char partial[PATH_MAX];
    snprintf(partial, sizeof partial, "%s", path);
    for (char *slash = partial + 1;; ++slash) {
        if (*slash != '/' && *slash != '\0')
            continue;
        char const end = *slash;
        *slash = '\0';
        if (mkdir(partial, DIRECTORY_MODE) != 0 && errno != EEXIST)
            return rm_fail(error, errno == ENOSPC ? RM_E_NO_SPACE : RM_E_SYSTEM, "%s: cannot be made: %s", partial,
                           strerror(errno));
        if (end == '\0')
            return RM_OK;
        *slash = end;
    }
}
