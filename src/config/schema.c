// SPDX-License-Identifier: Apache-2.0
#include "config/file.h"
#include "format/format.h"
#include <ringmaster/supply.h>

enum {
    NAME_MAX_BYTES = RM_CONFIG_NAME_BYTES - 1,
    QUEUE_NAME_MAX_BYTES = NAME_MAX_BYTES + 3, /* "NAME/15" */
    QUEUES_MAX = RM_CONFIG_PORTS_MAX * RM_CONFIG_QUEUES_MAX,
    SUPPLY_NAME_MAX_BYTES = RM_CONFIG_SUPPLY_NAME_BYTES - 1,
    POLYNOMIAL_MAX = 4,
    INPUTS_MAX = 1024,
    SETTINGS_MAX = 256,
    PLAIN = CYAML_FLAG_DEFAULT,
    WORD = CYAML_FLAG_STRICT,
    TEXT = CYAML_FLAG_POINTER,
    MAYBE = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
    MAYBE_WORD = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT,
};

static cyaml_strval_t const port_kinds[] = {
    {"memif", RM_PORT_MEMIF},
    {"af_packet", RM_PORT_AF_PACKET},
    {"udp", RM_PORT_UDP},
    {"af_xdp", RM_PORT_AF_XDP},
    {"pcap", RM_PORT_PCAP},
    {"ring", RM_PORT_RING},
    {"null", RM_PORT_NULL},
    {"tap", RM_PORT_TAP},
    {"virtio_user", RM_PORT_VIRTIO_USER},
    {"vhost", RM_PORT_VHOST},
    {"pci", RM_PORT_PCI},
};

static cyaml_strval_t const memif_roles[] = {
    {"server", RM_MEMIF_SERVER},
    {"client", RM_MEMIF_CLIENT},
};

static cyaml_strval_t const instrument_kinds[] = {
    {"bpm", RM_KIND_BPM},
    {"blm", RM_KIND_BLM},
    {"llrf", RM_KIND_LLRF},
    {"photon_bpm", RM_KIND_PHOTON_BPM},
    {"interlock", RM_KIND_INTERLOCK},
    {"power_supply", RM_KIND_POWER_SUPPLY},
};

static cyaml_strval_t const lane_types[] = {
    {"i32", RM_LANE_I32},
    {"f32", RM_LANE_F32},
};

static cyaml_strval_t const role_kinds[] = {
    {"receive", RM_ROLE_RECEIVE},   {"housekeeping", RM_ROLE_HOUSEKEEPING},
    {"spread", RM_ROLE_SPREAD},     {"exception_path", RM_ROLE_EXCEPTION_PATH},
    {"transmit", RM_ROLE_TRANSMIT}, {"application", RM_ROLE_APPLICATION},
};

static cyaml_strval_t const reductions[] = {
    {"fir", RM_REDUCE_FIR}, {"last", RM_REDUCE_LAST}, {"or", RM_REDUCE_OR},
    {"and", RM_REDUCE_AND}, {"min", RM_REDUCE_MIN},   {"max", RM_REDUCE_MAX},
};

static cyaml_strval_t const calibrated[] = {
    {"reading", RM_CALIBRATED_IN_READING},
    {"stream", RM_CALIBRATED_IN_STREAM},
};

static cyaml_strval_t const stop_actions[] = {
    {"hold", RM_STOP_HOLD},
    {"ramp", RM_STOP_RAMP},
};

static cyaml_schema_value_t const group_schema = {CYAML_VALUE_STRING(TEXT, char, 1, 15)};

