// SPDX-License-Identifier: Apache-2.0
#include "traffic/traffic.h"

#include <math.h>

#include "base/fail.h"
#include "traffic/flow_stamp.h"
#include "traffic/frame_layout.h"

static double const LINE_BITS_PER_S = 1e10;
static double const PACKETS_PER_S_MAX = 1e9;
static uint64_t const LATE_NS = 1000000, LATE_NS_MAX = 1000000000;

enum { WEIGHT_MAX = 100, WEIGHTS_MAX = 256, PERCENT_MAX = 100 };

static char const *const FIELD_WORD[RM_TRAFFIC_FIELDS] = {
    [RM_TRAFFIC_SIZE] = "size",
    [RM_TRAFFIC_DESTINATION_MAC] = "destination MAC",
    [RM_TRAFFIC_SOURCE_MAC] = "source MAC",
    [RM_TRAFFIC_VLAN] = "VLAN",
    [RM_TRAFFIC_PRIORITY] = "priority",
    [RM_TRAFFIC_SOURCE_ADDRESS] = "source address",
    [RM_TRAFFIC_DESTINATION_ADDRESS] = "destination address",
    [RM_TRAFFIC_TOS] = "type of service",
    [RM_TRAFFIC_TTL] = "time to live",
    [RM_TRAFFIC_SOURCE_PORT] = "source port",
    [RM_TRAFFIC_DESTINATION_PORT] = "destination port",
};

char const *rm_traffic_field_word(enum rm_traffic_field_name name) { return FIELD_WORD[name]; }

static uint64_t fixed_limit(enum rm_traffic_field_name name) {
    static uint64_t const LIMIT[RM_TRAFFIC_FIELDS] = {
        [RM_TRAFFIC_SIZE] = RM_TRAFFIC_SIZE_MAX,
        [RM_TRAFFIC_DESTINATION_MAC] = 0xFFFFFFFFFFFF,
        [RM_TRAFFIC_SOURCE_MAC] = 0xFFFFFFFFFFFF,
        [RM_TRAFFIC_VLAN] = 4095,
        [RM_TRAFFIC_PRIORITY] = 7,
        [RM_TRAFFIC_TOS] = UINT8_MAX,
        [RM_TRAFFIC_TTL] = UINT8_MAX,
        [RM_TRAFFIC_SOURCE_PORT] = UINT16_MAX,
        [RM_TRAFFIC_DESTINATION_PORT] = UINT16_MAX,
    };
    return LIMIT[name];
}

uint64_t rm_traffic_field_limit(struct rm_traffic_template const *template, enum rm_traffic_field_name name) {
    if (name == RM_TRAFFIC_SOURCE_ADDRESS || name == RM_TRAFFIC_DESTINATION_ADDRESS)
        return template->ipv6 ? UINT64_MAX : UINT32_MAX;
    return fixed_limit(name);
}

static struct rm_traffic_field traffic_fixed(uint64_t value) {
    return (struct rm_traffic_field){.change = RM_TRAFFIC_FIXED, .start = value, .min = value, .max = value};
}

void rm_traffic_default(struct rm_traffic *traffic, uint32_t port) {
    *traffic = (struct rm_traffic){.template_count = 1,
                                   .pace = RM_TRAFFIC_PERCENT,
                                   .rate = PERCENT_MAX,
                                   .line_bits_per_s = LINE_BITS_PER_S,
                                   .burst = RM_TRAFFIC_BURST_MAX,
                                   .late = RM_TRAFFIC_SEND_LATE,
                                   .late_max_ns = LATE_NS,
                                   .seed = port};
    uint32_t const network = 0xC0A80001; // 192.168.0.1
    struct rm_traffic_template *const template = &traffic->template[0];
    template->payload = RM_TRAFFIC_PAYLOAD_LETTERS;
    uint64_t const start[RM_TRAFFIC_FIELDS] = {
        [RM_TRAFFIC_SIZE] = RM_TRAFFIC_SIZE_MIN,
        [RM_TRAFFIC_DESTINATION_MAC] = 0x020000000000 + ((port + 1) << 8) + 1,
        [RM_TRAFFIC_SOURCE_MAC] = 0x020000000000 + (port << 8) + 1,
        [RM_TRAFFIC_VLAN] = 1,
        [RM_TRAFFIC_SOURCE_ADDRESS] = network + (port << 8),
        [RM_TRAFFIC_DESTINATION_ADDRESS] = network + ((port + 1) << 8),
        [RM_TRAFFIC_TTL] = 64,
        [RM_TRAFFIC_SOURCE_PORT] = 1234,
        [RM_TRAFFIC_DESTINATION_PORT] = 5678,
    };
    for (uint32_t i = 0; i < RM_TRAFFIC_FIELDS; ++i)
        template->field[i] = traffic_fixed(start[i]);
}

