// SPDX-License-Identifier: Apache-2.0
/** Folders of a workspace that belong to other users, so that they can own segments there (ringmaster/segment.h).
 *
 * The user that owns a folder may do to its files what it likes: put links in their places, cut them, exchange them.
 * Other processes open files there in ways by which that user can harm only itself. A lock, and a file that is written,
 * is never opened through a link. A segment is read only if it is an ordinary file (or the link to huge pages that its
 * owner makes), and its owner's. The workspace itself belongs to the server's user, so only the server makes folders
 * there.
 */
#ifndef RM_FABRIC_OWNER_FOLDER_H
#define RM_FABRIC_OWNER_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include <ringmaster/error.h>

/** The folder of owners that only make requests. */
#define RM_REQUESTS_FOLDER "requests"

enum { RM_FOLDER_MODE = 0755 };

/** True for a name that an owner may have: 1 to 31 bytes, no slash, no dot in front, not RM_REQUESTS_FOLDER. */
bool rm_owner_name_good(char const *owner);

/** Where OWNER's lock and segment lie: in the workspace's folder of that name if there is one (a folder, not a link to
 * one), else in the workspace. */
void rm_owner_directory(char path[PATH_MAX], char const *workspace_path, char const *owner);

/** True when OWNER has a folder of its own; `*uid` is then the user that owns it. */
bool rm_owner_folder(char const *workspace_path, char const *owner, uid_t *uid);

/** Makes the folder NAME of a workspace (by its name), mode 0755, and gives it to the user `uid`. Workspace and folder
 * are made where they are missing. A folder that was another user's is emptied of files first, as that user could
 * still write them. A folder RM_REQUESTS_FOLDER that already belongs to that user keeps its group and mode: with these
 * an administrator decides which users may ask. For the server; giving a folder to another user takes the rights of
 * root. */
enum rm_code rm_workspace_folder(char const *workspace, char const *name, uid_t uid, struct rm_error *error);

#endif
