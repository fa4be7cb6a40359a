// SPDX-License-Identifier: Apache-2.0
/** Seals log files: an index behind the last block, the end, and no byte more. */
#ifndef RM_RECORD_SEAL_H
#define RM_RECORD_SEAL_H

#include "disk.h"
#include "log_file.h"

/** What came of it. */
struct rm_sealed {
    /** Bytes of the file then. */
    uint64_t bytes;
    /** Blocks in the index. */
    uint32_t blocks;
    /** Bytes of damage between blocks, of a file that was walked through. */
    uint64_t damaged_bytes;
    /** The oldest turn and its TAI, and TAI of the newest record; RM_TURN_NONE and 0: there is none. */
    rm_turn first_turn;
    uint64_t first_tai_ns, newest_tai_ns;
};

/** Takes a block into account, for the oldest and the newest. `sealed` begins with zeros and RM_TURN_NONE. */
void rm_seal_take(struct rm_block const *block, struct rm_sealed *sealed);

/** Seals a file that was written to its end: its blocks are known. */
enum rm_code rm_seal_known(struct rm_disk *disk, struct rm_log_file const *file, struct rm_sealed *sealed,
                           struct rm_error *error);

/** Seals a file that was left: finds its exact end by walking through it, payloads included. RM_OK, too, for one that is
 * sealed. Errors: those of rm_log_header_check for what is no log; RM_E_NO_SPACE; RM_E_SYSTEM. */
enum rm_code rm_seal_found(struct rm_disk *disk, char const *path, struct rm_sealed *sealed, struct rm_error *error);

#endif
