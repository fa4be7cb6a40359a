// SPDX-License-Identifier: Apache-2.0
/** Surviving that another process cuts a file which is mapped here.
 *
 * The owner of a segment can cut its file at any instant. A process that then reads the mapping receives SIGBUS, which
 * ends it. So the library watches each segment that it maps: the pages that were cut are replaced by zeros, for good.
 * A segment of zeros is an owner that publishes nothing: rm_workspace_alive() is false for the server's, and
 * rm_workspace_cut() names the owner.
 *
 * rm_workspace_attach() does all of this by itself. A program that maps segments by itself calls the functions below.
 *
 * A signal handler belongs to the whole process. The library installs one for SIGBUS with the first mapping that it
 * watches. A fault elsewhere goes on to the handler that was there before; without one, it ends the process as ever. A
 * program that has a SIGBUS handler of its own installs it before it attaches. */
#ifndef RINGMASTER_TRUNCATION_H
#define RINGMASTER_TRUNCATION_H

#include <stdbool.h>
#include <stdint.h>

/** Most mappings that one process may watch. */
enum { RM_WATCHED_MAX = 4096 };

/** Watches a read-only mapping that begins at a page. False when RM_WATCHED_MAX mappings are watched already, or when
 * the handler cannot be installed: this mapping is then not protected. Any thread. */
bool rm_truncation_watch(void const *start, uint64_t bytes);

/** Forgets a mapping. Called before it is unmapped. */
void rm_truncation_forget(void const *start);

/** True when a part of a watched mapping was cut, and read since. */
bool rm_truncation_cut(void const *start);

#endif
