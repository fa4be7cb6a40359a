// SPDX-License-Identifier: Apache-2.0
#include "configuration.h"

#include <ringmaster/archive.h>

static char const *const compressions[] = {"none", "lz4", "zstd", NULL};

static struct rm_key const step_keys[] = {
    RM_KEY_TEXT(struct rm_record_step, step_text, "step",
                "What one entry sums up: a time such as 100 ms, or so many turns. A multiple of the step before.",
                .example = "1 s", .required = true, RM_BETWEEN(1, 31)),
    RM_KEY_TEXT(struct rm_record_step, retention.keep_text, "keep", "How long it is kept.",
                .otherwise = "as long as there is room", .example = "2 y", RM_BETWEEN(1, 31)),
    RM_KEY_TEXT(struct rm_record_step, retention.quota_text, "quota", "How much it may take.",
                .otherwise = "no bound of its own", .example = "20 GB", RM_BETWEEN(1, 31)),
    RM_KEYS_END,
};

static struct rm_key const log_keys[] = {
    RM_KEY_TEXT(struct rm_record_log, name, "name", "Its name, and that of its folder.", .example = "fast",
                .required = true, RM_BETWEEN(1, RM_LOG_NAME_BYTES - 1)),
    RM_KEY_TEXTS(struct rm_record_log, pattern, pattern_count, "streams",
                 "Which streams: names or patterns. All are of one rate.", .example = "[\"*/fast\"]", .required = true,
                 RM_BETWEEN(1, RM_RECORD_PATTERNS_MAX)),
    RM_KEY_TEXT(struct rm_record_log, retention.keep_text, "keep", "How long it is kept.",
                .otherwise = "as long as there is room", .example = "3 d", RM_BETWEEN(1, 31)),
    RM_KEY_TEXT(struct rm_record_log, retention.quota_text, "quota", "How much it may take.",
                .otherwise = "no bound of its own", .example = "200 GB", RM_BETWEEN(1, 31)),
    RM_KEY_WORD(struct rm_record_log, compress, "compress",
                "How its files are stored once they are full. HDF5 sees uncompressed ones in place.",
                .fallback = "none", .words = compressions),
    RM_KEY_MAPPINGS(struct rm_record_log, step, step_count, "reduce",
                    "Smallest, mean, largest value and standard deviation of steps, the shortest first: a log each.",
                    step_keys, .otherwise = "none", RM_BETWEEN(0, RM_RECORD_STEPS_MAX)),
    RM_KEYS_END,
};

static struct rm_key const images_keys[] = {
    RM_KEY_TEXT(struct rm_record_images, name, "name", "Its name, and that of its folder.", .example = "frames",
                .required = true, RM_BETWEEN(1, RM_LOG_NAME_BYTES - 1)),
    RM_KEY_TEXTS(struct rm_record_images, pattern, pattern_count, "cameras", "Which cameras: names or patterns.",
                 .example = "[\"cam*\"]", .required = true, RM_BETWEEN(1, RM_RECORD_PATTERNS_MAX)),
    RM_KEY_TEXT(struct rm_record_images, retention.keep_text, "keep", "How long it is kept.",
                .otherwise = "as long as there is room", .example = "1 d", RM_BETWEEN(1, 31)),
    RM_KEY_TEXT(struct rm_record_images, retention.quota_text, "quota", "How much it may take.",
                .otherwise = "no bound of its own", .example = "2 TB", RM_BETWEEN(1, 31)),
    RM_KEY_WORD(struct rm_record_images, compress, "compress", "How its files are stored once they are full.",
                .fallback = "none", .words = compressions),
    RM_KEYS_END,
};

static struct rm_key const events_keys[] = {
    RM_KEY_TEXT(struct rm_record_events, retention.keep_text, "keep", "How long events are kept.",
                .otherwise = "as long as there is room", .example = "10 y", RM_BETWEEN(1, 31)),
    RM_KEY_TEXT(struct rm_record_events, retention.quota_text, "quota", "How much they may take.",
                .otherwise = "no bound of its own", .example = "10 GB", RM_BETWEEN(1, 31)),
    RM_KEYS_END,
};

struct rm_key const rm_record_keys[] = {
    RM_KEY_TEXT(struct rm_record_configuration, workspace, "workspace", "The server's workspace.", .example = "demo",
                .required = true),
    RM_KEY_TEXT(struct rm_record_configuration, directory, "directory", "The archive's folder, made if need be.",
                .example = "/var/lib/ringmaster/archive", .required = true),
    RM_KEY_TEXT(struct rm_record_configuration, quota_text, "quota",
                "How much the archive may take, pinned files aside.", .otherwise = "what the disk has",
                .example = "500 GB", RM_BETWEEN(1, 31)),
    RM_KEY_MAPPINGS(struct rm_record_configuration, log, log_count, "logs", "Streams that are recorded.", log_keys,
                    .example = "{name: turn, streams: [\"*/turn\"]}", .otherwise = "none",
                    RM_BETWEEN(1, RM_RECORD_LOGS_MAX)),
    RM_KEY_MAPPINGS(struct rm_record_configuration, images, images_count, "images",
                    "Frames of cameras that are recorded. The workspace needs no server then.", images_keys,
                    .example = "{name: spots, cameras: [\"spot*\"]}", .otherwise = "none",
                    RM_BETWEEN(1, RM_RECORD_LOGS_MAX)),
    RM_KEY_MAPPING(struct rm_record_configuration, events, "events",
                   "Parameters, requests, refusals, alarms and the clock, which are always recorded.", events_keys,
                   .otherwise = "kept as long as there is room"),
    RM_KEY_MAPPING(struct rm_record_configuration, postmortem, "postmortem",
                   "What `ringmaster postmortem watch` makes events of: docs/postmortem.md.", rm_record_postmortem_keys,
                   .otherwise = "no triggers"),
    RM_KEYS_END,
};