uint32_t rm_traffic_shortest_size(struct rm_traffic_template const *template) {
    uint32_t const size =
        rm_frame_layout(template).payload + (template->flow_count > 0 ? RM_FLOW_STAMP_BYTES : 0) + RM_FCS_BYTES;
    return size > RM_TRAFFIC_SIZE_MIN ? size : RM_TRAFFIC_SIZE_MIN;
}

/* ── the mean ── */

/** Of a field that goes through its range: the mean of min, min + step, …, where it arrives sooner or later. */
static double field_mean(struct rm_traffic_field const *field) {
    switch (field->change) {
    case RM_TRAFFIC_RANDOM:
        return ((double)field->min + (double)field->max) / 2;
    case RM_TRAFFIC_RANGE:
        if (field->step != 0) {
            uint64_t const steps = (field->max - field->min) / field->step;
            return (double)field->min + (double)steps * (double)field->step / 2;
        }
        break;
    case RM_TRAFFIC_FIXED:
        break;
    }
    return (double)field->start;
}

static double mix_mean(struct rm_traffic_template const *template) {
    double bytes = 0, frames = 0;
    for (uint32_t i = 0; i < template->mix_count; ++i) {
        bytes += (double)template->mix[i].size_bytes * template->mix[i].weight;
        frames += template->mix[i].weight;
    }
    return bytes / frames;
}

double rm_traffic_mean_size(struct rm_traffic const *traffic) {
    double sum = 0;
    for (uint32_t i = 0; i < traffic->template_count; ++i) {
        struct rm_traffic_template const *const template = &traffic->template[i];
        sum += template->mix_count > 0 ? mix_mean(template) : field_mean(&template->field[RM_TRAFFIC_SIZE]);
    }
    return sum / traffic->template_count;
}

double rm_traffic_packets_per_s(struct rm_traffic const *traffic) {
    switch (traffic->pace) {
    case RM_TRAFFIC_PACKETS_PER_S:
        return traffic->rate;
    case RM_TRAFFIC_PERCENT:
        return traffic->rate / PERCENT_MAX * traffic->line_bits_per_s /
               (8 * (rm_traffic_mean_size(traffic) + RM_LINE_BYTES));
    case RM_TRAFFIC_UNPACED:
        break;
    }
    return 0;
}

/* ── what is wrong ── */

/** Where a message is about. */
struct check_place {
    uint32_t number;
    struct rm_traffic_template const *template;
    uint32_t longest_size;
};

static enum rm_code check_value(struct check_place const *place, enum rm_traffic_field_name name, uint64_t value,
                                struct rm_error *error) {
    bool const size = name == RM_TRAFFIC_SIZE;
    uint64_t const least = size ? rm_traffic_shortest_size(place->template) : 0;
    uint64_t const most = size ? place->longest_size : rm_traffic_field_limit(place->template, name);
    if (value >= least && value <= most)
        return RM_OK;
    return rm_fail(error, RM_E_ARGUMENT, "template %u: %s %llu; expected %llu to %llu%s", place->number,
                   FIELD_WORD[name], (unsigned long long)value, (unsigned long long)least, (unsigned long long)most,
                   size ? ", with FCS: headers and stamp must have room, and the port must take it" : "");
}

static enum rm_code check_field(struct check_place const *place, enum rm_traffic_field_name name,
                                struct rm_error *error) {
    struct rm_traffic_field const *const field = &place->template->field[name];
    if (field->change > RM_TRAFFIC_RANDOM)
        return rm_fail(error, RM_E_ARGUMENT, "template %u: %s has no such kind of change: %d", place->number,
                       FIELD_WORD[name], (int)field->change);
    if (field->change == RM_TRAFFIC_FIXED)
        return check_value(place, name, field->start, error);
    enum rm_code code = check_value(place, name, field->min, error);
    if (code == RM_OK)
        code = check_value(place, name, field->max, error);
    if (code != RM_OK)
        return code;
    if (field->start < field->min || field->start > field->max)
        return rm_fail(error, RM_E_ARGUMENT, "template %u: %s starts at %llu; expected min %llu ≤ start ≤ max %llu",
                       place->number, FIELD_WORD[name], (unsigned long long)field->start,
                       (unsigned long long)field->min, (unsigned long long)field->max);
    if (field->step > field->max - field->min)
        return rm_fail(error, RM_E_ARGUMENT, "template %u: %s goes in steps of %llu; expected 0 to max - min = %llu",
                       place->number, FIELD_WORD[name], (unsigned long long)field->step,
                       (unsigned long long)(field->max - field->min));
    return RM_OK;
}

static enum rm_code check_mix(struct check_place const *place, struct rm_error *error) {
    struct rm_traffic_template const *const template = place->template;
    uint32_t weights = 0;
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < template->mix_count && code == RM_OK; ++i) {
        code = check_value(place, RM_TRAFFIC_SIZE, template->mix[i].size_bytes, error);
        if (code == RM_OK && (template->mix[i].weight < 1 || template->mix[i].weight > WEIGHT_MAX))
            code = rm_fail(error, RM_E_ARGUMENT, "template %u: weight %u in its mix of sizes; expected 1 to %d",
                           place->number, template->mix[i].weight, WEIGHT_MAX);
        weights += template->mix[i].weight;
    }
    if (code == RM_OK && weights > WEIGHTS_MAX)
        code = rm_fail(error, RM_E_ARGUMENT, "template %u: the weights of its mix of sizes are %u; expected at most %d",
                       place->number, weights, WEIGHTS_MAX);
    return code;
}

