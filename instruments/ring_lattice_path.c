// SPDX-License-Identifier: Apache-2.0
/** Which file a lattice's name means: one beside the overlay, or one that comes with Ringmaster.
 *
 * Those lie in twin/lattices of a checkout, and in share/ringmaster/lattices where it is installed: looked for from
 * where the program is upwards, and then in what $XDG_DATA_DIRS names, as the twin's command does.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "ring_resolve.h"

static char const SHARE[] = "ringmaster/lattices";

static char *copy_if_there(char const *path) { return access(path, R_OK) == 0 ? strdup(path) : NULL; }

/** FOLDER/INSIDE/NAME.m. */
static char *try_shipped(char const *folder, size_t length, char const *inside, char const *name) {
    char path[PATH_MAX];
    int const written = snprintf(path, sizeof path, "%.*s/%s/%s.m", (int)length, folder, inside, name);
    return written > 0 && (size_t)written < sizeof path ? copy_if_there(path) : NULL;
}

static char *find_upwards(char const *name) {
    char place[PATH_MAX];
    ssize_t const length = readlink("/proc/self/exe", place, sizeof place - 1);
    if (length <= 0)
        return NULL;
    place[length] = '\0';
    char *found = NULL;
    for (char *slash; found == NULL && (slash = strrchr(place, '/')) != NULL;) {
        *slash = '\0';
        found = try_shipped(place, strlen(place), "twin/lattices", name);
        if (found == NULL)
            found = try_shipped(place, strlen(place), "share/ringmaster/lattices", name);
    }
    return found;
}

static char *find_shared(char const *name) {
    char const *folders = getenv("XDG_DATA_DIRS");
    char *found = NULL;
    if (folders == NULL || folders[0] == '\0')
        folders = "/usr/local/share:/usr/share";
    while (found == NULL && folders != NULL && folders[0] != '\0') {
        size_t const length = strcspn(folders, ":");
        found = try_shipped(folders, length, SHARE, name);
        folders = folders[length] == ':' ? folders + length + 1 : NULL;
    }
    return found;
}

/** A path as written, from the file's folder. */
static char *path_beside(char const *file, char const *name) {
    char path[PATH_MAX];
    char const *slash = strrchr(file, '/');
    int const folder = slash == NULL || name[0] == '/' ? 0 : (int)(slash - file + 1);
    int const written = snprintf(path, sizeof path, "%.*s%s", folder, file, name);
    return written > 0 && (size_t)written < sizeof path ? copy_if_there(path) : NULL;
}

enum rm_code rm_resolve_lattice(struct rm_resolve const *resolve, char const *name, char **path) {
    *path = path_beside(resolve->path, name);
    bool const is_short = strchr(name, '/') == NULL && strchr(name, '.') == NULL;
    if (*path == NULL && is_short)
        *path = find_upwards(name);
    if (*path == NULL && is_short)
        *path = find_shared(name);
    if (*path != NULL)
        return RM_OK;
    return rm_resolve_fail_at(
        resolve, "machine.lattice",
        "found \"%s\", expected a lattice's file, its path from this file's folder, or the name of a "
        "lattice that comes with Ringmaster, such as elettra2_like",
        name);
}
