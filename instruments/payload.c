// SPDX-License-Identifier: Apache-2.0
#include "payload.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "config/kind_lanes.h"
#include "lane_names.h"

uint32_t rm_payload_bytes(struct rm_virtual_group const *group, struct rm_virtual_instrument const *first) {
    struct rm_layout const *layout = group->format->layout;
    return layout == NULL ? RM_NATIVE_HEADER_BYTES + 4 * first->lane_count
                          : rm_layout_payload_bytes(layout, group->count);
}

struct rm_lane_source rm_lane_source_find(unsigned kind, struct rm_layout_lane const *lane) {
    uint32_t count;
    uint32_t const found = rm_virtual_lane_find(kind, lane->name);
    struct rm_kind_lane const *lanes = rm_kind_lanes(kind, &count);
    return (struct rm_lane_source){
        .lane = found,
        .factor = found == RM_KIND_LANE_NONE ? 0 : (float)rm_unit_ratio(lanes[found].unit, lane->unit),
        .as_float = lane->type == RM_FIELD_F32,
    };
}

static void find_sources(struct rm_payload *payload) {
    struct rm_layout_description const *described = rm_layout_described(payload->layout);
    payload->lane_count = described->lane_count;
    for (uint32_t i = 0; i < payload->count; ++i)
        for (uint32_t l = 0; l < payload->lane_count; ++l)
            payload->source[i][l] = rm_lane_source_find(payload->instruments[i].kind, &described->lane[l]);
}

enum rm_code rm_payload_make(struct rm_virtual_group const *group, struct rm_virtual_instrument const *first,
                             struct rm_payload *payload, struct rm_error *error) {
    *payload = (struct rm_payload){
        .instruments = first,
        .count = group->count,
        .layout = group->format->layout,
        .turns = rm_virtual_group_turns(group),
        .period_turns = group->period_turns,
        .bytes = rm_payload_bytes(group, first),
    };
    payload->data = calloc(1, payload->bytes);
    if (payload->layout != NULL)
        payload->source = calloc(payload->count, sizeof *payload->source);
    if (payload->data == NULL || (payload->layout != NULL && payload->source == NULL)) {
        rm_payload_free(payload);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the datagrams of \"%s\"", group->name);
    }
    if (payload->layout != NULL) {
        rm_layout_begin(payload->layout, payload->data, payload->bytes);
        find_sources(payload);
    }
    return RM_OK;
}

void rm_payload_free(struct rm_payload *payload) {
    free(payload->data);
    free(payload->source);
    *payload = (struct rm_payload){0};
}

union rm_lane rm_lane_source_take(struct rm_lane_source const *source, union rm_lane const *lanes) {
    if (source->lane == RM_KIND_LANE_NONE)
        return (union rm_lane){0};
    if (!source->as_float && source->factor == 1)
        return lanes[source->lane];
    float const value = (float)lanes[source->lane].i * source->factor;
    if (source->as_float)
        return (union rm_lane){.f = value};
    return (union rm_lane){.i = (int32_t)(value + __builtin_copysignf(0.5f, value))};
}

static void put_described(struct rm_payload *payload, uint32_t place, rm_turn turn, union rm_lane const *lanes) {
    for (uint32_t i = 0; i < payload->count; ++i, lanes += RM_LANES) {
        struct rm_virtual_instrument const *instrument = &payload->instruments[i];
        struct rm_sample const sample = {
            .id = instrument->id,
            .status = instrument->status,
            .counter = (turn + (uint64_t)instrument->turn_error) / payload->period_turns,
        };
        union rm_lane converted[RM_LANES];
        for (uint32_t l = 0; l < payload->lane_count; ++l)
            converted[l] = rm_lane_source_take(&payload->source[i][l], lanes);
        rm_layout_write(payload->layout, payload->data, i * payload->turns + place, &sample, converted);
    }
}

void rm_payload_put(struct rm_payload *payload, uint32_t place, rm_turn turn, union rm_lane const *lanes) {
    if (payload->layout != NULL)
        put_described(payload, place, turn, lanes);
    else
        rm_payload_write_native(payload, payload->data, turn, lanes);
}
