// SPDX-License-Identifier: Apache-2.0
/** The key `postmortem` of the recorder's file. `ringmaster postmortem watch`, a program beside the recorder, acts on it
 * and checks what its values mean (python/ringmaster/postmortem/settings.py). Here the keys are known, so that a wrong
 * one is told at once, and stands in the file's schema. */
#ifndef RM_RECORD_POSTMORTEM_KEYS_H
#define RM_RECORD_POSTMORTEM_KEYS_H

#include <stdint.h>

#include <ringmaster/configuration.h>

enum { RM_RECORD_TRIGGERS_MAX = 64 };

/** As in the file. */
struct rm_record_trigger {
    char *name;
    uint32_t kind;
    char *parameter, *streams, *lanes, *rule;
    double above, below;
    char *before, *after, *hold_off;
};

struct rm_record_postmortem {
    char *quota_text, *machine_path;
    struct rm_record_trigger *trigger;
    uint32_t trigger_count;
};

extern struct rm_key const rm_record_postmortem_keys[];

#endif
