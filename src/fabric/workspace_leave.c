// SPDX-License-Identifier: Apache-2.0
#include "fabric/workspace_leave.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fabric/owner_folder.h"
#include "fabric/owner_names.h"
#include "fabric/segment_lock.h"
#include "fabric/segment_map.h"

static bool has_server(char const *workspace_path) {
    char path[PATH_MAX];
    struct stat status;
    rm_segment_path(path, workspace_path, "server");
    return lstat(path, &status) == 0;
}

static void clear_owners(char const *workspace_path) {
    struct rm_owner_names names;
    char directory[PATH_MAX];
    rm_owner_names_list(&names, workspace_path);
    for (size_t i = 0; i < names.count; ++i) {
        rm_owner_directory(directory, workspace_path, names.name[i]);
        rm_segment_lock_clear(directory, names.name[i]);
        rmdir(directory); // which fails, as it should, while something is in it
    }
    rm_owner_names_free(&names);
}

/** True for one as the server makes it: there is nothing in its group and mode to be remembered. */
static bool is_plain_folder(char const *folder) {
    struct stat status;
    return lstat(folder, &status) == 0 && status.st_gid == getegid() && (status.st_mode & 07777) == RM_FOLDER_MODE;
}

static void clear_requesters(char const *workspace_path) {
    struct rm_owner_names names;
    char folder[PATH_MAX];
    if (snprintf(folder, sizeof folder, "%s/%s", workspace_path, RM_REQUESTS_FOLDER) >= PATH_MAX)
        return;
    rm_owner_names_list_in(&names, folder);
    for (size_t i = 0; i < names.count; ++i)
        rm_segment_lock_clear(folder, names.name[i]);
    rm_owner_names_free(&names);
    if (is_plain_folder(folder))
        rmdir(folder);
}

/** The socket by which a server that was killed took commands. */
static void clear_socket(char const *workspace_path) {
    char path[PATH_MAX];
    struct stat status;
    if (snprintf(path, sizeof path, "%s/commands", workspace_path) < PATH_MAX && lstat(path, &status) == 0 &&
        S_ISSOCK(status.st_mode))
        unlink(path);
}

void rm_workspace_leave(char const *workspace) {
    char path[PATH_MAX];
    if (rm_workspace_path(workspace, path, NULL) != RM_OK || has_server(path))
        return;
    clear_owners(path);
    clear_requesters(path);
    clear_socket(path);
    rmdir(path);
}
