// SPDX-License-Identifier: Apache-2.0
#include "ring_file.h"

#include <string.h>

#include <ringmaster/stream.h>

#include "ring_config.h"

enum {
    PLAIN = CYAML_FLAG_DEFAULT,
    WORD = CYAML_FLAG_STRICT,
    TEXT = CYAML_FLAG_POINTER,
    MAYBE = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
    MAYBE_WORD = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT,
    IPV4_LONGEST = 15,
    ENDPOINT_LONGEST = IPV4_LONGEST + 6,
    MAC_LONGEST = 17,
};

static cyaml_strval_t const port_kinds[] = {
    {"memif", RM_PORT_MEMIF}, {"af_packet", RM_PORT_AF_PACKET},
    {"udp", RM_PORT_UDP},     {"af_xdp", RM_PORT_AF_XDP},
    {"tap", RM_PORT_TAP},     {"virtio_user", RM_PORT_VIRTIO_USER},
    {"vhost", RM_PORT_VHOST}, {"pci", RM_PORT_PCI},
    {"null", RM_PORT_NULL},
};

static cyaml_strval_t const memif_roles[] = {{"server", RM_MEMIF_SERVER}, {"client", RM_MEMIF_CLIENT}};

static cyaml_strval_t const fault_kinds[] = {
    {"turn_jump", RM_FAULT_TURN_JUMP},
    {"turn_reset", RM_FAULT_TURN_RESET},
    {"drop", RM_FAULT_DROP},
    {"duplicate", RM_FAULT_DUPLICATE},
    {"reorder", RM_FAULT_REORDER},
    {"late", RM_FAULT_LATE},
    {"delay", RM_FAULT_DELAY},
    {"corrupt", RM_FAULT_CORRUPT},
    {"truncated", RM_FAULT_TRUNCATED},
    {"wrong_version", RM_FAULT_WRONG_VERSION},
    {"fragment_order", RM_FAULT_FRAGMENT_ORDER},
    {"fragment_drop", RM_FAULT_FRAGMENT_DROP},
    {"fragment_duplicate", RM_FAULT_FRAGMENT_DUPLICATE},
    {"fragment_overlap", RM_FAULT_FRAGMENT_OVERLAP},
};

static cyaml_strval_t const orders[] = {{"reversed", RM_FRAGMENTS_REVERSED}, {"shuffled", RM_FRAGMENTS_SHUFFLED}};

static cyaml_strval_t const networks[] = {{"a", RM_RING_FILE_NETWORK_A}, {"b", RM_RING_FILE_NETWORK_B}};

static cyaml_schema_field_t const port_fields[] = {
    CYAML_FIELD_STRING_PTR("name", TEXT, struct rm_ring_file_port, name, 1, RM_PORT_NAME_BYTES - 1),
    CYAML_FIELD_ENUM_PTR("kind", MAYBE_WORD, struct rm_ring_file_port, kind, port_kinds, CYAML_ARRAY_LEN(port_kinds)),
    CYAML_FIELD_STRING_PTR("socket", MAYBE, struct rm_ring_file_port, socket, 1, RM_PORT_PATH_BYTES - 1),
    CYAML_FIELD_ENUM_PTR("role", MAYBE_WORD, struct rm_ring_file_port, role, memif_roles, CYAML_ARRAY_LEN(memif_roles)),
    CYAML_FIELD_STRING_PTR("interface", MAYBE, struct rm_ring_file_port, interface, 1, 15), /* IFNAMSIZ - 1 */
    CYAML_FIELD_STRING_PTR("peer", MAYBE, struct rm_ring_file_port, peer, 1, ENDPOINT_LONGEST),
    CYAML_FIELD_STRING_PTR("device", MAYBE, struct rm_ring_file_port, device, 1, 12),
    CYAML_FIELD_STRING_PTR("destination", MAYBE, struct rm_ring_file_port, destination, 1, IPV4_LONGEST),
    CYAML_FIELD_STRING_PTR("destination_mac", MAYBE, struct rm_ring_file_port, destination_mac, 1, MAC_LONGEST),
    CYAML_FIELD_UINT_PTR("vlan", MAYBE, struct rm_ring_file_port, vlan),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const port_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_port, port_fields)};

