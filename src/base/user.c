// SPDX-License-Identifier: Apache-2.0
#include "base/user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/fail.h"

enum { ENTRY_BYTES = 4096 };

enum rm_code rm_user_find(char const *name, struct rm_user *user, struct rm_error *error) {
    struct passwd entry, *found = NULL;
    char text[ENTRY_BYTES];
    int const reason = getpwnam_r(name, &entry, text, sizeof text, &found);
    if (found == NULL)
        return rm_fail(error, RM_E_CONFIG, "user \"%s\": %s; make it with useradd, or name another", name,
                       reason != 0 ? strerror(reason) : "the system knows none of that name");
    *user = (struct rm_user){.uid = found->pw_uid, .gid = found->pw_gid};
    return RM_OK;
}

static bool is_user(struct rm_user const *user) {
    uid_t real, effective, saved;
    return getresuid(&real, &effective, &saved) == 0 && real == user->uid && effective == user->uid &&
           saved == user->uid;
}

enum rm_code rm_user_become(char const *name, struct rm_error *error) {
    struct rm_user user = {0};
    enum rm_code const found = rm_user_find(name, &user, error);
    if (found != RM_OK || is_user(&user))
        return found;
    if (geteuid() != 0)
        return rm_fail(error, RM_E_SYSTEM,
                       "it is to run as user \"%s\" (%u), and this process is of user %u: start it as that user, or as "
                       "root, which then becomes that user",
                       name, user.uid, geteuid());
    /* Groups first: the right to change them goes with the user. */
    bool const became = initgroups(name, user.gid) == 0 && setresgid(user.gid, user.gid, user.gid) == 0 &&
                        setresuid(user.uid, user.uid, user.uid) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1ul, 0, 0, 0) == 0;
    if (became && is_user(&user))
        return RM_OK;
    return rm_fail(error, RM_E_SYSTEM, "it cannot become user \"%s\" (%u): %s", name, user.uid, strerror(errno));
}
