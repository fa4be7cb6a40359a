// SPDX-License-Identifier: Apache-2.0
/** In which keys the files of two configurations differ, `roles` left out.
 *
 * Values are compared as they are written, once comments, quotes and the order of keys are gone: 1157000 and 1.157e6
 * differ, and so does a key that is absent from one that is written with its default.
 */
#ifndef RM_CONFIG_DIFFERENCE_H
#define RM_CONFIG_DIFFERENCE_H

#include "base/yaml_document.h"
#include "config/config.h"

struct rm_config_difference {
    /** How many keys differ; of a mapping or a list its innermost ones. */
    uint32_t count;
    /** The first of them, "ports[0].queues". */
    char first[RM_YAML_KEY_BYTES];
    /** The first few, for people: "ports[0].queues, polling.naps and 3 more". */
    char keys[RM_YAML_KEY_BYTES * 2];
};

enum rm_code rm_config_compare(struct rm_config const *running, struct rm_config const *wanted,
                               struct rm_config_difference *difference, struct rm_error *error);

#endif
