// SPDX-License-Identifier: Apache-2.0
/** A file of events as libcyaml loads it. */
#ifndef RM_SIMULATION_EVENTS_FILE_H
#define RM_SIMULATION_EVENTS_FILE_H

#include "base/yaml.h"

struct rm_file_event {
    double at;
    char *set;
};

struct rm_file_events {
    struct rm_file_event *event;
    unsigned event_count;
};

extern cyaml_schema_value_t const rm_events_schema;

#endif