static cyaml_schema_field_t const beam_fields[] = {
    CYAML_FIELD_FLOAT_PTR("tune_x", MAYBE, struct rm_ring_file_beam, tune_x),
    CYAML_FIELD_FLOAT_PTR("tune_y", MAYBE, struct rm_ring_file_beam, tune_y),
    CYAML_FIELD_FLOAT_PTR("synchrotron_tune", MAYBE, struct rm_ring_file_beam, synchrotron_tune),
    CYAML_FIELD_FLOAT_PTR("betatron_um", MAYBE, struct rm_ring_file_beam, betatron_um),
    CYAML_FIELD_FLOAT_PTR("betatron_modulation", MAYBE, struct rm_ring_file_beam, betatron_modulation),
    CYAML_FIELD_FLOAT_PTR("modulation_hz", MAYBE, struct rm_ring_file_beam, modulation_hz),
    CYAML_FIELD_FLOAT_PTR("kick_um", MAYBE, struct rm_ring_file_beam, kick_um),
    CYAML_FIELD_FLOAT_PTR("kick_every_turns", MAYBE, struct rm_ring_file_beam, kick_every_turns),
    CYAML_FIELD_FLOAT_PTR("damping_turns", MAYBE, struct rm_ring_file_beam, damping_turns),
    CYAML_FIELD_FLOAT_PTR("synchrotron_um", MAYBE, struct rm_ring_file_beam, synchrotron_um),
    CYAML_FIELD_FLOAT_PTR("mains_um", MAYBE, struct rm_ring_file_beam, mains_um),
    CYAML_FIELD_FLOAT_PTR("drift_um", MAYBE, struct rm_ring_file_beam, drift_um),
    CYAML_FIELD_FLOAT_PTR("drift_period_s", MAYBE, struct rm_ring_file_beam, drift_period_s),
    CYAML_FIELD_FLOAT_PTR("orbit_um", MAYBE, struct rm_ring_file_beam, orbit_um),
    CYAML_FIELD_FLOAT_PTR("noise_um", MAYBE, struct rm_ring_file_beam, noise_um),
    CYAML_FIELD_FLOAT_PTR("sum_counts", MAYBE, struct rm_ring_file_beam, sum_counts),
    CYAML_FIELD_FLOAT_PTR("loss_counts", MAYBE, struct rm_ring_file_beam, loss_counts),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const instrument_fields[] = {
    CYAML_FIELD_STRING_PTR("name", TEXT, struct rm_ring_file_instrument, name, 1, RM_VIRTUAL_NAME_BYTES - 1),
    CYAML_FIELD_INT("turn_error", PLAIN, struct rm_ring_file_instrument, turn_error),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const instrument_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_instrument, instrument_fields)};

static cyaml_schema_field_t const fault_fields[] = {
    CYAML_FIELD_STRING_PTR("instrument", TEXT, struct rm_ring_file_fault, instrument, 1, RM_VIRTUAL_NAME_BYTES - 1),
    CYAML_FIELD_ENUM("fault", WORD, struct rm_ring_file_fault, fault, fault_kinds, CYAML_ARRAY_LEN(fault_kinds)),
    CYAML_FIELD_FLOAT_PTR("probability", MAYBE, struct rm_ring_file_fault, probability),
    CYAML_FIELD_UINT_PTR("at_turn", MAYBE, struct rm_ring_file_fault, at_turn),
    CYAML_FIELD_INT_PTR("turns", MAYBE, struct rm_ring_file_fault, turns),
    CYAML_FIELD_UINT_PTR("duration", MAYBE, struct rm_ring_file_fault, duration),
    CYAML_FIELD_BOOL_PTR("unseen", MAYBE, struct rm_ring_file_fault, unseen),
    CYAML_FIELD_ENUM_PTR("order", MAYBE_WORD, struct rm_ring_file_fault, order, orders, CYAML_ARRAY_LEN(orders)),
    CYAML_FIELD_ENUM_PTR("network", MAYBE_WORD, struct rm_ring_file_fault, network, networks,
                         CYAML_ARRAY_LEN(networks)),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const fault_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_fault, fault_fields)};

