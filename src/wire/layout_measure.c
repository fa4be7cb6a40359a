// SPDX-License-Identifier: Apache-2.0
/** Where the fields of a description end, and whether they fit. Offsets and strides are bounded first, so that their
 * sums cannot overflow. */
#include "base/fail.h"
#include "wire/layout_parts.h"

enum {
    FARTHEST = RM_LAYOUT_PAYLOAD_MAX,
    STATUS_BITS_MAX = 16,
};

uint32_t rm_field_bytes(enum rm_field_type type) {
    switch (type) {
    case RM_FIELD_U8:
    case RM_FIELD_I8:
        return 1;
    case RM_FIELD_U16:
    case RM_FIELD_I16:
        return 2;
    case RM_FIELD_U24:
    case RM_FIELD_I24:
        return 3;
    case RM_FIELD_U32:
    case RM_FIELD_I32:
    case RM_FIELD_F32:
        return 4;
    case RM_FIELD_U64:
        return 8;
    }
    return 8;
}

bool rm_field_is_signed(enum rm_field_type type) {
    return type == RM_FIELD_I8 || type == RM_FIELD_I16 || type == RM_FIELD_I24 || type == RM_FIELD_I32;
}

uint32_t rm_field_bits(struct rm_layout_field const *field) {
    return field->bits != 0 ? field->bits : 8 * rm_field_bytes(field->type) - field->shift;
}

static uint32_t max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }

/** A number that must lie in [least, most]. */
static enum rm_code check_range(struct rm_error *error, char const *key, uint32_t found, uint32_t least,
                                uint32_t most) {
    if (found >= least && found <= most)
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG, "%s: found %u, expected %u to %u", key, found, least, most);
}

static enum rm_code check_layout_numbers(struct rm_layout_description const *description, struct rm_error *error) {
    struct {
        char const *key;
        uint32_t found;
        uint32_t least;
        uint32_t most;
    } const numbers[] = {
        {"bytes", description->bytes, 0, RM_LAYOUT_PAYLOAD_MAX},
        {"constants", description->constant_count, 0, RM_LAYOUT_CONSTANTS_MAX},
        {"lanes", description->lane_count, 1, RM_LANES},
        {"instruments.count", description->instrument_count, 0, RM_LAYOUT_RECORDS_MAX},
        {"instruments.at", description->instrument_at, 0, FARTHEST},
        {"instruments.stride", description->instrument_stride, 0, FARTHEST},
        {"turns.count", description->turn_count, 1, RM_LAYOUT_RECORDS_MAX},
        {"turns.at", description->turn_at, 0, FARTHEST},
        {"turns.stride", description->turn_stride, 0, FARTHEST},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        enum rm_code const code =
            check_range(error, numbers[i].key, numbers[i].found, numbers[i].least, numbers[i].most);
        if (code != RM_OK)
            return code;
    }
    return RM_OK;
}

static enum rm_code check_field(struct rm_layout_field const *field, char const *key, struct rm_error *error) {
    if (!field->present)
        return RM_OK;
    if (field->at > FARTHEST)
        return rm_fail(error, RM_E_CONFIG, "%s.at: found %u, expected 0 to %u", key, field->at, FARTHEST);
    if (rm_field_is_signed(field->type) || field->type == RM_FIELD_F32)
        return rm_fail(error, RM_E_CONFIG, "%s.type: expected an unsigned one: u8, u16, u24, u32 or u64", key);
    uint32_t const width = 8 * rm_field_bytes(field->type);
    if (field->shift >= width)
        return rm_fail(error, RM_E_CONFIG, "%s.shift: found %u, expected 0 to %u", key, field->shift, width - 1);
    if (field->bits > width - field->shift)
        return rm_fail(error, RM_E_CONFIG, "%s.bits: found %u, but %u bits of %u are left after the shift", key,
                       field->bits, width - field->shift, width);
    return RM_OK;
}

