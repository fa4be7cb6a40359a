// SPDX-License-Identifier: Apache-2.0
/** Folders of a workspace that belong to other users, so that they can own segments there (ringmaster/segment.h).
 *
 * Whoever owns a folder may do to its files what he likes: put links in their places, cut them, exchange them. What
 * others open there they open so that he can harm nobody but himself: a lock and a file that is written never through a
 * link, a segment that is read only if it is an ordinary file (or the link to huge pages that its owner makes), and its
 * owner's. The workspace itself is the server's user's, so nobody makes a folder there but by the server.
 */
#ifndef RM_FABRIC_OWNER_FOLDER_H
#define RM_FABRIC_OWNER_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include <ringmaster/error.h>

/** The folder of those who only ask. */
#define RM_REQUESTS_FOLDER "requests"

enum { RM_FOLDER_MODE = 0755 };

/** True for a name that an owner may have: 1 to 31 bytes, no slash, no dot in front, not RM_REQUESTS_FOLDER. */
bool rm_owner_name_good(char const *owner);

/** Where OWNER's lock and segment lie: in the workspace's folder of its name if there is one (a folder, not a link to
 * one), else in the workspace. */
void rm_owner_directory(char path[PATH_MAX], char const *workspace_path, char const *owner);

/** True when OWNER has a folder of its own; `*uid` is then whose it is. */
bool rm_owner_folder(char const *workspace_path, char const *owner, uid_t *uid);

/** Makes the folder NAME of a workspace (by its name), mode 0755, and gives it to the user `uid`; both are made where
 * they are missing. A folder that was another user's is emptied of files first, as that user could still write them. A
 * folder RM_REQUESTS_FOLDER that is that user's already keeps its group and mode: so an administrator says who may ask.
 * For the server; giving to another user takes the rights of root. */
enum rm_code rm_workspace_folder(char const *workspace, char const *name, uid_t uid, struct rm_error *error);

#endif