static cyaml_schema_field_t const fields[] = {
    CYAML_FIELD_UINT_PTR("first_turn", MAYBE, struct rm_ring_file, first_turn),
    CYAML_FIELD_FLOAT_PTR("max_lag_ms", MAYBE, struct rm_ring_file, max_lag_ms),
    CYAML_FIELD_UINT_PTR("answer_turns", MAYBE, struct rm_ring_file, answer_turns),
    CYAML_FIELD_UINT_PTR("core", MAYBE, struct rm_ring_file, core),
    CYAML_FIELD_UINT_PTR("seed", MAYBE, struct rm_ring_file, seed),
    CYAML_FIELD_SEQUENCE("ports", MAYBE, struct rm_ring_file, ports, &port_schema, 1, RM_RING_PORTS_MAX),
    CYAML_FIELD_UINT_PTR("mtu", MAYBE, struct rm_ring_file, mtu),
    CYAML_FIELD_BOOL_PTR("udp_checksum", MAYBE, struct rm_ring_file, udp_checksum),
    CYAML_FIELD_STRING_PTR("source_mac", MAYBE, struct rm_ring_file, source_mac, 1, MAC_LONGEST),
    CYAML_FIELD_MAPPING_PTR("beam", MAYBE, struct rm_ring_file, beam, beam_fields),
    CYAML_FIELD_SEQUENCE("instruments", MAYBE, struct rm_ring_file, instruments, &instrument_schema, 1,
                         RM_CONFIG_INSTRUMENTS_MAX),
    CYAML_FIELD_SEQUENCE("faults", MAYBE, struct rm_ring_file, faults, &fault_schema, 0, RM_RING_FAULTS_MAX),
    CYAML_FIELD_SEQUENCE("chains", MAYBE, struct rm_ring_file, chains, &rm_ring_chain_schema, 1, RM_CONFIG_CHAINS_MAX),
    CYAML_FIELD_SEQUENCE("supplies", MAYBE, struct rm_ring_file, supplies, &rm_ring_supply_schema, 1,
                         RM_CONFIG_SUPPLIES_MAX),
    CYAML_FIELD_SEQUENCE("chain_faults", MAYBE, struct rm_ring_file, chain_faults, &rm_ring_chain_fault_schema, 0,
                         RM_RING_CHAIN_FAULTS_MAX),
    CYAML_FIELD_SEQUENCE("responses", MAYBE, struct rm_ring_file, responses, &rm_ring_response_schema, 0,
                         RM_RING_RESPONSES_MAX),
    CYAML_FIELD_MAPPING_PTR("machine", MAYBE, struct rm_ring_file, machine, rm_ring_machine_fields),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_ring_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct rm_ring_file, fields)};

static char const *name_of(cyaml_strval_t const *words, size_t count, int64_t value) {
    for (size_t i = 0; i < count; ++i)
        if (words[i].val == value)
            return words[i].str;
    return "unknown";
}

char const *rm_ring_fault_name(enum rm_fault_kind kind) {
    return name_of(fault_kinds, CYAML_ARRAY_LEN(fault_kinds), kind);
}

bool rm_ring_port_kind_parse(char const *text, enum rm_port_kind *kind) {
    for (size_t i = 0; i < CYAML_ARRAY_LEN(port_kinds); ++i)
        if (strcmp(text, port_kinds[i].str) == 0) {
            *kind = (enum rm_port_kind)port_kinds[i].val;
            return true;
        }
    return false;
}
