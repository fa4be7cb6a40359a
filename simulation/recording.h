// SPDX-License-Identifier: Apache-2.0
/** What a simulation leaves: a folder with one file of plain numbers per kind, a row per cycle, little-endian.
 *
 *     readings.i32    [cycle][input][12]      lanes as the records have them; of f32 lanes the bits
 *     tags.u64        [cycle][input]          the records' tags; all ones: missing
 *     setpoints.f64   [cycle][actuator]       what the application commanded
 *     sent.f64        [cycle][actuator]       what was sent last, as the step was told
 *     currents.f64    [cycle][actuator]       the supplies' true currents when the step's inputs were read
 *     streams.f32     [cycle][stream][12]     the application's streams; its rows: rows.h
 *     reported.f64    [cycle][scalar]         those of its readings that are one number
 */
#ifndef RM_SIMULATION_RECORDING_H
#define RM_SIMULATION_RECORDING_H

#include <stdint.h>
#include <stdio.h>

#include <ringmaster/error.h>
#include <ringmaster/record.h>

enum rm_recorded {
    RM_RECORDED_READINGS,
    RM_RECORDED_TAGS,
    RM_RECORDED_SETPOINTS,
    RM_RECORDED_SENT,
    RM_RECORDED_CURRENTS,
    RM_RECORDED_STREAMS,
    RM_RECORDED_REPORTED,
    RM_RECORDED_FILES,
};

#define RM_TAG_OF_MISSING UINT64_MAX

struct rm_recording {
    char const *folder;
    /** NULL: that file is not wanted. */
    FILE *file[RM_RECORDED_FILES];
};

extern char const *const rm_recorded_name[RM_RECORDED_FILES];

/** Makes the folder and the files of those bits of enum rm_simulate_record. RM_E_SYSTEM. */
enum rm_code rm_recording_open(char const *folder, unsigned record, struct rm_recording *recording,
                               struct rm_error *error);

/** Writes one cycle's row of a file; does nothing where the file is not wanted. */
void rm_recording_put(struct rm_recording *recording, enum rm_recorded which, void const *data, size_t bytes);

/** Closes the files. RM_E_SYSTEM when something could not be written: a full disk. */
enum rm_code rm_recording_close(struct rm_recording *recording, struct rm_error *error);

/** Opens another file of the folder for writing. */
FILE *rm_recording_file(char const *folder, char const *name, struct rm_error *error);

#endif
