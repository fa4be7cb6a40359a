// SPDX-License-Identifier: Apache-2.0
/** The file `OWNER.leases` beside a segment that has images (ringmaster/images.h).
 *
 * It is empty: only the locks on its bytes mean something. They are locks of open file descriptions, so each reader and
 * each writer opens the file for itself, and two of one process are held apart as two processes are. A reader locks
 * exclusively too, so every user who may read the segment may write this file. */
#ifndef RM_FABRIC_LEASES_H
#define RM_FABRIC_LEASES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

/** The file of the segment at `segment_path`, "…/cameras.segment". Empty where that has no such name. */
void rm_leases_path(char path[PATH_MAX], char const *segment_path);

/** Makes the file of a segment whose own file is there. What an earlier owner of the same user left stays, with the locks
 * that readers hold on it. */
enum rm_code rm_leases_make(char const *segment_path, struct rm_error *error);

/** Opens it. RM_E_ABSENT: it was removed, with its segment. */
enum rm_code rm_leases_open(char const *path, int *file, struct rm_error *error);

/** Take a byte shared or exclusively, without waiting: false when another holds it. */
bool rm_lease_share(int file, uint64_t byte);
bool rm_lease_take(int file, uint64_t byte);

/** Gives a byte back. */
void rm_lease_drop(int file, uint64_t byte);

#endif
