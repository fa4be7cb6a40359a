// SPDX-License-Identifier: Apache-2.0
#include "postmortem_keys.h"

static char const *const kinds[] = {"interlock", "beam_loss", "parameter", "rule", "alarm", "server", NULL};

static struct rm_key const trigger_keys[] = {
    RM_KEY_TEXT(struct rm_record_trigger, name, "name", "Its name, which stands in the catalogue.",
                .otherwise = "its kind", .example = "interlock", RM_BETWEEN(1, 63)),
    RM_KEY_WORD(struct rm_record_trigger, kind, "kind", "What it looks at.", .example = "interlock", .required = true,
                .words = kinds),
    RM_KEY_TEXT(struct rm_record_trigger, parameter, "parameter",
                "Of parameter: what must keep its limits. Of alarm: what counts.", .example = "machine/current_ma",
                .apart = true),
    RM_KEY_TEXT(struct rm_record_trigger, streams, "streams", "Of beam_loss and interlock: a name or a pattern.",
                .fallback = "\"*\"", .apart = true),
    RM_KEY_TEXT(struct rm_record_trigger, lanes, "lanes", "Of beam_loss: the lanes with the beam's current.",
                .fallback = "\"sum*\"", .apart = true),
    RM_KEY_TEXT(struct rm_record_trigger, rule, "rule",
                "Of rule: comparisons of parameters and lanes, joined by and, or and not.",
                .example = "\"machine/current_ma < 100 and bpm01/fast:x1 > 2e5\"", .apart = true),
    RM_KEY_NUMBER(struct rm_record_trigger, above, "above", "Of parameter: it triggers when it comes above this.",
                  .otherwise = "no such limit", .apart = true),
    RM_KEY_NUMBER(struct rm_record_trigger, below, "below",
                  "Of parameter: the same below this. Of beam_loss: the share that is left of the signals.",
                  .otherwise = "0.5 of beam_loss", .apart = true),
    RM_KEY_TEXT(struct rm_record_trigger, before, "before", "What is kept from before the turn zero: turns or a time.",
                .fallback = "50 ms", RM_BETWEEN(1, 31)),
    RM_KEY_TEXT(struct rm_record_trigger, after, "after", "What is kept from after it.", .fallback = "10 ms",
                RM_BETWEEN(1, 31)),
    RM_KEY_TEXT(struct rm_record_trigger, hold_off, "hold_off",
                "What is seen within this time of the turn zero belongs to the same event.", .otherwise = "as `after`",
                .example = "1 s", RM_BETWEEN(1, 31)),
    RM_KEYS_END,
};

struct rm_key const rm_record_postmortem_keys[] = {
    RM_KEY_TEXT(struct rm_record_postmortem, quota_text, "quota",
                "How much events may keep. Reviewed ones make room, the oldest first.", .fallback = "10 GB",
                RM_BETWEEN(1, 31)),
    RM_KEY_TEXT(
        struct rm_record_postmortem, machine_path, "machine",
        "Which reading and which supply is where in the lattice, for the report: a file, from this one's folder.",
        .otherwise = "no causes that need the twin", .example = "machine.yaml", .apart = true),
    RM_KEY_MAPPINGS(struct rm_record_postmortem, trigger, trigger_count, "triggers", "What makes an event.",
                    trigger_keys, .example = "{kind: interlock}", .required = true,
                    RM_BETWEEN(1, RM_RECORD_TRIGGERS_MAX)),
    RM_KEYS_END,
};