static enum rm_code check_template(struct check_place const *place, struct rm_error *error) {
    struct rm_traffic_template const *const template = place->template;
    if (template->mix_count > RM_TRAFFIC_MIX_MAX)
        return rm_fail(error, RM_E_ARGUMENT, "template %u: %u sizes in its mix; expected at most %d", place->number,
                       template->mix_count, RM_TRAFFIC_MIX_MAX);
    if (template->protocol > RM_TRAFFIC_TCP || template->payload > RM_TRAFFIC_PAYLOAD_TEXT)
        return rm_fail(error, RM_E_ARGUMENT, "template %u: no such protocol or payload", place->number);
    if (template->payload == RM_TRAFFIC_PAYLOAD_TEXT &&
        (template->text_bytes < 1 || template->text_bytes > RM_TRAFFIC_TEXT_BYTES))
        return rm_fail(error, RM_E_ARGUMENT, "template %u: a payload text of %u bytes; expected 1 to %d", place->number,
                       template->text_bytes, RM_TRAFFIC_TEXT_BYTES);
    enum rm_code code = check_mix(place, error);
    enum rm_traffic_field_name name = template->mix_count > 0 ? RM_TRAFFIC_SIZE + 1 : RM_TRAFFIC_SIZE;
    for (; name < RM_TRAFFIC_FIELDS && code == RM_OK; ++name)
        code = check_field(place, name, error);
    return code;
}

static enum rm_code check_rate(struct rm_traffic const *traffic, struct rm_error *error) {
    if (traffic->pace > RM_TRAFFIC_PACKETS_PER_S)
        return rm_fail(error, RM_E_ARGUMENT, "no such kind of pace: %d", (int)traffic->pace);
    double const most = traffic->pace == RM_TRAFFIC_PERCENT ? PERCENT_MAX : PACKETS_PER_S_MAX;
    if (traffic->pace != RM_TRAFFIC_UNPACED && !(traffic->rate > 0 && traffic->rate <= most))
        return rm_fail(error, RM_E_ARGUMENT, "rate %g; expected above 0 up to %g %s", traffic->rate, most,
                       traffic->pace == RM_TRAFFIC_PERCENT ? "percent of the line" : "packets per second");
    if (traffic->pace == RM_TRAFFIC_PERCENT && !(traffic->line_bits_per_s >= 1e3 && traffic->line_bits_per_s <= 1e13))
        return rm_fail(error, RM_E_ARGUMENT, "a line of %g bit/s; expected 1e3 to 1e13", traffic->line_bits_per_s);
    if (traffic->burst < 1 || traffic->burst > RM_TRAFFIC_BURST_MAX)
        return rm_fail(error, RM_E_ARGUMENT, "burst %u; expected 1 to %d", traffic->burst, RM_TRAFFIC_BURST_MAX);
    if (traffic->late > RM_TRAFFIC_SKIP_LATE || traffic->late_max_ns > LATE_NS_MAX)
        return rm_fail(error, RM_E_ARGUMENT, "frames may be late by %llu ns; expected at most %llu",
                       (unsigned long long)traffic->late_max_ns, (unsigned long long)LATE_NS_MAX);
    return RM_OK;
}

enum rm_code rm_traffic_check(struct rm_traffic const *traffic, uint32_t longest_frame, struct rm_error *error) {
    uint32_t const longest_size = longest_frame + RM_FCS_BYTES;
    uint32_t flows = 0;
    enum rm_code code = check_rate(traffic, error);
    if (code == RM_OK && (traffic->template_count < 1 || traffic->template_count > RM_TRAFFIC_TEMPLATES_MAX))
        code = rm_fail(error, RM_E_ARGUMENT, "%u templates; expected 1 to %d", traffic->template_count,
                       RM_TRAFFIC_TEMPLATES_MAX);
    for (uint32_t i = 0; i < traffic->template_count && code == RM_OK; ++i) {
        struct check_place const place = {
            .number = i,
            .template = &traffic->template[i],
            .longest_size = longest_size < RM_TRAFFIC_SIZE_MAX ? longest_size : RM_TRAFFIC_SIZE_MAX,
        };
        code = check_template(&place, error);
        flows = traffic->template[i].flow_count > RM_TRAFFIC_FLOWS_MAX ? UINT32_MAX / 2
                                                                       : flows + traffic->template[i].flow_count;
        if (code == RM_OK && flows > RM_TRAFFIC_FLOWS_MAX)
            code = rm_fail(error, RM_E_ARGUMENT, "template %u: %u flows; expected at most %d of all templates", i,
                           traffic->template[i].flow_count, RM_TRAFFIC_FLOWS_MAX);
    }
    return code;
}