static cyaml_schema_field_t const port_fields[] = {
    CYAML_FIELD_STRING_PTR("name", TEXT, struct rm_file_port, name, 1, NAME_MAX_BYTES),
    CYAML_FIELD_ENUM("kind", WORD, struct rm_file_port, kind, port_kinds, CYAML_ARRAY_LEN(port_kinds)),
    CYAML_FIELD_STRING_PTR("socket", MAYBE, struct rm_file_port, socket, 1, RM_PORT_PATH_BYTES - 1),
    CYAML_FIELD_ENUM_PTR("role", MAYBE_WORD, struct rm_file_port, role, memif_roles, CYAML_ARRAY_LEN(memif_roles)),
    CYAML_FIELD_STRING_PTR("interface", MAYBE, struct rm_file_port, interface, 1, 15), /* IFNAMSIZ - 1 */
    CYAML_FIELD_STRING_PTR("address", MAYBE, struct rm_file_port, address, 1, 21),
    CYAML_FIELD_UINT_PTR("udp_port", MAYBE, struct rm_file_port, udp_port),
    CYAML_FIELD_UINT_PTR("queues", MAYBE, struct rm_file_port, queues),
    CYAML_FIELD_STRING_PTR("file", MAYBE, struct rm_file_port, file, 1, RM_PORT_PATH_BYTES - 1),
    CYAML_FIELD_STRING_PTR("device", MAYBE, struct rm_file_port, device, 1, 12),
    CYAML_FIELD_BOOL_PTR("spread", MAYBE, struct rm_file_port, spread),
    CYAML_FIELD_UINT_PTR("longest_frame", MAYBE, struct rm_file_port, longest_frame),
    CYAML_FIELD_UINT_PTR("vlan", MAYBE, struct rm_file_port, vlan),
    CYAML_FIELD_BOOL_PTR("local_senders", MAYBE, struct rm_file_port, local_senders),
    CYAML_FIELD_SEQUENCE("multicast", MAYBE, struct rm_file_port, multicast, &group_schema, 1, RM_PORT_GROUPS_MAX),
    CYAML_FIELD_STRING_PTR("answer", MAYBE, struct rm_file_port, answer, 1, 15),
    CYAML_FIELD_STRING_PTR("kernel_interface", MAYBE, struct rm_file_port, kernel_interface, 1, 15),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const port_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_port, port_fields)};

static cyaml_schema_field_t const lane_fields[] = {
    CYAML_FIELD_STRING_PTR("name", TEXT, struct rm_file_lane, name, 1, RM_LANE_NAME_BYTES - 1),
    CYAML_FIELD_STRING_PTR("unit", TEXT, struct rm_file_lane, unit, 0, RM_UNIT_BYTES - 1),
    CYAML_FIELD_ENUM("type", WORD, struct rm_file_lane, type, lane_types, CYAML_ARRAY_LEN(lane_types)),
    CYAML_FIELD_ENUM_PTR("reduction", MAYBE_WORD, struct rm_file_lane, reduction, reductions,
                         CYAML_ARRAY_LEN(reductions)),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const lane_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_lane, lane_fields)};

static cyaml_schema_field_t const mirror_fields[] = {
    CYAML_FIELD_STRING_PTR("port", TEXT, struct rm_file_mirror, port, 1, NAME_MAX_BYTES),
    CYAML_FIELD_STRING_PTR("source", MAYBE, struct rm_file_mirror, source, 1, 15),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const instrument_fields[] = {
    CYAML_FIELD_STRING_PTR("name", TEXT, struct rm_file_instrument, name, 1, NAME_MAX_BYTES),
    CYAML_FIELD_ENUM("kind", WORD, struct rm_file_instrument, kind, instrument_kinds,
                     CYAML_ARRAY_LEN(instrument_kinds)),
    CYAML_FIELD_UINT("id", PLAIN, struct rm_file_instrument, id),
    CYAML_FIELD_STRING_PTR("port", TEXT, struct rm_file_instrument, port, 1, NAME_MAX_BYTES),
    CYAML_FIELD_STRING_PTR("source", TEXT, struct rm_file_instrument, source, 1, 15),
    CYAML_FIELD_INT_PTR("turn_offset", MAYBE, struct rm_file_instrument, turn_offset),
    CYAML_FIELD_SEQUENCE("lanes", MAYBE, struct rm_file_instrument, lanes, &lane_schema, 1, RM_LANES),
    CYAML_FIELD_STRING_PTR("format", MAYBE, struct rm_file_instrument, format, 1, 32),
    CYAML_FIELD_UINT_PTR("count", MAYBE, struct rm_file_instrument, count),
    CYAML_FIELD_UINT_PTR("period_turns", MAYBE, struct rm_file_instrument, period_turns),
    CYAML_FIELD_MAPPING_PTR("mirror", MAYBE, struct rm_file_instrument, mirror, mirror_fields),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const instrument_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_file_instrument, instrument_fields)};

