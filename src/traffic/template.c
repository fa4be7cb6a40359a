// SPDX-License-Identifier: Apache-2.0
#include "traffic/template.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/zeroed.h"

enum { LINE_BYTES = 64 };

/** Whole cache lines, and an odd number of them: else the frames of a burst would share a few of the cache's sets. */
static uint32_t template_stride(uint32_t bytes) { return ((bytes + LINE_BYTES - 1) / LINE_BYTES | 1) * LINE_BYTES; }

static uint32_t longest_size(struct rm_traffic_template const *description) {
    struct rm_traffic_field const *const size = &description->field[RM_TRAFFIC_SIZE];
    uint32_t longest = 0;
    for (uint32_t i = 0; i < description->mix_count; ++i)
        longest = description->mix[i].size_bytes > longest ? description->mix[i].size_bytes : longest;
    if (longest != 0)
        return longest;
    return (uint32_t)(size->change == RM_TRAFFIC_FIXED ? size->start : size->max);
}

/** A mix in its order: each step takes the size that is furthest behind its share (smooth weighted round robin). */
static void order_mix(struct rm_template *template) {
    struct rm_traffic_template const *const description = &template->description;
    int64_t credit[RM_TRAFFIC_MIX_MAX] = {0};
    template->mix_steps = 0;
    for (uint32_t i = 0; i < description->mix_count; ++i)
        template->mix_steps += description->mix[i].weight;
    for (uint32_t step = 0; step < template->mix_steps; ++step) {
        uint32_t best = 0;
        for (uint32_t i = 0; i < description->mix_count; ++i) {
            credit[i] += description->mix[i].weight;
            best = credit[i] > credit[best] ? i : best;
        }
        credit[best] -= template->mix_steps;
        template->mix_size[step] = (uint16_t)description->mix[best].size_bytes;
    }
}

static void note_field(struct rm_template *template, enum rm_traffic_field_name name) {
    bool const address = name == RM_TRAFFIC_SOURCE_ADDRESS || name == RM_TRAFFIC_DESTINATION_ADDRESS;
    bool const port = name == RM_TRAFFIC_SOURCE_PORT || name == RM_TRAFFIC_DESTINATION_PORT;
    bool const size = name == RM_TRAFFIC_SIZE;
    bool const of_ip = address || size || name == RM_TRAFFIC_TOS || name == RM_TRAFFIC_TTL;
    template->field[template->field_count++].name = name;
    template->ip_varies |= of_ip && !template->description.ipv6;
    template->transport_varies |= address || port || size;
}

static void note_fields(struct rm_template *template) {
    for (enum rm_traffic_field_name name = 0; name < RM_TRAFFIC_FIELDS; ++name) {
        bool const in_tag = name == RM_TRAFFIC_VLAN || name == RM_TRAFFIC_PRIORITY;
        bool const mixed = name == RM_TRAFFIC_SIZE && template->mix_steps > 0;
        bool const varies = template->description.field[name].change != RM_TRAFFIC_FIXED;
        if (mixed || (varies && (!in_tag || template->description.tagged)))
            note_field(template, name);
    }
}

static bool template_has_sizes(struct rm_template const *template) {
    return template->field_count > 0 && template->field[0].name == RM_TRAFFIC_SIZE;
}

/** Sums of the payload by its length; an odd last byte counts as if a zero followed. */
static void fill_payload_sums(struct rm_template *template, uint8_t const *payload, uint32_t bytes) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= bytes; ++i) {
        template->payload_sum[i] = rm_checksum_fold(sum);
        if (i < bytes)
            sum = rm_checksum_add(sum, i % 2 == 0 ? payload[i] : (uint64_t)payload[i] << 8);
    }
}

static void store_checksum(uint8_t *at, uint64_t sum) { rm_store_memory16(at, (uint16_t)~rm_checksum_fold(sum)); }

/** Never zero, which would say "absent"; to the sum 0xFFFF is the same. */
static void store_transport_checksum(uint8_t *at, uint64_t sum) {
    uint16_t const checksum = (uint16_t)~rm_checksum_fold(sum);
    rm_store_memory16(at, checksum == 0 ? UINT16_MAX : checksum);
}

/** Writes the frame that all others are copies of. */
static void write_first_frame(struct rm_template *template) {
    struct rm_traffic_template const *const description = &template->description;
    struct rm_frame_layout const layout = template->layout;
    uint8_t *const frame = template->frames;
    uint32_t const payload_bytes = template->length - layout.payload;
    bool const sizes = template_has_sizes(template);
    rm_template_frame_write(description, frame, template->length);
    if (description->flow_count > 0)
        rm_flow_stamp_write(frame + layout.payload, &(struct rm_flow_stamp){0},
                            rm_flow_stamp_base(0, template->stamp_key));
    template->sums = rm_template_frame_sums(description, frame, sizes ? 0 : payload_bytes);
    if (sizes)
        fill_payload_sums(template, frame + layout.payload, payload_bytes);
    else
        rm_template_frame_lengths(description, frame, template->length, &template->sums);
    if (!description->ipv6)
        store_checksum(frame + layout.ip + 10, template->sums.ip);
    store_transport_checksum(frame + layout.transport_checksum, template->sums.transport);
}

enum rm_code rm_template_init(struct rm_template *template, struct rm_traffic_template const *description,
                              uint64_t seed, struct rm_template_flows const *flows, struct rm_error *error) {
    *template = (struct rm_template){.description = *description,
                                     .layout = rm_frame_layout(description),
                                     .length = longest_size(description) - RM_FCS_BYTES,
                                     .flow_first = flows->first,
                                     .sent = flows->sent,
                                     .stamp_key = flows->key};
    order_mix(template);
    note_fields(template);
    bool const varies = template->field_count > 0 || description->flow_count > 0;
    template->frame_count = varies ? RM_TRAFFIC_BURST_MAX : 1;
    template->stride = template_stride(template->length);
    template->frames = rm_zeroed(template->frame_count, template->stride);
    if (template_has_sizes(template))
        template->payload_sum = calloc(template->length, sizeof *template->payload_sum);
    if (template->frames == NULL || (template_has_sizes(template) && template->payload_sum == NULL)) {
        rm_template_free(template);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for frames of %u bytes; free some memory", template->length);
    }
    write_first_frame(template);
    for (uint32_t i = 1; i < template->frame_count; ++i)
        memcpy(rm_template_frame(template, i), template->frames, template->stride);
    rm_template_restart(template, seed);
    return RM_OK;
}

void rm_template_free(struct rm_template *template) {
    free(template->frames);
    free(template->payload_sum);
    template->frames = NULL;
    template->payload_sum = NULL;
}

void rm_template_restart(struct rm_template *template, uint64_t seed) {
    template->mix_next = template->flow_next = 0;
    for (uint32_t i = 0; i < template->field_count; ++i) {
        enum rm_traffic_field_name const name = template->field[i].name;
        rm_field_values_start(&template->field[i].values, &template->description.field[name],
                              seed * RM_TRAFFIC_FIELDS + (uint64_t)name);
    }
}
