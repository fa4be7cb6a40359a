// SPDX-License-Identifier: Apache-2.0
#include "fabric/owner_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ringmaster/abi.h>

#include "base/fail.h"
#include "fabric/directories.h"
#include "fabric/segment_map.h"

static bool file_name_good(char const *name) {
    size_t const length = strlen(name);
    return length > 0 && length < RM_OWNER_BYTES && name[0] != '.' && strchr(name, '/') == NULL;
}

bool rm_owner_name_good(char const *owner) { return file_name_good(owner) && strcmp(owner, RM_REQUESTS_FOLDER) != 0; }

bool rm_owner_folder(char const *workspace_path, char const *owner, uid_t *uid) {
    char path[PATH_MAX];
    struct stat status;
    if (snprintf(path, PATH_MAX, "%s/%s", workspace_path, owner) >= PATH_MAX || lstat(path, &status) != 0 ||
        !S_ISDIR(status.st_mode))
        return false;
    *uid = status.st_uid;
    return true;
}

void rm_owner_directory(char path[PATH_MAX], char const *workspace_path, char const *owner) {
    uid_t uid;
    bool const own = rm_owner_folder(workspace_path, owner, &uid);
    if (snprintf(path, PATH_MAX, own ? "%s/%s" : "%s", workspace_path, owner) >= PATH_MAX)
        path[0] = '\0';
}

/** Removes the files in an open folder, not what links in it lead to. Its descriptor is used up. */
static void empty_owner_folder(int folder) {
    DIR *listing = fdopendir(folder);
    if (listing == NULL) {
        close(folder);
        return;
    }
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(listing), entry->d_name, 0);
    closedir(listing);
}

/** Gives an open folder to `uid`; if that user has it, it may keep its mode. The order matters: no other can make a
 * file there once it is given. */
static int give_owner_folder(int folder, uid_t uid, bool keeps_mode) {
    struct stat status;
    if (fstat(folder, &status) != 0)
        return errno;
    if (status.st_uid == uid && keeps_mode)
        return 0;
    if (status.st_uid == uid)
        return fchmod(folder, RM_FOLDER_MODE) == 0 ? 0 : errno;
    if (fchown(folder, uid, (gid_t)-1) != 0 || fchmod(folder, RM_FOLDER_MODE) != 0)
        return errno;
    int const again = dup(folder);
    if (again >= 0)
        empty_owner_folder(again);
    return 0;
}

enum rm_code rm_workspace_folder(char const *workspace, char const *name, uid_t uid, struct rm_error *error) {
    char directory[PATH_MAX], path[PATH_MAX];
    if (!file_name_good(name))
        return rm_fail(error, RM_E_ARGUMENT, "\"%s\" is no name for a folder of a workspace", name);
    enum rm_code code = rm_workspace_path(workspace, directory, error);
    if (code == RM_OK)
        code = rm_directories_make(directory, error);
    if (code != RM_OK)
        return code;
    snprintf(path, sizeof path, "%.*s/%.*s", (int)(PATH_MAX - RM_OWNER_BYTES - 2), directory, RM_OWNER_BYTES, name);
    bool const made = mkdir(path, RM_FOLDER_MODE) == 0;
    if (!made && errno != EEXIST)
        return rm_fail(error, errno == ENOSPC ? RM_E_NO_SPACE : RM_E_SYSTEM, "%s: cannot be made: %s", path,
                       strerror(errno));
    int const folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return rm_fail(error, RM_E_SYSTEM, "%s: cannot be opened as a folder: %s; remove it", path, strerror(errno));
    /* Which users may ask the administrator decides, and it stays so when the server is started again. */
    int const reason = give_owner_folder(folder, uid, !made && strcmp(name, RM_REQUESTS_FOLDER) == 0);
    close(folder);
    if (reason != 0)
        return rm_fail(error, RM_E_SYSTEM,
                       "%s: cannot be given to user %u: %s; start the server as root, or with applications of its own "
                       "user",
                       path, (unsigned)uid, strerror(reason));
    return RM_OK;
}
