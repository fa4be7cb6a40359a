// SPDX-License-Identifier: Apache-2.0
#include "fabric/segment_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fabric/huge_pages.h"
#include "fabric/leases.h"

bool rm_segment_huge_path(char target[PATH_MAX], char const *mount, char const *path) {
    char folder[PATH_MAX], real[PATH_MAX];
    char const *file = strrchr(path, '/');
    if (file == NULL || snprintf(folder, sizeof folder, "%.*s", (int)(file - path), path) >= PATH_MAX)
        return false;
    return realpath(folder, real) != NULL &&
           snprintf(target, PATH_MAX, "%s/ringmaster%s%s", mount, real, file) < PATH_MAX;
}

bool rm_segment_link(char target[PATH_MAX], char const *path) {
    struct rm_huge_pages pages;
    char expected[PATH_MAX];
    ssize_t const length = readlink(path, target, PATH_MAX - 1);
    if (length <= 0)
        return false;
    target[length] = '\0';
    return rm_huge_pages_find(&pages) && rm_segment_huge_path(expected, pages.mount, path) &&
           strcmp(target, expected) == 0;
}

void rm_segment_unlink(char const *path) {
    char target[PATH_MAX], leases[PATH_MAX];
    if (rm_segment_link(target, path))
        unlink(target);
    unlink(path);
    rm_leases_path(leases, path);
    unlink(leases);
}
