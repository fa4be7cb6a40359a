// SPDX-License-Identifier: Apache-2.0
/* Makes the frames of a burst: each field of all frames, then the stamps, then the checksums. */
#include "traffic/template.h"

enum { IPV4_CHECKSUM_AT = 10, VLAN_AT = RM_ETHERNET_BYTES, VLAN_ID = 0x0FFF, PRIORITY_SHIFT = 13 };

/** The words that vary, of each frame. */
struct burst_sums {
    uint64_t ip[RM_TRAFFIC_BURST_MAX];
    uint64_t transport[RM_TRAFFIC_BURST_MAX];
};

/** A place in all frames. By value, so that the compiler need not fear that a frame's bytes are the template's own. */
struct frame_place {
    uint8_t *first;
    uint32_t stride;
};

static struct frame_place place_at(struct rm_template const *template, uint32_t offset) {
    return (struct frame_place){template->frames + offset, template->stride};
}

static void store_macs(struct frame_place place, uint64_t const *value, uint32_t count) {
    uint8_t *at = place.first;
    for (uint32_t i = 0; i < count; ++i, at += place.stride) {
        rm_store16(at, (uint16_t)(value[i] >> 32));
        rm_store32(at + 2, (uint32_t)value[i]);
    }
}

/** The tag's word has both. */
static void store_tags(struct frame_place place, uint16_t mask, uint32_t shift, uint64_t const *value, uint32_t count) {
    uint8_t *at = place.first;
    for (uint32_t i = 0; i < count; ++i, at += place.stride)
        rm_store16(at, (uint16_t)((rm_load16(at) & ~mask) | value[i] << shift));
}

static void store_ipv4_addresses(struct frame_place place, uint64_t const *value, uint32_t count,
                                 struct burst_sums *sums) {
    uint8_t *at = place.first;
    for (uint32_t i = 0; i < count; ++i, at += place.stride) {
        uint32_t const memory = __builtin_bswap32((uint32_t)value[i]);
        memcpy(at, &memory, sizeof memory);
        sums->ip[i] += memory;
        sums->transport[i] += memory;
    }
}

static void store_ipv6_addresses(struct frame_place place, uint64_t const *value, uint32_t count,
                                 struct burst_sums *sums) {
    uint8_t *at = place.first;
    for (uint32_t i = 0; i < count; ++i, at += place.stride) {
        uint64_t const memory = __builtin_bswap64(value[i]);
        memcpy(at, &memory, sizeof memory);
        sums->transport[i] += (memory >> 32) + (uint32_t)memory;
    }
}

static void store_address(struct rm_template const *template, bool destination, uint64_t const *value, uint32_t count,
                          struct burst_sums *sums) {
    uint32_t const ip = template->layout.ip;
    if (template->description.ipv6)
        store_ipv6_addresses(place_at(template, ip + (destination ? 32 : 16)), value, count, sums);
    else
        store_ipv4_addresses(place_at(template, ip + (destination ? 16 : 12)), value, count, sums);
}

static void store_ipv4_tos(struct frame_place place, uint64_t const *value, uint32_t count, struct burst_sums *sums) {
    uint8_t *at = place.first;
    for (uint32_t i = 0; i < count; ++i, at += place.stride) {
        *at = (uint8_t)value[i];
        sums->ip[i] += value[i] << 8; // the second byte of its word
    }
}

/** It lies across the first two bytes of the header. */
static void store_traffic_class(struct frame_place place, uint64_t const *value, uint32_t count) {
    uint8_t *at = place.first;
    for (uint32_t i = 0; i < count; ++i, at += place.stride) {
        at[0] = (uint8_t)((at[0] & 0xF0) | value[i] >> 4);
        at[1] = (uint8_t)((at[1] & 0x0F) | value[i] << 4);
    }
}

/** The first byte of its word; IPv6 has no such sum, and what is added is not used. */
static void store_ttl(struct frame_place place, uint64_t const *value, uint32_t count, struct burst_sums *sums) {
    uint8_t *at = place.first;
    for (uint32_t i = 0; i < count; ++i, at += place.stride) {
        *at = (uint8_t)value[i];
        sums->ip[i] += value[i];
    }
}

static void store_ports(struct frame_place place, uint64_t const *value, uint32_t count, struct burst_sums *sums) {
    uint8_t *at = place.first;
    for (uint32_t i = 0; i < count; ++i, at += place.stride) {
        uint16_t const memory = __builtin_bswap16((uint16_t)value[i]);
        rm_store_memory16(at, memory);
        sums->transport[i] += memory;
    }
}

static void store_sizes(struct rm_template const *template, uint64_t const *value, uint32_t count, uint32_t *length,
                        struct burst_sums *sums) {
    for (uint32_t i = 0; i < count; ++i) {
        struct rm_frame_sums own = {0, 0};
        length[i] = (uint32_t)value[i] - RM_FCS_BYTES;
        rm_template_frame_lengths(&template->description, rm_template_frame(template, i), length[i], &own);
        sums->ip[i] += own.ip;
        sums->transport[i] += own.transport + template->payload_sum[length[i] - template->layout.payload];
    }
}

static void take_mix(struct rm_template *template, uint64_t *value, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        value[i] = template->mix_size[template->mix_next++];
        if (template->mix_next == template->mix_steps)
            template->mix_next = 0;
    }
}

