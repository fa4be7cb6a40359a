// SPDX-License-Identifier: Apache-2.0
#include "traffic/settings.h"

#include "base/fail.h"
#include "traffic/read_value.h"

void rm_traffic_settings_default(struct rm_traffic_settings *settings, uint32_t port) {
    *settings = (struct rm_traffic_settings){.flow_count = 1};
    rm_traffic_default(&settings->base, port);
    struct rm_traffic_template *const frame = &settings->base.template[0];
    frame->mix[0] = (struct rm_traffic_mix){64, 7}; /* the simple IMIX */
    frame->mix[1] = (struct rm_traffic_mix){594, 4};
    frame->mix[2] = (struct rm_traffic_mix){1518, 1};
    frame->mix_count = 3;
    for (uint32_t i = 0; i < RM_TRAFFIC_TEMPLATES_MAX; i++) {
        settings->sequence[i] = *frame;
        settings->sequence[i].mix_count = 0;
    }
}

static bool range_is_said(struct rm_traffic_range const *range) {
    return range->said[RM_TRAFFIC_LIMIT_START] || range->said[RM_TRAFFIC_LIMIT_MIN] ||
           range->said[RM_TRAFFIC_LIMIT_MAX] || range->said[RM_TRAFFIC_LIMIT_INC];
}

static uint64_t limit_or(struct rm_traffic_range const *range, enum rm_traffic_limit limit, uint64_t otherwise) {
    return range->said[limit] ? range->value[limit] : otherwise;
}

static uint64_t largest_value(struct rm_traffic_template const *frame, enum rm_traffic_field_name name) {
    uint64_t const untagged_size = 1518;
    return name == RM_TRAFFIC_SIZE ? untagged_size : rm_traffic_field_limit(frame, name);
}

static enum rm_code range_resolve(struct rm_traffic_range const *range, bool random, enum rm_traffic_field_name name,
                                  struct rm_traffic_template *frame, struct rm_error *error) {
    struct rm_traffic_field *const field = &frame->field[name];
    field->start = limit_or(range, RM_TRAFFIC_LIMIT_START, limit_or(range, RM_TRAFFIC_LIMIT_MIN, field->start));
    field->min = limit_or(range, RM_TRAFFIC_LIMIT_MIN, field->start);
    field->max = limit_or(range, RM_TRAFFIC_LIMIT_MAX, largest_value(frame, name));
    field->step = limit_or(range, RM_TRAFFIC_LIMIT_INC, field->max > field->min ? 1 : 0);
    field->change = random ? RM_TRAFFIC_RANDOM : RM_TRAFFIC_RANGE;
    bool const inside = field->min <= field->start && field->start <= field->max;
    if (inside && (random || field->step <= field->max - field->min))
        return RM_OK;
    char min[RM_TRAFFIC_VALUE_BYTES], start[RM_TRAFFIC_VALUE_BYTES], max[RM_TRAFFIC_VALUE_BYTES];
    return rm_fail(error, RM_E_ARGUMENT,
                   "range of %s: min %s, start %s, max %s, expected them in this order and inc at most max - min; "
                   "disable range while they are set one by one",
                   rm_traffic_field_word(name), rm_traffic_write_field(frame, name, field->min, min),
                   rm_traffic_write_field(frame, name, field->start, start),
                   rm_traffic_write_field(frame, name, field->max, max));
}

enum rm_code rm_traffic_settings_resolve(struct rm_traffic_settings const *settings, struct rm_traffic *traffic,
                                         struct rm_error *error) {
    enum rm_code code = RM_OK;
    *traffic = settings->base;
    struct rm_traffic_template *const frame = &traffic->template[0];
    traffic->template_count = settings->sequence_count > 0 ? settings->sequence_count : 1;
    if (!settings->imix)
        frame->mix_count = 0;
    for (uint32_t i = 0; i < settings->sequence_count; i++)
        traffic->template[i] = settings->sequence[i];
    bool const varies = settings->sequence_count == 0 && (settings->ranges || settings->random);
    for (enum rm_traffic_field_name name = 0; name < RM_TRAFFIC_FIELDS && varies && code == RM_OK; name++)
        if (range_is_said(&settings->range[name]))
            code = range_resolve(&settings->range[name], settings->random, name, frame, error);
    for (uint32_t i = 0; i < traffic->template_count; i++)
        traffic->template[i].flow_count = settings->latency ? settings->flow_count : 0;
    return code;
}
