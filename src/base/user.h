// SPDX-License-Identifier: Apache-2.0
/** Users of the system: which user a name means, and becoming that user for good. */
#ifndef RM_BASE_USER_H
#define RM_BASE_USER_H

#include <sys/types.h>

#include <ringmaster/error.h>

struct rm_user {
    uid_t uid;
    /** Primary group of the user. */
    gid_t gid;
};

/** Finds a user by name. RM_E_CONFIG where the system knows none of that name. */
enum rm_code rm_user_find(char const *name, struct rm_user *user, struct rm_error *error);

/** Makes this process that user's, with the user's groups, without capabilities and without a way to regain any. Call
 * it before the first thread and before foreign code is loaded. Nothing changes where the process is that user's
 * already. RM_E_SYSTEM where it is not allowed: then the process has not changed, or must end. */
enum rm_code rm_user_become(char const *name, struct rm_error *error);

#endif