static cyaml_schema_field_t const buffers_fields[] = {
    CYAML_FIELD_UINT_PTR("turn_records", MAYBE, struct rm_file_buffers, turn_records),
    CYAML_FIELD_UINT_PTR("fast_records", MAYBE, struct rm_file_buffers, fast_records),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const turn_window_fields[] = {
    CYAML_FIELD_UINT_PTR("ahead_turns", MAYBE, struct rm_file_turn_window, ahead_turns),
    CYAML_FIELD_UINT_PTR("late_turns", MAYBE, struct rm_file_turn_window, late_turns),
    CYAML_FIELD_UINT_PTR("silence_turns", MAYBE, struct rm_file_turn_window, silence_turns),
    CYAML_FIELD_UINT_PTR("quorum", MAYBE, struct rm_file_turn_window, quorum),
    CYAML_FIELD_UINT_PTR("gap_turns", MAYBE, struct rm_file_turn_window, gap_turns),
    CYAML_FIELD_UINT_PTR("phase_turns", MAYBE, struct rm_file_turn_window, phase_turns),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const queue_name_schema = {CYAML_VALUE_STRING(TEXT, char, 1, QUEUE_NAME_MAX_BYTES)};

static cyaml_schema_field_t const role_fields[] = {
    CYAML_FIELD_ENUM("role", WORD, struct rm_file_role, role, role_kinds, CYAML_ARRAY_LEN(role_kinds)),
    CYAML_FIELD_UINT("core", PLAIN, struct rm_file_role, core),
    CYAML_FIELD_SEQUENCE("ports", MAYBE, struct rm_file_role, ports, &queue_name_schema, 1, QUEUES_MAX),
    CYAML_FIELD_SEQUENCE("first", MAYBE, struct rm_file_role, first, &queue_name_schema, 1, QUEUES_MAX),
    CYAML_FIELD_STRING_PTR("application", MAYBE, struct rm_file_role, application, 1, NAME_MAX_BYTES),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const role_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_role, role_fields)};

static cyaml_schema_field_t const rate_fields[] = {
    CYAML_FIELD_STRING_PTR("name", TEXT, struct rm_file_rate, name, 1, NAME_MAX_BYTES),
    CYAML_FIELD_STRING_PTR("from", MAYBE, struct rm_file_rate, from, 1, NAME_MAX_BYTES),
    CYAML_FIELD_STRING_PTR("filter", TEXT, struct rm_file_rate, filter, 1, NAME_MAX_BYTES),
    CYAML_FIELD_UINT("decimation", PLAIN, struct rm_file_rate, decimation),
    CYAML_FIELD_UINT_PTR("records", MAYBE, struct rm_file_rate, records),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const rate_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_rate, rate_fields)};

