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
    CYAML_FIELD_UINT(RM_KEY("at", "Offset.", .unit = "bytes", .example = "0", RM_RANGE(0, 9216)), PLAIN,
                     struct rm_file_field, at),
    CYAML_FIELD_ENUM(RM_KEY("type", "Type of the number.", .example = "u16"), WORD, struct rm_file_field, type,
                     field_types, CYAML_ARRAY_LEN(field_types)),
    CYAML_FIELD_UINT_PTR(RM_KEY("shift", "Its lowest bit in the number.", .fallback = "0", RM_RANGE(0, 63)), MAYBE,
                         struct rm_file_field, shift),
    CYAML_FIELD_UINT_PTR(RM_KEY("bits", "How many bits it has.", .otherwise = "all", .example = "8", RM_RANGE(0, 64)),
                         MAYBE, struct rm_file_field, bits),
    CYAML_FIELD_ENUM_PTR(RM_KEY("in", "What its offset counts from.", .fallback = "turn"), MAYBE_WORD,
                         struct rm_file_field, in, scopes, CYAML_ARRAY_LEN(scopes)),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const constant_fields[] = {
    CYAML_FIELD_UINT(RM_KEY("at", "Offset in the datagram.", .unit = "bytes", .example = "0", RM_RANGE(0, 9216)), PLAIN,
                     struct rm_file_constant, at),
    CYAML_FIELD_ENUM(RM_KEY("type", "Type of the number.", .example = "u16"), WORD, struct rm_file_constant, type,
                     field_types, CYAML_ARRAY_LEN(field_types)),
    CYAML_FIELD_UINT(RM_KEY("value", "What stands there; datagrams of another value are refused.", .example = "0x5842"),
                     PLAIN, struct rm_file_constant, value),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const constant_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_file_constant, constant_fields)};

static cyaml_schema_field_t const repeat_fields[] = {
    CYAML_FIELD_UINT_PTR(RM_KEY("count", "How many there are in a datagram.",
                                .otherwise = "as many instruments as the datagram holds; of turns required",
                                .example = "1", RM_RANGE(1, 65536)),
                         MAYBE, struct rm_file_repeat, count),
    CYAML_FIELD_UINT(RM_KEY("at", "Offset of the first.", .unit = "bytes", .example = "8", RM_RANGE(0, 9216)), PLAIN,
                     struct rm_file_repeat, at),
    CYAML_FIELD_UINT(RM_KEY("stride", "From one to the next.", .unit = "bytes", .example = "8", RM_RANGE(0, 9216)),
                     PLAIN, struct rm_file_repeat, stride),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const lane_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("name", "What readers call it.", .example = "x"), TEXT, struct rm_file_layout_lane,
                           name, 1, RM_LANE_NAME_BYTES - 1),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("unit", "Of the number as it stands in the datagram; \"\" for none.", .example = "nm"), TEXT,
        struct rm_file_layout_lane, unit, 0, RM_UNIT_BYTES - 1),
    CYAML_FIELD_UINT(RM_KEY("at", "Offset in the turn.", .unit = "bytes", .example = "0", RM_RANGE(0, 9216)), PLAIN,
                     struct rm_file_layout_lane, at),
    CYAML_FIELD_ENUM(RM_KEY("type", "Type of the number.", .example = "i32"), WORD, struct rm_file_layout_lane, type,
                     field_types, CYAML_ARRAY_LEN(field_types)),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const lane_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_layout_lane, lane_fields)};

static cyaml_schema_field_t const layout_fields[] = {
    CYAML_FIELD_ENUM_PTR(RM_KEY("byte_order", "Of all numbers.", .fallback = "little"), MAYBE_WORD,
                         struct rm_file_layout, byte_order, byte_orders, CYAML_ARRAY_LEN(byte_orders)),
    CYAML_FIELD_UINT_PTR(RM_KEY("bytes", "Length of the payload.", .unit = "bytes",
                                .otherwise = "any that holds all fields", .example = "16", RM_RANGE(1, 9216)),
                         MAYBE, struct rm_file_layout, bytes),
    CYAML_FIELD_SEQUENCE(RM_KEY("constants", "Numbers by which a datagram is known.", .otherwise = "none"), MAYBE,
                         struct rm_file_layout, constants, &constant_schema, 0, RM_LAYOUT_CONSTANTS_MAX),
    CYAML_FIELD_MAPPING_PTR(
        RM_KEY("instruments", "Several instruments in a datagram.", .otherwise = "one", .apart = true), MAYBE,
        struct rm_file_layout, instruments, repeat_fields),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("turns", "Several turns in a datagram.", .otherwise = "one"), MAYBE,
                            struct rm_file_layout, turns, repeat_fields),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("id", "The instrument's id.", .otherwise = "none: its place in the datagram"), MAYBE,
                            struct rm_file_layout, id, field_fields),
    CYAML_FIELD_MAPPING(RM_KEY("counter", "The turn counter."), PLAIN, struct rm_file_layout, counter, field_fields),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("status", "Bits of state.", .otherwise = "none"), MAYBE, struct rm_file_layout,
                            status, field_fields),
    CYAML_FIELD_SEQUENCE(RM_KEY("lanes", "The values."), TEXT, struct rm_file_layout, lanes, &lane_schema, 1, RM_LANES),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const format_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("name", "What instruments call it.", .example = "xbpm"), TEXT, struct rm_file_format,
                           name, 1, NAME_MAX_BYTES),
    CYAML_FIELD_STRING_PTR(
        RM_KEY(
            "preset",
            "A format that is known: native, libera_grouping, libera_grouping_counter_first. Either this or `layout`.",
            .otherwise = "none", .example = "libera_grouping", .apart = true),
        MAYBE, struct rm_file_format, preset, 1, NAME_MAX_BYTES),
    CYAML_FIELD_UINT_PTR(RM_KEY("udp_port", "Destination UDP port of its datagrams.",
                                .otherwise = "the port's; 2048 for the Libera presets", .example = "5002",
                                RM_RANGE(1, 65535)),
                         MAYBE, struct rm_file_format, udp_port),
    CYAML_FIELD_UINT_PTR(RM_KEY("period_turns", "Of its instruments that do not say: from one record to the next.",
                                .unit = "turns", .otherwise = "1, or the preset's", .example = "1", RM_RANGE(1, 65536)),
                         MAYBE, struct rm_file_format, period_turns),
    CYAML_FIELD_MAPPING_PTR(
        RM_KEY("layout", "The datagram by offsets and widths. Either this or `preset`.", .otherwise = "none"), MAYBE,
        struct rm_file_format, layout, layout_fields),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_format_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_format, format_fields)};