static void store_field(struct rm_template const *template, enum rm_traffic_field_name name, uint64_t const *value,
                        uint32_t count, uint32_t *length, struct burst_sums *sums) {
    uint32_t const ip = template->layout.ip, transport = template->layout.transport;
    bool const ipv6 = template->description.ipv6;
    switch (name) {
    case RM_TRAFFIC_SIZE:
        return store_sizes(template, value, count, length, sums);
    case RM_TRAFFIC_DESTINATION_MAC:
        return store_macs(place_at(template, 0), value, count);
    case RM_TRAFFIC_SOURCE_MAC:
        return store_macs(place_at(template, 6), value, count);
    case RM_TRAFFIC_VLAN:
        return store_tags(place_at(template, VLAN_AT), VLAN_ID, 0, value, count);
    case RM_TRAFFIC_PRIORITY:
        return store_tags(place_at(template, VLAN_AT), 7 << PRIORITY_SHIFT, PRIORITY_SHIFT, value, count);
    case RM_TRAFFIC_SOURCE_ADDRESS:
        return store_address(template, false, value, count, sums);
    case RM_TRAFFIC_DESTINATION_ADDRESS:
        return store_address(template, true, value, count, sums);
    case RM_TRAFFIC_TOS:
        return ipv6 ? store_traffic_class(place_at(template, ip), value, count)
                    : store_ipv4_tos(place_at(template, ip + 1), value, count, sums);
    case RM_TRAFFIC_TTL:
        return store_ttl(place_at(template, ip + (ipv6 ? 7 : 8)), value, count, sums);
    case RM_TRAFFIC_SOURCE_PORT:
        return store_ports(place_at(template, transport), value, count, sums);
    case RM_TRAFFIC_DESTINATION_PORT:
        return store_ports(place_at(template, transport + 2), value, count, sums);
    case RM_TRAFFIC_FIELDS:
        break;
    }
}

/** What varies, into the frames and into the sums. */
static void make_fields(struct rm_template *template, uint32_t *length, uint32_t count, struct burst_sums *sums) {
    for (uint32_t f = 0; f < template->field_count; ++f) {
        struct rm_template_field *const field = &template->field[f];
        uint64_t value[RM_TRAFFIC_BURST_MAX];
        if (field->name == RM_TRAFFIC_SIZE && template->mix_steps > 0)
            take_mix(template, value, count);
        else
            rm_field_values_take(&field->values, value, count);
        store_field(template, field->name, value, count, length, sums);
    }
}

static void make_stamps(struct rm_template *template, uint32_t count, uint64_t tsc) {
    uint64_t const base = rm_flow_stamp_base(tsc, template->stamp_key);
    struct frame_place const place = place_at(template, template->layout.payload);
    struct rm_flow_sent *const sent = template->sent;
    uint32_t const first = template->flow_first, flows = template->description.flow_count;
    uint32_t next = template->flow_next;
    uint8_t *at = place.first;
    for (uint32_t i = 0; i < count; ++i, at += place.stride) {
        uint64_t const sequence = atomic_load_explicit(&sent[next].stamped, memory_order_relaxed);
        struct rm_flow_stamp const stamp = {(uint16_t)(first + next), (uint32_t)sequence, tsc};
        rm_flow_stamp_write(at, &stamp, base);
        atomic_store_explicit(&sent[next].stamped, sequence + 1, memory_order_relaxed);
        next = next + 1 == flows ? 0 : next + 1;
    }
    template->flow_next = next;
}

/** Folds first and stores then: folding is done for several frames at once. */
static void make_ip_checksums(struct frame_place place, uint64_t base, uint64_t const *sum, uint32_t count) {
    uint64_t folded[RM_TRAFFIC_BURST_MAX];
    uint8_t *at = place.first;
    for (uint32_t i = 0; i < count; ++i)
        folded[i] = rm_checksum_fold(base + sum[i]);
    for (uint32_t i = 0; i < count; ++i, at += place.stride)
        rm_store_memory16(at, (uint16_t)~folded[i]);
}

/** Never zero, which would say "absent"; to the sum 0xFFFF is the same. */
static void make_transport_checksums(struct frame_place place, uint64_t base, uint64_t const *sum, uint32_t count) {
    uint64_t folded[RM_TRAFFIC_BURST_MAX];
    uint8_t *at = place.first;
    for (uint32_t i = 0; i < count; ++i)
        folded[i] = rm_checksum_fold(base + sum[i]);
    for (uint32_t i = 0; i < count; ++i, at += place.stride) {
        uint16_t const checksum = (uint16_t)~folded[i];
        rm_store_memory16(at, checksum == 0 ? UINT16_MAX : checksum);
    }
}

static void make_checksums(struct rm_template const *template, uint32_t count, struct burst_sums const *sums) {
    struct rm_frame_layout const *const layout = &template->layout;
    if (template->ip_varies)
        make_ip_checksums(place_at(template, layout->ip + IPV4_CHECKSUM_AT), template->sums.ip, sums->ip, count);
    if (template->transport_varies)
        make_transport_checksums(place_at(template, layout->transport_checksum), template->sums.transport,
                                 sums->transport, count);
}

void rm_template_make(struct rm_template *template, uint32_t *length, uint32_t count, uint64_t tsc) {
    for (uint32_t i = 0; i < count; ++i)
        length[i] = template->length;
    if (template->field_count > 0) {
        struct burst_sums sums;
        memset(sums.ip, 0, count * sizeof sums.ip[0]);
        memset(sums.transport, 0, count * sizeof sums.transport[0]);
        make_fields(template, length, count, &sums);
        make_checksums(template, count, &sums);
    }
    if (template->description.flow_count > 0)
        make_stamps(template, count, tsc);
}