static enum rm_code check_fields(struct rm_layout_description const *description, struct rm_error *error) {
    if (!description->counter.present)
        return rm_fail(error, RM_E_CONFIG, "counter: is missing, expected the field that counts records");
    enum rm_code code = check_field(&description->counter, "counter", error);
    if (code == RM_OK)
        code = check_field(&description->id, "id", error);
    if (code == RM_OK)
        code = check_field(&description->status, "status", error);
    if (code != RM_OK)
        return code;
    if (description->id.present && description->id.type == RM_FIELD_U64)
        return rm_fail(error, RM_E_CONFIG, "id.type: found u64, expected u8, u16, u24 or u32");
    if (description->status.present && description->status.type == RM_FIELD_U64)
        return rm_fail(error, RM_E_CONFIG, "status.type: found u64, expected u8, u16, u24 or u32");
    if (description->status.present && rm_field_bits(&description->status) > STATUS_BITS_MAX)
        return rm_fail(error, RM_E_CONFIG, "status: has %u bits, expected at most %d: choose them by shift and bits",
                       rm_field_bits(&description->status), STATUS_BITS_MAX);
    return RM_OK;
}

static enum rm_code check_lanes(struct rm_layout_description const *description, struct rm_error *error) {
    for (uint32_t i = 0; i < description->lane_count; ++i) {
        struct rm_layout_lane const *const lane = &description->lane[i];
        if (lane->at > FARTHEST)
            return rm_fail(error, RM_E_CONFIG, "lanes[%u].at: found %u, expected 0 to %u", i, lane->at, FARTHEST);
        if (lane->type == RM_FIELD_U64)
            return rm_fail(error, RM_E_CONFIG, "lanes[%u].type: found u64, expected one of at most 32 bits", i);
    }
    return RM_OK;
}

static enum rm_code check_constants(struct rm_layout_description const *description, struct rm_error *error) {
    for (uint32_t i = 0; i < description->constant_count; ++i) {
        struct rm_layout_constant const *const constant = &description->constant[i];
        uint32_t const width = 8 * rm_field_bytes(constant->type);
        if (constant->at > FARTHEST)
            return rm_fail(error, RM_E_CONFIG, "constants[%u].at: found %u, expected 0 to %u", i, constant->at,
                           FARTHEST);
        if (rm_field_is_signed(constant->type) || constant->type == RM_FIELD_F32)
            return rm_fail(error, RM_E_CONFIG, "constants[%u].type: expected an unsigned one: u8, u16, u24, u32 or u64",
                           i);
        if (width < 64 && constant->value >> width != 0)
            return rm_fail(error, RM_E_CONFIG, "constants[%u].value: does not fit %u bits", i, width);
    }
    return RM_OK;
}

/** End of the fields of one scope, from its start. */
static uint32_t scope_end_of(struct rm_layout_description const *description, enum rm_field_scope scope) {
    struct rm_layout_field const *const fields[] = {&description->id, &description->counter, &description->status};
    uint32_t end = 0;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i)
        if (fields[i]->present && fields[i]->in == scope)
            end = max_u32(end, fields[i]->at + rm_field_bytes(fields[i]->type));
    for (uint32_t i = 0; scope == RM_IN_TURN && i < description->lane_count; ++i)
        end = max_u32(end, description->lane[i].at + rm_field_bytes(description->lane[i].type));
    for (uint32_t i = 0; scope == RM_IN_DATAGRAM && i < description->constant_count; ++i)
        end = max_u32(end, description->constant[i].at + rm_field_bytes(description->constant[i].type));
    return end;
}

/** Blocks may also stand between the turns of others: all of turn 0, then all of turn 1. */
static bool turns_are_interleaved(struct rm_layout_description const *description, uint32_t turn_end) {
    uint32_t const others = (description->instrument_count - 1) * description->instrument_stride;
    return description->instrument_count > 1 && description->turn_count > 1 &&
           description->instrument_stride >= turn_end && description->turn_stride >= others + turn_end;
}

static enum rm_code check_strides(struct rm_layout_description const *description, uint32_t turn_end,
                                  uint32_t block_end, struct rm_error *error) {
    if (description->turn_count > 1 && description->turn_stride < turn_end)
        return rm_fail(error, RM_E_CONFIG,
                       "turns.stride: found %u, expected at least %u, where a turn's last field ends",
                       description->turn_stride, turn_end);
    if (description->instrument_count != 1 && description->instrument_stride < block_end &&
        !turns_are_interleaved(description, turn_end))
        return rm_fail(error, RM_E_CONFIG,
                       "instruments.stride: found %u, expected at least %u, where an instrument's last field ends",
                       description->instrument_stride, block_end);
    return RM_OK;
}

