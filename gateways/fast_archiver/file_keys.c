// SPDX-License-Identifier: Apache-2.0
#include "file.h"

#include "mask.h"

static struct rm_key const ids_keys[] = {
    RM_KEY_WHOLE(struct fa_file_ids, id, "id", "The id, or the first of several. Id 0 is the frame counter.",
                 .example = "1", .required = true, RM_BETWEEN(1, FA_IDS_MAX - 1)),
    RM_KEY_TEXT(struct fa_file_ids, instrument, "instrument",
                "Whose streams. With `count`: bpm01, bpm02, … as in the server's file.", .example = "bpm01",
                .required = true, RM_BETWEEN(1, 63)),
    RM_KEY_WHOLE(struct fa_file_ids, count, "count", "So many instruments, with ids that follow each other.",
                 .otherwise = "one, whose name has no number added", .apart = true, RM_BETWEEN(0, FA_IDS_MAX - 1)),
    RM_KEY_TEXT(struct fa_file_ids, x, "x", "The lane of the horizontal position.", .fallback = "x1",
                RM_BETWEEN(1, RM_LANE_NAME_BYTES - 1)),
    RM_KEY_TEXT(struct fa_file_ids, y, "y", "The lane of the vertical position.", .fallback = "y1",
                RM_BETWEEN(1, RM_LANE_NAME_BYTES - 1)),
    RM_KEY_TEXT(struct fa_file_ids, description, "description",
                "What clients show for the id; with `count` followed by the instrument's number.",
                .otherwise = "the instrument's name", .example = "SR01C-DI-EBPM-01", .apart = true, RM_BETWEEN(1, 63)),
    RM_KEYS_END,
};

struct rm_key const fa_file_keys[] = {
    RM_KEY_TEXT(struct fa_file, workspace, "workspace", "The server's workspace.", .example = "demo", .required = true),
    RM_KEY_TEXT(struct fa_file, address, "address", "The address that clients reach it at, IPv4.",
                .fallback = "0.0.0.0", RM_BETWEEN(7, 15)),
    RM_KEY_WHOLE(struct fa_file, port, "port", "Its TCP port.", .fallback = "8888", RM_BETWEEN(1, 65535)),
    RM_KEY_WHOLE(struct fa_file, clients, "clients", "Clients at once; further ones are refused.", .fallback = "64",
                 RM_BETWEEN(1, 1024)),
    RM_KEY_TEXT(struct fa_file, name, "name", "What the gateway calls itself.", .otherwise = "the workspace",
                .example = "SR", RM_BETWEEN(1, 63)),
    RM_KEY_TEXT(struct fa_file, rate, "rate", "Which streams are the full rate: INSTRUMENT/RATE.", .fallback = "loop",
                RM_BETWEEN(1, 31)),
    RM_KEY_TEXT(struct fa_file, decimated, "decimated", "Which streams are the decimated live data.",
                .otherwise = "no decimated live data", .example = "slow", RM_BETWEEN(1, 31)),
    RM_KEY_TEXT(struct fa_file, archive, "archive", "The recorder's folder, for data of the past.",
                .otherwise = "live data alone", .example = "/var/lib/ringmaster/archive"),
    RM_KEY_WHOLE(struct fa_file, first_decimation, "first_decimation", "Frames in one sample of the archive's D.",
                 .fallback = "64", RM_BETWEEN(2, 65536)),
    RM_KEY_WHOLE(struct fa_file, second_decimation, "second_decimation", "Samples of D in one of DD.",
                 .fallback = "256", RM_BETWEEN(2, 65536)),
    RM_KEY_WHOLE(struct fa_file, id_count, "id_count", "Ids of a frame, a power of two.", .fallback = "256",
                 RM_BETWEEN(32, FA_IDS_MAX)),
    RM_KEY_NUMBER(struct fa_file, event, "event", "The id that carries events; -1: none.", .fallback = "-1",
                  RM_BETWEEN(-1, FA_IDS_MAX - 1)),
    RM_KEY_MAPPINGS(struct fa_file, ids, ids_count, "ids", "Which lanes are which ids.", ids_keys,
                    .example = "{id: 2, instrument: bpm02}", .required = true, RM_BETWEEN(1, FA_IDS_MAX)),
    RM_KEYS_END,
};
