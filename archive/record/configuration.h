// SPDX-License-Identifier: Apache-2.0
/** The recorder's own file; docs/archive.md has all keys.
 *
 *     workspace: demo
 *     directory: /var/lib/ringmaster/archive
 *     quota: 500 GB
 *     logs:
 *       - {name: turn, streams: ["bpm0?/turn"], keep: 10 min}
 *       - name: fast
 *         streams: ["bpm0?/fast"]
 *         keep: 3 d
 *         compress: zstd
 *         reduce:
 *           - {step: 1 s, keep: 2 y}
 *     images:
 *       - {name: frames, cameras: ["cam*"], keep: 1 d, compress: lz4}
 *     events: {keep: 10 y}
 */
#ifndef RM_RECORD_CONFIGURATION_H
#define RM_RECORD_CONFIGURATION_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/archive.h>
#include <ringmaster/configuration.h>

#include "postmortem_keys.h"

enum {
    RM_RECORD_LOGS_MAX = 64,
    /** With their reductions, and the events. */
    RM_RECORD_LOGS_IN_ALL_MAX = 256,
    RM_RECORD_STEPS_MAX = 8,
    RM_RECORD_PATTERNS_MAX = 256,
};

/** How a log is stored when it is sealed. */
enum rm_record_compress { RM_COMPRESS_NONE, RM_COMPRESS_LZ4, RM_COMPRESS_ZSTD };

/** How long something is kept. 0: as long as there is room. */
struct rm_retention {
    /** As in the file. */
    char *keep_text, *quota_text;
    uint64_t keep_ns, quota_bytes;
};

struct rm_record_step {
    /** "1 s", "12000 turns". */
    char *step_text;
    /** Of these one is 0. */
    double seconds;
    uint64_t turns;
    struct rm_retention retention;
};

struct rm_record_log {
    char *name;
    char **pattern;
    uint32_t pattern_count;
    struct rm_retention retention;
    uint32_t compress;
    struct rm_record_step *step;
    uint32_t step_count;
};

/** A log of frames of cameras. */
struct rm_record_images {
    char *name;
    char **pattern;
    uint32_t pattern_count;
    struct rm_retention retention;
    uint32_t compress;
};

struct rm_record_events {
    struct rm_retention retention;
};

struct rm_record_configuration {
    char *workspace, *directory, *quota_text;
    uint64_t quota_bytes;
    struct rm_record_log *log;
    uint32_t log_count;
    struct rm_record_images *images;
    uint32_t images_count;
    struct rm_record_events events;
    struct rm_record_postmortem postmortem;
};

/** All keys of the file. */
extern struct rm_key const rm_record_keys[];

/** Reads the file into `*configuration`, which is zeroed. Adds all that is wrong to `errors`. */
enum rm_code rm_record_configuration_load(char const *path, struct rm_record_configuration *configuration,
                                          struct rm_errors *errors);
/** The name of a log of steps: "fast-1s". False: it is too long. */
bool rm_record_step_name(struct rm_record_log const *log, struct rm_record_step const *step,
                         char name[RM_LOG_NAME_BYTES]);

void rm_record_configuration_free(struct rm_record_configuration *configuration);

#endif