/** As many blocks as there are, with nothing behind them. */
static enum rm_code measure_open(struct rm_layout_description const *description, struct rm_layout_shape *shape,
                                 struct rm_error *error) {
    uint32_t const stride = description->instrument_stride;
    uint32_t const begin = description->instrument_at;
    if (begin + stride > RM_LAYOUT_PAYLOAD_MAX)
        return rm_fail(error, RM_E_CONFIG, "instruments: the first one ends at byte %u, expected at most %d",
                       begin + stride, RM_LAYOUT_PAYLOAD_MAX);
    uint32_t const fitting = (RM_LAYOUT_PAYLOAD_MAX - begin) / stride;
    uint32_t const allowed = RM_LAYOUT_RECORDS_MAX / description->turn_count;
    shape->shortest = begin + stride;
    shape->longest = begin + (fitting < allowed ? fitting : allowed) * stride;
    shape->last_block = 0;
    shape->records = 0;
    return RM_OK;
}

/** A number of blocks that is given, or follows from `bytes`. */
static enum rm_code measure_closed(struct rm_layout_description const *description, uint32_t block_end,
                                   struct rm_layout_shape *shape, struct rm_error *error) {
    uint32_t const stride = description->instrument_stride;
    uint32_t const begin = description->instrument_at;
    uint32_t blocks = description->instrument_count;
    if (blocks == 0) {
        uint32_t const bytes = max_u32(description->bytes, begin) - begin;
        if (bytes == 0 || bytes % stride != 0)
            return rm_fail(error, RM_E_CONFIG,
                           "bytes: leaves %u for instruments of %u each, expected a multiple, or instruments.count",
                           bytes, stride);
        blocks = bytes / stride;
    }
    if (blocks * description->turn_count > RM_LAYOUT_RECORDS_MAX)
        return rm_fail(error, RM_E_CONFIG,
                       "instruments.count: %u instruments of %u turns each, expected at most %d records", blocks,
                       description->turn_count, RM_LAYOUT_RECORDS_MAX);
    uint32_t const end = begin + (blocks - 1) * stride + block_end;
    uint32_t const turns_end = begin + description->turn_at + description->turn_count * description->turn_stride;
    uint32_t bytes = description->bytes;
    if (bytes == 0)
        bytes = max_u32(max_u32(end, begin + blocks * stride),
                        max_u32(turns_end, scope_end_of(description, RM_IN_DATAGRAM)));
    if (end > bytes || bytes > RM_LAYOUT_PAYLOAD_MAX)
        return rm_fail(error, RM_E_CONFIG,
                       "bytes: the last field ends at byte %u of %u, expected a payload of %u to %d", end, bytes, end,
                       RM_LAYOUT_PAYLOAD_MAX);
    *shape = (struct rm_layout_shape){
        .shortest = bytes, .longest = bytes, .last_block = blocks - 1, .records = blocks * description->turn_count};
    return RM_OK;
}

static enum rm_code check_all(struct rm_layout_description const *description, struct rm_error *error) {
    enum rm_code code = check_layout_numbers(description, error);
    if (code == RM_OK)
        code = check_fields(description, error);
    if (code == RM_OK)
        code = check_lanes(description, error);
    if (code == RM_OK)
        code = check_constants(description, error);
    return code;
}

enum rm_code rm_layout_measure(struct rm_layout_description const *description, struct rm_layout_shape *shape,
                               struct rm_error *error) {
    enum rm_code code = check_all(description, error);
    if (code != RM_OK)
        return code;
    uint32_t const turn_end = scope_end_of(description, RM_IN_TURN);
    uint32_t const turns_end =
        description->turn_at + (description->turn_count - 1) * description->turn_stride + turn_end;
    uint32_t const block_end = max_u32(turns_end, scope_end_of(description, RM_IN_INSTRUMENT));
    code = check_strides(description, turn_end, block_end, error);
    if (code != RM_OK)
        return code;
    if (description->instrument_count == 0 && description->bytes == 0)
        code = measure_open(description, shape, error);
    else
        code = measure_closed(description, block_end, shape, error);
    if (code != RM_OK)
        return code;
    uint32_t const fields_end = scope_end_of(description, RM_IN_DATAGRAM);
    if (fields_end > shape->shortest)
        return rm_fail(error, RM_E_CONFIG, "bytes: a field of the datagram ends at byte %u, beyond a payload of %u",
                       fields_end, shape->shortest);
    if (shape->shortest < RM_LAYOUT_WORD_BYTES)
        return rm_fail(error, RM_E_CONFIG, "bytes: the payload has %u, expected at least %d", shape->shortest,
                       RM_LAYOUT_WORD_BYTES);
    shape->counter_bits = rm_field_bits(&description->counter);
    return RM_OK;
}
