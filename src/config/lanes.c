// SPDX-License-Identifier: Apache-2.0
#include "config/kind_lanes.h"
#include "config/resolve.h"

#include <stdarg.h>
#include <string.h>

/* An instrument's lanes while they are resolved. */
struct resolving_lanes {
    struct rm_config const *config;
    struct rm_config_instrument *instrument;
    uint32_t written; /* index in the file */
    struct rm_error *error;
};

__attribute__((format(printf, 4, 5))) static enum rm_code
fail_lane(struct resolving_lanes const *resolving, uint32_t lane, char const *key, char const *format, ...) {
    char member[32];
    char text[RM_ERROR_TEXT_BYTES];
    snprintf(member, sizeof member, "lanes[%u].%s", lane, key);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return rm_config_fail_entry(resolving->config, resolving->error, "instruments", resolving->written, member, "%s",
                                text);
}

static bool is_for_bits(enum rm_reduction reduction) { return reduction == RM_REDUCE_OR || reduction == RM_REDUCE_AND; }

/* What the kind does with a lane of this name; floating point has no bits. */
static enum rm_reduction usual_reduction(enum rm_instrument_kind kind, char const *name, uint32_t type) {
    uint32_t count;
    struct rm_kind_lane const *const lanes = rm_kind_lanes(kind, &count);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(lanes[i].name, name) == 0 && !(type == RM_LANE_F32 && is_for_bits(lanes[i].reduction)))
            return lanes[i].reduction;
    return RM_REDUCE_FIR;
}

static void set_config_lane(struct rm_config_instrument *instrument, uint32_t index, char const *name, char const *unit,
                            enum rm_lane_type type) {
    struct rm_lane_info *const lane = &instrument->lane[index];
    strcpy(lane->name, name);
    strcpy(lane->unit, unit);
    lane->type = type;
    lane->reduction = usual_reduction(instrument->kind, name, type);
}

static void take_kind(struct rm_config_instrument *instrument) {
    struct rm_kind_lane const *const lanes = rm_kind_lanes(instrument->kind, &instrument->lane_count);
    for (uint32_t i = 0; i < instrument->lane_count; i++)
        set_config_lane(instrument, i, lanes[i].name, lanes[i].unit, RM_LANE_I32);
}

static enum rm_lane_type type_in(struct rm_layout_lane const *lane) {
    return lane->type == RM_FIELD_F32 ? RM_LANE_F32 : RM_LANE_I32;
}

static void take_layout(struct rm_config_instrument *instrument, struct rm_layout_description const *layout) {
    instrument->lane_count = layout->lane_count;
    for (uint32_t i = 0; i < layout->lane_count; i++)
        set_config_lane(instrument, i, layout->lane[i].name, layout->lane[i].unit, type_in(&layout->lane[i]));
}

static enum rm_code check_lane(struct resolving_lanes const *resolving, uint32_t index,
                               struct rm_file_lane const *lane) {
    if (!rm_config_name_is_good(lane->name))
        return fail_lane(resolving, index, "name", "found \"%s\", " RM_CONFIG_NAME_RULE, lane->name);
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(resolving->instrument->lane[i].name, lane->name) == 0)
            return fail_lane(resolving, index, "name", "found \"%s\", expected a name that no lane before it has",
                             lane->name);
    if (lane->type == RM_LANE_F32 && lane->reduction != NULL && is_for_bits(*lane->reduction))
        return fail_lane(resolving, index, "reduction", "floating point has no bits, expected fir, last, min or max");
    return RM_OK;
}

/* Lanes may be given other names and units than their format's, but not other bytes. */
static enum rm_code check_against_layout(struct resolving_lanes const *resolving,
                                         struct rm_file_instrument const *written, struct rm_format const *format) {
    struct rm_layout_description const *const layout = rm_layout_described(format->layout);
    if (written->lanes_count != layout->lane_count)
        return rm_config_fail_entry(resolving->config, resolving->error, "instruments", resolving->written, "lanes",
                                    "found %u, expected the %u of format \"%s\"", written->lanes_count,
                                    layout->lane_count, format->name);
    for (uint32_t i = 0; i < layout->lane_count; i++)
        if (written->lanes[i].type != type_in(&layout->lane[i]))
            return fail_lane(resolving, i, "type", "expected %s, as format \"%s\" has it",
                             type_in(&layout->lane[i]) == RM_LANE_F32 ? "f32" : "i32", format->name);
    return RM_OK;
}

static enum rm_code take_written(struct resolving_lanes const *resolving, struct rm_file_instrument const *written) {
    for (uint32_t i = 0; i < written->lanes_count; i++) {
        struct rm_file_lane const *const lane = &written->lanes[i];
        enum rm_code const code = check_lane(resolving, i, lane);
        if (code != RM_OK)
            return code;
        set_config_lane(resolving->instrument, i, lane->name, lane->unit, lane->type);
        if (lane->reduction != NULL)
            resolving->instrument->lane[i].reduction = *lane->reduction;
    }
    resolving->instrument->lane_count = written->lanes_count;
    return RM_OK;
}

enum rm_code rm_config_resolve_lanes(struct rm_config const *config, struct rm_config_instrument *instrument,
                                     struct rm_file_instrument const *written, uint32_t index, struct rm_error *error) {
    struct resolving_lanes const resolving = {config, instrument, index, error};
    struct rm_format const *const format = &config->format[instrument->format];
    if (written->lanes != NULL) {
        enum rm_code const code = format->layout == NULL ? RM_OK : check_against_layout(&resolving, written, format);
        return code == RM_OK ? take_written(&resolving, written) : code;
    }
    if (format->layout != NULL)
        take_layout(instrument, rm_layout_described(format->layout));
    else
        take_kind(instrument);
    return RM_OK;
}
