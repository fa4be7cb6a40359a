// SPDX-License-Identifier: Apache-2.0
#include "format/format.h"

enum {
    NAME_MAX_BYTES = RM_FORMAT_NAME_BYTES - 1,
    PLAIN = CYAML_FLAG_DEFAULT,
    WORD = CYAML_FLAG_STRICT,
    TEXT = CYAML_FLAG_POINTER,
    MAYBE = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
    MAYBE_WORD = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT,
};

static cyaml_strval_t const byte_orders[] = {
    {"little", RM_LITTLE_ENDIAN},
    {"big", RM_BIG_ENDIAN},
};

static cyaml_strval_t const field_types[] = {
    {"u8", RM_FIELD_U8},   {"i8", RM_FIELD_I8},   {"u16", RM_FIELD_U16}, {"i16", RM_FIELD_I16}, {"u24", RM_FIELD_U24},
    {"i24", RM_FIELD_I24}, {"u32", RM_FIELD_U32}, {"i32", RM_FIELD_I32}, {"u64", RM_FIELD_U64}, {"f32", RM_FIELD_F32},
};

static cyaml_strval_t const scopes[] = {
    {"datagram", RM_IN_DATAGRAM},
    {"instrument", RM_IN_INSTRUMENT},
    {"turn", RM_IN_TURN},
};

static cyaml_schema_field_t const field_fields[] = {
    CYAML_FIELD_UINT("at", PLAIN, struct rm_file_field, at),
    CYAML_FIELD_ENUM("type", WORD, struct rm_file_field, type, field_types, CYAML_ARRAY_LEN(field_types)),
    CYAML_FIELD_UINT_PTR("shift", MAYBE, struct rm_file_field, shift),
    CYAML_FIELD_UINT_PTR("bits", MAYBE, struct rm_file_field, bits),
    CYAML_FIELD_ENUM_PTR("in", MAYBE_WORD, struct rm_file_field, in, scopes, CYAML_ARRAY_LEN(scopes)),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const constant_fields[] = {
    CYAML_FIELD_UINT("at", PLAIN, struct rm_file_constant, at),
    CYAML_FIELD_ENUM("type", WORD, struct rm_file_constant, type, field_types, CYAML_ARRAY_LEN(field_types)),
    CYAML_FIELD_UINT("value", PLAIN, struct rm_file_constant, value),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const constant_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_file_constant, constant_fields)};

static cyaml_schema_field_t const repeat_fields[] = {
    CYAML_FIELD_UINT_PTR("count", MAYBE, struct rm_file_repeat, count),
    CYAML_FIELD_UINT("at", PLAIN, struct rm_file_repeat, at),
    CYAML_FIELD_UINT("stride", PLAIN, struct rm_file_repeat, stride),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const lane_fields[] = {
    CYAML_FIELD_STRING_PTR("name", TEXT, struct rm_file_layout_lane, name, 1, RM_LANE_NAME_BYTES - 1),
    CYAML_FIELD_STRING_PTR("unit", TEXT, struct rm_file_layout_lane, unit, 0, RM_UNIT_BYTES - 1),
    CYAML_FIELD_UINT("at", PLAIN, struct rm_file_layout_lane, at),
    CYAML_FIELD_ENUM("type", WORD, struct rm_file_layout_lane, type, field_types, CYAML_ARRAY_LEN(field_types)),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const lane_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_layout_lane, lane_fields)};

static cyaml_schema_field_t const layout_fields[] = {
    CYAML_FIELD_ENUM_PTR("byte_order", MAYBE_WORD, struct rm_file_layout, byte_order, byte_orders,
                         CYAML_ARRAY_LEN(byte_orders)),
    CYAML_FIELD_UINT_PTR("bytes", MAYBE, struct rm_file_layout, bytes),
    CYAML_FIELD_SEQUENCE("constants", MAYBE, struct rm_file_layout, constants, &constant_schema, 0,
                         RM_LAYOUT_CONSTANTS_MAX),
    CYAML_FIELD_MAPPING_PTR("instruments", MAYBE, struct rm_file_layout, instruments, repeat_fields),
    CYAML_FIELD_MAPPING_PTR("turns", MAYBE, struct rm_file_layout, turns, repeat_fields),
    CYAML_FIELD_MAPPING_PTR("id", MAYBE, struct rm_file_layout, id, field_fields),
    CYAML_FIELD_MAPPING("counter", PLAIN, struct rm_file_layout, counter, field_fields),
    CYAML_FIELD_MAPPING_PTR("status", MAYBE, struct rm_file_layout, status, field_fields),
    CYAML_FIELD_SEQUENCE("lanes", TEXT, struct rm_file_layout, lanes, &lane_schema, 1, RM_LANES),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const format_fields[] = {
    CYAML_FIELD_STRING_PTR("name", TEXT, struct rm_file_format, name, 1, NAME_MAX_BYTES),
    CYAML_FIELD_STRING_PTR("preset", MAYBE, struct rm_file_format, preset, 1, NAME_MAX_BYTES),
    CYAML_FIELD_UINT_PTR("udp_port", MAYBE, struct rm_file_format, udp_port),
    CYAML_FIELD_UINT_PTR("period_turns", MAYBE, struct rm_file_format, period_turns),
    CYAML_FIELD_MAPPING_PTR("layout", MAYBE, struct rm_file_format, layout, layout_fields),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_format_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_format, format_fields)};
