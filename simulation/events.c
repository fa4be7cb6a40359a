// SPDX-License-Identifier: Apache-2.0
#include "events.h"
#include "events_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static cyaml_schema_field_t const event_fields[] = {
    CYAML_FIELD_FLOAT(
        RM_KEY("at", "When, since the start of the simulation.", .unit = "s", .example = "0.5", RM_RANGE(0, INFINITY)),
        CYAML_FLAG_DEFAULT, struct rm_file_event, at),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("set",
               "What: NAME=VALUE of a setting, a knob of the machine, drop=INSTRUMENT, or event=EVENT of the ring.",
               .example = "feedback/loop=1"),
        CYAML_FLAG_POINTER, struct rm_file_event, set, 1, 512),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const event_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct rm_file_event, event_fields)};

static cyaml_schema_field_t const file_fields[] = {
    CYAML_FIELD_SEQUENCE(RM_KEY("events", "What happens when."), CYAML_FLAG_POINTER, struct rm_file_events, event,
                         &event_schema, 0, 1 << 20),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_events_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct rm_file_events, file_fields)};

/** Adds NAME=VALUE at a time; `what` is what a message calls it. */
static enum rm_code add_event(struct rm_events *events, double at, char const *assignment, char const *what,
                              struct rm_error *error) {
    char const *equals = strchr(assignment, '=');
    if (equals == NULL || equals == assignment || equals[1] == '\0')
        return rm_fail(error, RM_E_ARGUMENT,
                       "found \"%s\", expected NAME=VALUE such as feedback/loop=1, machine/mains=0 or drop=bpm07",
                       what);
    if (!isfinite(at) || at < 0)
        return rm_fail(error, RM_E_ARGUMENT, "found \"%s\", expected a time of 0 s or later", what);
    struct rm_event *grown = realloc(events->event, (events->count + 1ul) * sizeof *grown);
    if (grown == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u events", events->count + 1);
    events->event = grown;
    struct rm_event *event = &grown[events->count];
    *event = (struct rm_event){
        .at = at,
        .name = strndup(assignment, (size_t)(equals - assignment)),
        .value = strdup(equals + 1),
        .rank = events->count,
    };
    ++events->count;
    return event->name != NULL && event->value != NULL ? RM_OK : rm_fail(error, RM_E_NO_SPACE, "no memory for events");
}

enum rm_code rm_events_add(struct rm_events *events, char const *text, struct rm_error *error) {
    char *end;
    double const at = strtod(text, &end);
    if (end == text || *end != ':')
        return rm_fail(error, RM_E_ARGUMENT, "found \"%s\", expected TIME:NAME=VALUE such as 0.5:feedback/loop=1",
                       text);
    return add_event(events, at, end + 1, text, error);
}

enum rm_code rm_events_load(struct rm_events *events, char const *path, struct rm_error *error) {
    void *data = NULL;
    enum rm_code code = rm_yaml_load(path, &rm_events_schema, &data, error);
    struct rm_file_events const *file = data;
    for (unsigned i = 0; code == RM_OK && i < file->event_count; ++i) {
        struct rm_error reason;
        code = add_event(events, file->event[i].at, file->event[i].set, file->event[i].set, &reason);
        if (code == RM_E_ARGUMENT) {
            char key[32];
            snprintf(key, sizeof key, "events[%u]", i);
            code = rm_yaml_fail(error, path, key, "%s", reason.text);
        }
    }
    rm_yaml_free(&rm_events_schema, data);
    return code;
}

static int by_time(void const *a, void const *b) {
    struct rm_event const *one = a, *other = b;
    if (one->at != other->at)
        return one->at < other->at ? -1 : 1;
    return one->rank < other->rank ? -1 : 1;
}

void rm_events_sort(struct rm_events *events) {
    if (events->count > 1)
        qsort(events->event, events->count, sizeof *events->event, by_time);
}

void rm_events_free(struct rm_events *events) {
    for (uint32_t i = 0; i < events->count; ++i) {
        free(events->event[i].name);
        free(events->event[i].value);
    }
    free(events->event);
    *events = (struct rm_events){0};
}
