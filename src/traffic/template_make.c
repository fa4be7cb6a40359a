// SPDX-License-Identifier: Apache-2.0
/* Makes the frames of a burst: each field of all frames, then the stamps, then the checksums. */
#include "traffic/template.h"

enum { IPV4_CHECKSUM_AT = 10, VLAN_AT = RM_ETHERNET_BYTES, VLAN_ID = 0x0FFF, PRIORITY_SHIFT = 13 };

/** The words that vary, of each frame. */
struct burst_sums {
    uint64_t ip[RM_TRAFFIC_BURST_MAX];
    uint64_t transport[RM_TRAFFIC_BURST_MAX];
};

static void store_macs(struct rm_template const *template, uint32_t at, uint64_t const *value, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        uint8_t *const bytes = rm_template_frame(template, i) + at;
        rm_store16(bytes, (uint16_t)(value[i] >> 32));
        rm_store32(bytes + 2, (uint32_t)value[i]);
    }
}

/** The tag's word has both. */
static void store_tags(struct rm_template const *template, uint16_t mask, uint32_t shift, uint64_t const *value,
                       uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        uint8_t *const word = rm_template_frame(template, i) + VLAN_AT;
        rm_store16(word, (uint16_t)((rm_load16(word) & ~mask) | value[i] << shift));
    }
}

static void store_ipv4_addresses(struct rm_template const *template, uint32_t at, uint64_t const *value, uint32_t count,
                                 struct burst_sums *sums) {
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t const memory = __builtin_bswap32((uint32_t)value[i]);
        memcpy(rm_template_frame(template, i) + at, &memory, sizeof memory);
        sums->ip[i] += memory;
        sums->transport[i] += memory;
    }
}

static void store_ipv6_addresses(struct rm_template const *template, uint32_t at, uint64_t const *value, uint32_t count,
                                 struct burst_sums *sums) {
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t const memory = __builtin_bswap64(value[i]);
        memcpy(rm_template_frame(template, i) + at, &memory, sizeof memory);
        sums->transport[i] += (memory >> 32) + (uint32_t)memory;
    }
}

static void store_address(struct rm_template const *template, bool destination, uint64_t const *value, uint32_t count,
                          struct burst_sums *sums) {
    uint32_t const ip = template->layout.ip;
    if (template->description.ipv6)
        store_ipv6_addresses(template, ip + (destination ? 32 : 16), value, count, sums);
    else
        store_ipv4_addresses(template, ip + (destination ? 16 : 12), value, count, sums);
}

static void store_tos(struct rm_template const *template, uint64_t const *value, uint32_t count,
                      struct burst_sums *sums) {
    for (uint32_t i = 0; i < count; ++i) {
        uint8_t *const ip = rm_template_frame(template, i) + template->layout.ip;
        if (template->description.ipv6) {
            ip[0] = (uint8_t)((ip[0] & 0xF0) | value[i] >> 4);
            ip[1] = (uint8_t)((ip[1] & 0x0F) | value[i] << 4);
        } else {
            ip[1] = (uint8_t)value[i];
            sums->ip[i] += value[i] << 8; // the second byte of its word
        }
    }
}

static void store_ttl(struct rm_template const *template, uint64_t const *value, uint32_t count,
                      struct burst_sums *sums) {
    uint32_t const at = template->layout.ip + (template->description.ipv6 ? 7 : 8);
    for (uint32_t i = 0; i < count; ++i) {
        rm_template_frame(template, i)[at] = (uint8_t)value[i];
        sums->ip[i] += value[i]; // the first byte of its word; IPv6 has no such sum
    }
}

static void store_ports(struct rm_template const *template, uint32_t at, uint64_t const *value, uint32_t count,
                        struct burst_sums *sums) {
    for (uint32_t i = 0; i < count; ++i) {
        uint16_t const memory = __builtin_bswap16((uint16_t)value[i]);
        rm_store_memory16(rm_template_frame(template, i) + at, memory);
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
    switch (name) {
    case RM_TRAFFIC_SIZE:
        return store_sizes(template, value, count, length, sums);
    case RM_TRAFFIC_DESTINATION_MAC:
        return store_macs(template, 0, value, count);
    case RM_TRAFFIC_SOURCE_MAC:
        return store_macs(template, 6, value, count);
    case RM_TRAFFIC_VLAN:
        return store_tags(template, VLAN_ID, 0, value, count);
    case RM_TRAFFIC_PRIORITY:
        return store_tags(template, 7 << PRIORITY_SHIFT, PRIORITY_SHIFT, value, count);
    case RM_TRAFFIC_SOURCE_ADDRESS:
        return store_address(template, false, value, count, sums);
    case RM_TRAFFIC_DESTINATION_ADDRESS:
        return store_address(template, true, value, count, sums);
    case RM_TRAFFIC_TOS:
        return store_tos(template, value, count, sums);
    case RM_TRAFFIC_TTL:
        return store_ttl(template, value, count, sums);
    case RM_TRAFFIC_SOURCE_PORT:
        return store_ports(template, template->layout.transport, value, count, sums);
    case RM_TRAFFIC_DESTINATION_PORT:
        return store_ports(template, template->layout.transport + 2, value, count, sums);
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
    uint32_t next = template->flow_next;
    for (uint32_t i = 0; i < count; ++i) {
        _Atomic uint64_t *const stamped = &template->sent[next].stamped;
        uint64_t const sequence = atomic_load_explicit(stamped, memory_order_relaxed);
        struct rm_flow_stamp const stamp = {(uint16_t)(template->flow_first + next), (uint32_t)sequence, tsc};
        rm_flow_stamp_write(rm_template_frame(template, i) + template->layout.payload, &stamp, base);
        atomic_store_explicit(stamped, sequence + 1, memory_order_relaxed);
        next = next + 1 == template->description.flow_count ? 0 : next + 1;
    }
    template->flow_next = next;
}

static void make_checksums(struct rm_template const *template, uint32_t count, struct burst_sums const *sums) {
    for (uint32_t i = 0; template->ip_varies && i < count; ++i) {
        uint16_t const sum = rm_checksum_fold(template->sums.ip + sums->ip[i]);
        rm_store_memory16(rm_template_frame(template, i) + template->layout.ip + IPV4_CHECKSUM_AT, (uint16_t)~sum);
    }
    for (uint32_t i = 0; template->transport_varies && i < count; ++i) {
        uint16_t const checksum = (uint16_t)~rm_checksum_fold(template->sums.transport + sums->transport[i]);
        rm_store_memory16(rm_template_frame(template, i) + template->layout.transport_checksum,
                          checksum == 0 ? UINT16_MAX : checksum);
    }
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
