// SPDX-License-Identifier: Apache-2.0
#include "fabric/requester.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ringmaster/request.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "fabric/owner_folder.h"
#include "fabric/owner_names.h"
#include "fabric/segment_lock.h"

enum { NAMES_TRIED = 1000 };

/** Removes what requesters left that were killed. */
static void clear_dead(char const *folder) {
    struct rm_owner_names names;
    rm_owner_names_list_in(&names, folder);
    for (size_t i = 0; i < names.count; ++i)
        rm_segment_lock_clear(folder, names.name[i]);
    rm_owner_names_free(&names);
}

static enum rm_code requests_folder(struct rm_owner const *owner, char folder[PATH_MAX], struct rm_error *error) {
    if (snprintf(folder, PATH_MAX, "%s/%s", owner->workspace, RM_REQUESTS_FOLDER) >= PATH_MAX)
        return rm_fail(error, RM_E_ARGUMENT, "%s: too long a path", owner->workspace);
    if (mkdir(folder, RM_FOLDER_MODE) != 0 && errno != EEXIST)
        return rm_fail(error, errno == ENOENT ? RM_E_ABSENT : RM_E_SYSTEM, "%s: cannot be made: %s", folder,
                       strerror(errno));
    if (access(folder, W_OK | X_OK) != 0)
        return rm_fail(error, RM_E_SYSTEM,
                       "%s: %s: a user who may write in that folder may set parameters; run as its user", folder,
                       strerror(errno));
    return RM_OK;
}

/** "put" becomes "put-4711-2a7f3c1b9d04", by process and time; what does not fit is cut from the front part. Replies
 * outlive the requester, and are told apart by name, generation and number: so no two requesters ever share a name,
 * be it one after the other, in one process or in two that were given the same number. */
static void unique_name(char unique[RM_OWNER_BYTES], char const *name) {
    char tail[RM_OWNER_BYTES];
    size_t const length =
        (size_t)snprintf(tail, sizeof tail, "-%ld-%llx", (long)getpid(), (unsigned long long)rm_monotonic_ns());
    size_t const front = strnlen(name, RM_OWNER_BYTES - 1 - length);
    memcpy(unique, name, front);
    memcpy(unique + front, tail, length + 1);
}

/** User of the lock NAME.lock. False when there is none. */
static bool lock_user(char const *folder, char const *name, uid_t *uid) {
    char path[PATH_MAX];
    struct stat status;
    if (snprintf(path, sizeof path, "%s/%s.lock", folder, name) >= PATH_MAX || lstat(path, &status) != 0)
        return false;
    *uid = status.st_uid;
    return true;
}

/** Counts those that live. One that is opening counts itself, so of those that stay none makes one too many. */
static enum rm_code check_requester_room(char const *folder, struct rm_error *error) {
    struct rm_owner_names names;
    size_t all = 0, own = 0;
    uid_t uid;
    rm_owner_names_list_in(&names, folder);
    for (size_t i = 0; i < names.count; ++i)
        if (lock_user(folder, names.name[i], &uid) && rm_segment_lock_held_in(folder, names.name[i])) {
            ++all;
            own += uid == geteuid();
        }
    rm_owner_names_free(&names);
    if (own <= RM_REQUESTERS_PER_USER && all <= RM_REQUESTERS_MAX)
        return RM_OK;
    bool const ours = own > RM_REQUESTERS_PER_USER;
    return rm_fail(error, RM_E_BUSY,
                   "%s: %d programs %shold a place to ask from, as many as %s; end some of them (\"ringmaster ls "
                   "--requesters\" names them)",
                   folder, ours ? RM_REQUESTERS_PER_USER : RM_REQUESTERS_MAX, ours ? "of your user " : "",
                   ours ? "one user may have" : "a workspace has");
}

static enum rm_code open_under_unique_name(struct rm_owner *owner, char const *folder, struct rm_error *error) {
    char wanted[RM_OWNER_BYTES];
    enum rm_code code = RM_E_BUSY;
    memcpy(wanted, owner->name, sizeof wanted);
    for (unsigned tried = 0; tried < NAMES_TRIED && code == RM_E_BUSY; ++tried) {
        unique_name(owner->name, wanted);
        code = rm_segment_open_in(folder, owner->name, &owner->plan, &owner->segment, error);
    }
    return code;
}

enum rm_code rm_requester_open(struct rm_owner *owner, struct rm_error *error) {
    char folder[PATH_MAX];
    enum rm_code code = requests_folder(owner, folder, error);
    if (code != RM_OK)
        return code;
    clear_dead(folder);
    code = open_under_unique_name(owner, folder, error);
    if (code != RM_OK)
        return code;
    code = check_requester_room(folder, error);
    if (code != RM_OK)
        rm_segment_remove(&owner->segment);
    return code;
}
