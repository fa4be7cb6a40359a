// SPDX-License-Identifier: Apache-2.0
/** Stores a sealed file anew: object by object in large blocks, compressed where that is wanted. What was written every
 * half second in small pieces is then read in few large ones.
 *
 * The new file stands beside the old one until it is whole and synced, and takes its name then. It has the same number
 * and identity, and all that the old one had: every record, mark and event, in its order within an object. */
#ifndef RM_RECORD_REGROUP_H
#define RM_RECORD_REGROUP_H

#include "configuration.h"
#include "disk.h"
#include "seal.h"

/** `compress` is enum rm_record_compress. Adds to `sealed` what the file is then. On an error the old file stays. */
enum rm_code rm_regroup(struct rm_disk *disk, char const *path, unsigned compress, struct rm_sealed *sealed,
                        struct rm_error *error);

#endif
