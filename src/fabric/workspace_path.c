// SPDX-License-Identifier: Apache-2.0
/** Where workspaces are: in the common folder, or in the user's own where he may not write in that. */
#include "fabric/segment_map.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

static char const COMMON[] = "/dev/shm/ringmaster";

/** The user's own folder, beside the common one. */
static void own_root(char root[PATH_MAX]) { snprintf(root, PATH_MAX, "%s-%u", COMMON, (unsigned)geteuid()); }

static bool is_folder(char const *path, struct stat *status) {
    return lstat(path, status) == 0 && S_ISDIR(status->st_mode);
}

/** True where ROOT/NAME is. */
static bool root_has_workspace(char const *root, char const *name) {
    char path[PATH_MAX];
    struct stat status;
    return snprintf(path, sizeof path, "%s/%s", root, name) < PATH_MAX && is_folder(path, &status);
}

/** True where this user makes new workspaces in the common folder. Root makes that folder: in another user's
 * he could exchange them. */
static bool is_for_me(char const *root) {
    return geteuid() == 0 || faccessat(AT_FDCWD, root, W_OK | X_OK, AT_EACCESS) == 0;
}

/** The folder that NAME is in, or that it would be made in. */
static enum rm_code find_root(char const *name, char root[PATH_MAX], struct rm_error *error) {
    char const *chosen = getenv("RINGMASTER_WORKSPACES");
    if (chosen != NULL && chosen[0] != '\0') {
        snprintf(root, PATH_MAX, "%s", chosen);
        return RM_OK;
    }
    char own[PATH_MAX];
    struct stat status;
    own_root(own);
    bool const mine = !is_folder(own, &status) || status.st_uid == geteuid();
    bool const in_common = root_has_workspace(COMMON, name), in_own = mine && root_has_workspace(own, name);
    if (in_common && in_own)
        return rm_fail(error, RM_E_ARGUMENT,
                       "workspace \"%s\" is in two places, %s and %s: stop one and let `ringmaster clean` remove what "
                       "it left, or say which by its path",
                       name, COMMON, own);
    bool const common = in_common || (!in_own && is_for_me(COMMON));
    if (!common && !mine)
        return rm_fail(error, RM_E_SYSTEM,
                       "%s belongs to user %u, so your workspaces cannot be there: remove it, or set "
                       "RINGMASTER_WORKSPACES",
                       own, (unsigned)status.st_uid);
    snprintf(root, PATH_MAX, "%s", common ? COMMON : own);
    return RM_OK;
}

enum rm_code rm_workspace_path(char const *name, char path[PATH_MAX], struct rm_error *error) {
    char root[PATH_MAX] = "";
    bool const dots = strcmp(name, ".") == 0 || strcmp(name, "..") == 0, is_path = strchr(name, '/') != NULL;
    enum rm_code code = RM_OK;
    if (name[0] != '\0' && !dots && !is_path)
        code = find_root(name, root, error);
    if (code != RM_OK)
        return code;
    int const length = is_path ? snprintf(path, PATH_MAX, "%s", name) : snprintf(path, PATH_MAX, "%s/%s", root, name);
    if (name[0] == '\0' || dots || length >= PATH_MAX - RM_OWNER_BYTES - 16)
        return rm_fail(error, RM_E_ARGUMENT, "\"%s\" is no workspace name", name);
    return RM_OK;
}
