// SPDX-License-Identifier: Apache-2.0
/** Parameters: their values when the recording begins, and each change; alarms: each change of a severity. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "events.h"

static uint64_t const SAMPLE_NS = 1000000000, ARRAY_SAMPLE_NS = 10000000000;

static void parameter_write_one(FILE *out, uint32_t type, void const *values, size_t index) {
    union {
        double f64;
        float f32;
        int64_t i64;
        int32_t i32;
        uint64_t u64;
        uint32_t u32;
        uint8_t u8;
    } value = {.u64 = 0};
    size_t const bytes = type == RM_ELEMENT_U8                                                        ? 1
                         : type == RM_ELEMENT_F32 || type == RM_ELEMENT_I32 || type == RM_ELEMENT_U32 ? 4
                                                                                                      : 8;
    memcpy(&value, (uint8_t const *)values + index * bytes, bytes);
    switch (type) {
    case RM_ELEMENT_F64:
        rm_events_number(out, value.f64, 17);
        break;
    case RM_ELEMENT_F32:
        rm_events_number(out, value.f32, 9);
        break;
    case RM_ELEMENT_I64:
        fprintf(out, "%lld", (long long)value.i64);
        break;
    case RM_ELEMENT_I32:
        fprintf(out, "%d", value.i32);
        break;
    case RM_ELEMENT_U64:
        fprintf(out, "%llu", (unsigned long long)value.u64);
        break;
    case RM_ELEMENT_U32:
        fprintf(out, "%u", value.u32);
        break;
    default:
        fprintf(out, "%u", value.u8);
    }
}

static void parameter_write_value(FILE *out, struct rm_object const *object, void const *values, size_t bytes) {
    size_t const count = object->shape[0] * (object->shape[1] > 0 ? object->shape[1] : 1);
    if (object->element_type == RM_ELEMENT_U8 && strcmp(object->unit, "utf-8") == 0) {
        char *text = calloc(1, bytes + 1);
        if (text != NULL)
            memcpy(text, values, bytes);
        rm_json_text(out, text);
        free(text);
        return;
    }
    if (count > 1)
        fputc('[', out);
    for (size_t i = 0; i < count; ++i) {
        if (i > 0)
            fputc(',', out);
        parameter_write_one(out, object->element_type, values, i);
    }
    if (count > 1)
        fputc(']', out);
}

static char const *severity_text(enum rm_severity severity) {
    static char const *const TEXTS[] = {"none", "minor", "major", "invalid"};
    return TEXTS[(unsigned)severity < 4 ? severity : 3];
}

static void parameter_write_stamp(FILE *out, struct rm_parameter_reading const *reading) {
    if (reading->turn != RM_TURN_NONE)
        fprintf(out, ",\"turn\":%llu", (unsigned long long)reading->turn);
}

static void parameter_write(struct rm_events_watch *watch, struct rm_watched_parameter *watched, void const *values,
                            struct rm_parameter_reading const *reading) {
    bool const first = watched->sequence == UINT64_MAX;
    FILE *out = rm_events_line(watch, first ? "parameter" : "change", reading->timestamp_tai_ns);
    parameter_write_stamp(out, reading);
    fputs(",\"name\":", out);
    rm_json_text(out, watched->object->name);
    if (first) {
        fputs(",\"unit\":", out);
        rm_json_text(out, watched->object->unit);
        fprintf(out, ",\"setting\":%s", watched->is_setting ? "true" : "false");
    } else {
        fprintf(out, ",\"changes\":%llu", (unsigned long long)((reading->sequence - watched->sequence) / 2));
    }
    fputs(",\"value\":", out);
    parameter_write_value(out, watched->object, values, watched->bytes);
    rm_events_line_end(watch);
}

static void parameter_write_alarm(struct rm_events_watch *watch, struct rm_watched_parameter const *watched,
                                  struct rm_parameter_reading const *reading) {
    FILE *out = rm_events_line(watch, "alarm", reading->timestamp_tai_ns);
    parameter_write_stamp(out, reading);
    fputs(",\"name\":", out);
    rm_json_text(out, watched->object->name);
    fprintf(out, ",\"severity\":\"%s\",\"before\":\"%s\"", severity_text(reading->severity),
            severity_text(watched->severity));
    rm_events_line_end(watch);
}

/** Whether a change is to be written now: a reading changes all the time, and is sampled. */
static bool parameter_is_due(struct rm_events_watch const *watch, struct rm_watched_parameter const *watched) {
    size_t const count = watched->object->shape[0] * (watched->object->shape[1] > 0 ? watched->object->shape[1] : 1);
    uint64_t const every_ns = watched->is_setting ? 0 : count > RM_EVENTS_ARRAY ? ARRAY_SAMPLE_NS : SAMPLE_NS;
    return watched->sequence == UINT64_MAX || watch->moment->now_ns - watched->written_ns >= every_ns;
}

static void parameter_look(struct rm_events_watch *watch, struct rm_watched_parameter *watched, void *values) {
    uint64_t const sequence = atomic_load_explicit(&watched->parameter->sequence, memory_order_acquire);
    struct rm_parameter_reading reading;
    if (sequence == watched->sequence || (sequence & 1) != 0)
        return;
    uint64_t const severity = atomic_load_explicit(&watched->parameter->severity, memory_order_relaxed);
    bool const alarm = severity != (uint64_t)watched->severity;
    if (!alarm && !parameter_is_due(watch, watched))
        return;
    if (rm_parameter_copy(watched->parameter, watched->values, watched->bytes, values, &reading) == 0)
        return;
    if (reading.severity != watched->severity)
        parameter_write_alarm(watch, watched, &reading);
    watched->severity = reading.severity;
    parameter_write(watch, watched, values, &reading);
    watched->sequence = reading.sequence;
    watched->written_ns = watch->moment->now_ns;
}

void rm_events_look_parameters(struct rm_events_watch *watch) {
    size_t most = 0;
    for (uint32_t i = 0; i < watch->parameter_count; ++i)
        most = watch->parameter[i].bytes > most ? watch->parameter[i].bytes : most;
    void *values = most > 0 ? malloc(most) : NULL;
    for (uint32_t i = 0; values != NULL && i < watch->parameter_count; ++i)
        parameter_look(watch, &watch->parameter[i], values);
    free(values);
}
