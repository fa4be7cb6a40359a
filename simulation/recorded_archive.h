// SPDX-License-Identifier: Apache-2.0
/** The directory of a recorder's archive (ringmaster/archive_read.h), as a replay reads it (host/host_recorded.h).
 *
 * The first stream that is asked for, an application's decision record, says which turn-counter epoch is replayed: that
 * of its newest run. Of all others the newest run is taken that was recorded meanwhile; without one the stream is empty.
 * Streams are described as far as the archive does: capacity, margin and source address are 0.
 */
#ifndef RM_SIMULATION_RECORDED_ARCHIVE_H
#define RM_SIMULATION_RECORDED_ARCHIVE_H

#include <stdbool.h>

#include "host/host_recorded.h"

struct rm_recorded_archive;

/** Whether the directory is an archive's: it has the file `archive`. */
bool rm_recorded_archive_is(char const *path);

/** Opens the archive; what is recorded later is not seen. A recorder may run beside: files that it stores anew are read
 * again, and what it removes is missing. The errors are those of rm_archive_open; RM_E_NO_SPACE. */
enum rm_code rm_recorded_archive_open(char const *path, struct rm_recorded_archive **archive, struct rm_error *error);

/** NULL is allowed. */
void rm_recorded_archive_close(struct rm_recorded_archive *archive);

/** What a replay is given; for one replay alone. Valid until the archive is closed. */
struct rm_recorded_source rm_recorded_archive_source(struct rm_recorded_archive *archive);

#endif