static cyaml_schema_field_t const calibration_fields[] = {
    CYAML_FIELD_STRING_PTR("file", TEXT, struct rm_file_calibration, file, 1, RM_CONFIG_PATH_BYTES - 1),
    CYAML_FIELD_ENUM_PTR("apply", MAYBE_WORD, struct rm_file_calibration, apply, calibrated,
                         CYAML_ARRAY_LEN(calibrated)),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const polling_fields[] = {
    CYAML_FIELD_UINT_PTR("target_packets", MAYBE, struct rm_file_polling, target_packets),
    CYAML_FIELD_UINT_PTR("longest_wait_ns", MAYBE, struct rm_file_polling, longest_wait_ns),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const setpoints_fields[] = {
    CYAML_FIELD_UINT("period_turns", PLAIN, struct rm_file_setpoints, period_turns),
    CYAML_FIELD_UINT_PTR("phase_turns", MAYBE, struct rm_file_setpoints, phase_turns),
    CYAML_FIELD_STRING_PTR("lead", MAYBE, struct rm_file_setpoints, lead, 1, NAME_MAX_BYTES),
    CYAML_FIELD_UINT_PTR("lost_cycles", MAYBE, struct rm_file_setpoints, lost_cycles),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const number_schema = {CYAML_VALUE_FLOAT(PLAIN, double)};

static cyaml_schema_field_t const conversion_fields[] = {
    CYAML_FIELD_STRING_PTR("unit", TEXT, struct rm_file_conversion, unit, 1, RM_UNIT_BYTES - 1),
    CYAML_FIELD_SEQUENCE("polynomial", CYAML_FLAG_POINTER, struct rm_file_conversion, polynomial, &number_schema, 1,
                         POLYNOMIAL_MAX),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const supply_fields[] = {
    CYAML_FIELD_STRING_PTR("name", TEXT, struct rm_file_supply, name, 1, SUPPLY_NAME_MAX_BYTES),
    CYAML_FIELD_UINT_PTR("count", MAYBE, struct rm_file_supply, count),
    CYAML_FIELD_STRING_PTR("unit", TEXT, struct rm_file_supply, unit, 0, RM_UNIT_BYTES - 1),
    CYAML_FIELD_SEQUENCE("limits", CYAML_FLAG_POINTER, struct rm_file_supply, limits, &number_schema, 2, 2),
    CYAML_FIELD_FLOAT("slew", PLAIN, struct rm_file_supply, slew),
    CYAML_FIELD_FLOAT_PTR("safe", MAYBE, struct rm_file_supply, safe),
    CYAML_FIELD_FLOAT_PTR("safe_slew", MAYBE, struct rm_file_supply, safe_slew),
    CYAML_FIELD_FLOAT_PTR("tolerance", MAYBE, struct rm_file_supply, tolerance),
    CYAML_FIELD_UINT_PTR("settle_cycles", MAYBE, struct rm_file_supply, settle_cycles),
    CYAML_FIELD_MAPPING_PTR("convert", MAYBE, struct rm_file_supply, convert, conversion_fields),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const supply_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_supply, supply_fields)};

static cyaml_schema_field_t const chain_fields[] = {
    CYAML_FIELD_STRING_PTR("name", TEXT, struct rm_file_chain, name, 1, NAME_MAX_BYTES),
    CYAML_FIELD_UINT_PTR("count", MAYBE, struct rm_file_chain, count),
    CYAML_FIELD_UINT("id", PLAIN, struct rm_file_chain, id),
    CYAML_FIELD_STRING_PTR("port", TEXT, struct rm_file_chain, port, 1, NAME_MAX_BYTES),
    CYAML_FIELD_STRING_PTR("address", TEXT, struct rm_file_chain, address, 1, 15),
    CYAML_FIELD_STRING_PTR("mac", MAYBE, struct rm_file_chain, mac, 1, 17),
    CYAML_FIELD_UINT_PTR("udp_port", MAYBE, struct rm_file_chain, udp_port),
    CYAML_FIELD_BOOL_PTR("readback", MAYBE, struct rm_file_chain, readback),
    CYAML_FIELD_SEQUENCE("supplies", CYAML_FLAG_POINTER, struct rm_file_chain, supplies, &supply_schema, 1,
                         RM_CHAIN_SUPPLIES_MAX),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const chain_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_chain, chain_fields)};

static cyaml_schema_value_t const input_schema = {CYAML_VALUE_STRING(TEXT, char, 1, RM_CONFIG_INPUT_BYTES - 1)};
static cyaml_schema_value_t const supply_name_schema = {CYAML_VALUE_STRING(TEXT, char, 1, SUPPLY_NAME_MAX_BYTES)};

static cyaml_schema_field_t const setting_fields[] = {
    CYAML_FIELD_STRING_PTR("name", TEXT, struct rm_file_setting, name, 1, NAME_MAX_BYTES),
    CYAML_FIELD_FLOAT("value", PLAIN, struct rm_file_setting, value),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const setting_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_setting, setting_fields)};

static cyaml_schema_field_t const application_fields[] = {
    CYAML_FIELD_STRING_PTR("name", TEXT, struct rm_file_application, name, 1, NAME_MAX_BYTES),
    CYAML_FIELD_STRING_PTR("code", TEXT, struct rm_file_application, code, 1, RM_CONFIG_PATH_BYTES - 1),
    CYAML_FIELD_STRING_PTR("configuration", MAYBE, struct rm_file_application, configuration, 1,
                           RM_CONFIG_PATH_BYTES - 1),
    CYAML_FIELD_BOOL_PTR("hosted", MAYBE, struct rm_file_application, hosted),
    CYAML_FIELD_UINT_PTR("core", MAYBE, struct rm_file_application, core),
    CYAML_FIELD_STRING_PTR("user", MAYBE, struct rm_file_application, user, 1, NAME_MAX_BYTES),
    CYAML_FIELD_UINT_PTR("period_turns", MAYBE, struct rm_file_application, period_turns),
    CYAML_FIELD_UINT_PTR("deadline_turns", MAYBE, struct rm_file_application, deadline_turns),
    CYAML_FIELD_UINT_PTR("freshness_turns", MAYBE, struct rm_file_application, freshness_turns),
    CYAML_FIELD_UINT_PTR("watchdog_cycles", MAYBE, struct rm_file_application, watchdog_cycles),
    CYAML_FIELD_ENUM_PTR("stop", MAYBE_WORD, struct rm_file_application, stop, stop_actions,
                         CYAML_ARRAY_LEN(stop_actions)),
    CYAML_FIELD_SEQUENCE("inputs", MAYBE, struct rm_file_application, inputs, &input_schema, 1, INPUTS_MAX),
    CYAML_FIELD_SEQUENCE("supplies", CYAML_FLAG_POINTER, struct rm_file_application, supplies, &supply_name_schema, 1,
                         RM_CONFIG_SUPPLIES_MAX),
    CYAML_FIELD_SEQUENCE("settings", MAYBE, struct rm_file_application, settings, &setting_schema, 1, SETTINGS_MAX),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const application_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_file_application, application_fields)};

