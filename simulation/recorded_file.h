// SPDX-License-Identifier: Apache-2.0
/** A recorded stream as one file: a head of RM_RECORDED_HEAD_BYTES, then records of 64 bytes (struct rm_record) in the
 * order of their turns; turns without a record are left out. All little-endian. A folder of such files, NAME.records
 * each, is what `ringmaster-simulate --record decisions` leaves and `--archive` replays. The name of a file is for
 * people: the stream's name stands in its head.
 */
#ifndef RM_SIMULATION_RECORDED_FILE_H
#define RM_SIMULATION_RECORDED_FILE_H

#include <stdint.h>
#include <stdio.h>

#include <ringmaster/error.h>
#include <ringmaster/record.h>
#include <ringmaster/stream.h>

/** The characters "RMRECORD" in memory order. */
#define RM_RECORDED_MAGIC 0x44524F4345524D52ull

enum { RM_RECORDED_VERSION = 1, RM_RECORDED_HEAD_BYTES = 4096 };

struct rm_recorded_head {
    /** RM_RECORDED_MAGIC, written last by what writes a file whole. */
    uint64_t magic;

    uint32_t version;
    /** RM_ABI_VERSION of `stream`. */
    uint32_t abi_version;
    /** The stream's name, "bpm01/low_latency". */
    char name[RM_NAME_BYTES];

    uint64_t reserved[2];
    /** Its head; what is written per burst has no meaning. */
    struct rm_stream stream;
};

_Static_assert(sizeof(struct rm_recorded_head) <= RM_RECORDED_HEAD_BYTES, "the head has its place");

#define RM_RECORDED_SUFFIX ".records"

/** Makes FOLDER/NAME.records, with '.' for '/', and writes its head. RM_E_SYSTEM. */
enum rm_code rm_recorded_file_make(char const *folder, char const *name, struct rm_stream const *stream, FILE **file,
                                   struct rm_error *error);

/** Removes all files of this kind from the folder, and makes it if need be: of an earlier run, they would be taken for
 * this one's. RM_E_SYSTEM. */
enum rm_code rm_recorded_folder_clear(char const *folder, struct rm_error *error);

#endif