static cyaml_schema_field_t const fields[] = {
    CYAML_FIELD_STRING_PTR("workspace", TEXT, struct rm_config_file, workspace, 1, NAME_MAX_BYTES),
    CYAML_FIELD_FLOAT_PTR("turn_rate_hz", MAYBE, struct rm_config_file, turn_rate_hz),
    CYAML_FIELD_BOOL_PTR("simulated_time", MAYBE, struct rm_config_file, simulated_time),
    CYAML_FIELD_BOOL_PTR("keep_after_stop", MAYBE, struct rm_config_file, keep_after_stop),
    CYAML_FIELD_SEQUENCE("ports", CYAML_FLAG_POINTER, struct rm_config_file, ports, &port_schema, 1,
                         RM_CONFIG_PORTS_MAX),
    CYAML_FIELD_SEQUENCE("instruments", MAYBE, struct rm_config_file, instruments, &instrument_schema, 1,
                         RM_CONFIG_INSTRUMENTS_MAX),
    CYAML_FIELD_MAPPING_PTR("buffers", MAYBE, struct rm_config_file, buffers, buffers_fields),
    CYAML_FIELD_MAPPING_PTR("turn_window", MAYBE, struct rm_config_file, turn_window, turn_window_fields),
    CYAML_FIELD_SEQUENCE("roles", CYAML_FLAG_POINTER, struct rm_config_file, roles, &role_schema, 1,
                         RM_CONFIG_ROLES_MAX),
    CYAML_FIELD_SEQUENCE("formats", MAYBE, struct rm_config_file, formats, &rm_format_schema, 0,
                         RM_CONFIG_FORMATS_MAX - 1),
    CYAML_FIELD_SEQUENCE("rates", MAYBE, struct rm_config_file, rates, &rate_schema, 1, RM_CONFIG_RATES_MAX),
    CYAML_FIELD_MAPPING_PTR("calibration", MAYBE, struct rm_config_file, calibration, calibration_fields),
    CYAML_FIELD_MAPPING_PTR("polling", MAYBE, struct rm_config_file, polling, polling_fields),
    CYAML_FIELD_MAPPING_PTR("setpoints", MAYBE, struct rm_config_file, setpoints, setpoints_fields),
    CYAML_FIELD_SEQUENCE("chains", MAYBE, struct rm_config_file, chains, &chain_schema, 1, RM_CONFIG_CHAINS_MAX),
    CYAML_FIELD_SEQUENCE("applications", MAYBE, struct rm_config_file, applications, &application_schema, 1,
                         RM_CONFIG_APPLICATIONS_MAX - 1), /* and the operator */
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_config_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct rm_config_file, fields)};

static char const *name_of(cyaml_strval_t const *strings, uint32_t count, int64_t value) {
    for (uint32_t i = 0; i < count; i++)
        if (strings[i].val == value)
            return strings[i].str;
    return "unknown";
}

char const *rm_config_instrument_kind_name(enum rm_instrument_kind kind) {
    return name_of(instrument_kinds, CYAML_ARRAY_LEN(instrument_kinds), kind);
}

char const *rm_config_port_kind_name(enum rm_port_kind kind) {
    return name_of(port_kinds, CYAML_ARRAY_LEN(port_kinds), kind);
}

char const *rm_config_role_name(enum rm_role_kind kind) {
    return name_of(role_kinds, CYAML_ARRAY_LEN(role_kinds), kind);
}
