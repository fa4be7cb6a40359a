// SPDX-License-Identifier: Apache-2.0
#include "ring_file.h"

#include <string.h>

#include <ringmaster/stream.h>

#include "fragments.h"
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
    CYAML_FIELD_STRING_PTR(RM_KEY("name", "The configuration's port.", .example = "ring"), TEXT,
                           struct rm_ring_file_port, name, 1, RM_PORT_NAME_BYTES - 1),
    CYAML_FIELD_ENUM_PTR(RM_KEY("kind", "What this end of the link is.",
                                .otherwise = "what belongs to the server's kind", .example = "memif"),
                         MAYBE_WORD, struct rm_ring_file_port, kind, port_kinds, CYAML_ARRAY_LEN(port_kinds)),
    CYAML_FIELD_STRING_PTR(RM_KEY("socket", "Control socket of the link.", .otherwise = "the server's",
                                  .example = "/run/ringmaster/all-keys.sock"),
                           MAYBE, struct rm_ring_file_port, socket, 1, RM_PORT_PATH_BYTES - 1),
    CYAML_FIELD_ENUM_PTR(RM_KEY("role", "The server's side makes the socket.",
                                .otherwise = "the one that the server has not", .example = "client"),
                         MAYBE_WORD, struct rm_ring_file_port, role, memif_roles, CYAML_ARRAY_LEN(memif_roles)),
    CYAML_FIELD_STRING_PTR(RM_KEY("interface", "The kernel's name of this end's interface.", .otherwise = "none",
                                  .example = "veth1", .apart = true),
                           MAYBE, struct rm_ring_file_port, interface, 1, 15), /* IFNAMSIZ - 1 */
    CYAML_FIELD_STRING_PTR(RM_KEY("peer", "A udp port's far end.", .otherwise = "the server's address",
                                  .example = "127.0.0.1:4660", .apart = true),
                           MAYBE, struct rm_ring_file_port, peer, 1, ENDPOINT_LONGEST),
    CYAML_FIELD_STRING_PTR(RM_KEY("device", "The card's address at this end.", .otherwise = "none",
                                  .example = "\"0000:03:00.1\"", .apart = true),
                           MAYBE, struct rm_ring_file_port, device, 1, 12),
    CYAML_FIELD_STRING_PTR(RM_KEY("destination", "Where datagrams go.",
                                  .otherwise = "the first multicast group, the server's answer, or 10.20.255.1",
                                  .example = "10.30.0.250"),
                           MAYBE, struct rm_ring_file_port, destination, 1, IPV4_LONGEST),
    CYAML_FIELD_STRING_PTR(RM_KEY("destination_mac", "Where frames go.",
                                  .otherwise = "a multicast group's own, else 02:52:4d:00:00:01",
                                  .example = "\"02:52:4d:00:00:01\""),
                           MAYBE, struct rm_ring_file_port, destination_mac, 1, MAC_LONGEST),
    CYAML_FIELD_UINT_PTR(RM_KEY("vlan", "The tag of its frames.", .otherwise = "the server's", .example = "5",
                                RM_RANGE(1, 4094), .apart = true),
                         MAYBE, struct rm_ring_file_port, vlan),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const port_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_port, port_fields)};

static cyaml_schema_field_t const beam_fields[] = {
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("tune_x", "Horizontal betatron tune, without `machine`.", .fallback = "0.2994", RM_RANGE(0, 0.5)), MAYBE,
        struct rm_ring_file_beam, tune_x),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("tune_y", "Vertical betatron tune, without `machine`.", .fallback = "0.1612", RM_RANGE(0, 0.5)), MAYBE,
        struct rm_ring_file_beam, tune_y),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("synchrotron_tune", "Synchrotron tune, without `machine`.", .fallback = "0.0086", RM_RANGE(0, 0.5)),
        MAYBE, struct rm_ring_file_beam, synchrotron_tune),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("betatron_um", "Amplitude of the betatron motion; with `machine` its RMS.",
                                 .unit = "µm", .fallback = "5", RM_RANGE(0, 1000)),
                          MAYBE, struct rm_ring_file_beam, betatron_um),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("betatron_modulation", "By this share the amplitude varies.", .fallback = "0.2", RM_RANGE(0, 1)), MAYBE,
        struct rm_ring_file_beam, betatron_modulation),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("modulation_hz", "How fast it varies.", .unit = "Hz", .fallback = "1", RM_RANGE(0, 1000)), MAYBE,
        struct rm_ring_file_beam, modulation_hz),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("kick_um", "Amplitude after a kick.", .unit = "µm", .fallback = "0", RM_RANGE(0, 5000)), MAYBE,
        struct rm_ring_file_beam, kick_um),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("kick_every_turns", "From one kick to the next.", .unit = "turns",
                                 .fallback = "1157000", RM_RANGE(RM_MOTION_BLOCK, 1e15)),
                          MAYBE, struct rm_ring_file_beam, kick_every_turns),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("damping_turns", "In which a kick falls to 1/e, without `machine`.", .unit = "turns",
                                 .fallback = "10000", RM_RANGE(1, 1e15)),
                          MAYBE, struct rm_ring_file_beam, damping_turns),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("synchrotron_um", "Amplitude of the synchrotron motion; with `machine` its RMS.",
                                 .unit = "µm", .fallback = "3", RM_RANGE(0, 1000)),
                          MAYBE, struct rm_ring_file_beam, synchrotron_um),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("mains_um", "Amplitude of the mains; 0 with `machine`.", .unit = "µm",
                                 .fallback = "20", RM_RANGE(0, 1000), .late = true, .apart = true),
                          MAYBE, struct rm_ring_file_beam, mains_um),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("drift_um", "Amplitude of the drift; 0 with `machine`.", .unit = "µm", .fallback = "5",
                                 RM_RANGE(0, 1000), .late = true, .apart = true),
                          MAYBE, struct rm_ring_file_beam, drift_um),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("drift_period_s", "Period of the drift.", .unit = "s", .fallback = "60", RM_RANGE(1, 1e6)), MAYBE,
        struct rm_ring_file_beam, drift_period_s),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("orbit_um", "RMS of the static orbit; 0 with `machine`.", .unit = "µm",
                                 .fallback = "100", RM_RANGE(0, 1000), .late = true, .apart = true),
                          MAYBE, struct rm_ring_file_beam, orbit_um),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("noise_um", "RMS noise of a reading.", .unit = "µm", .fallback = "0.5", RM_RANGE(0, 1000)), MAYBE,
        struct rm_ring_file_beam, noise_um),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("sum_counts", "Sum signal.", .unit = "counts", .fallback = "1e6", RM_RANGE(0, 1e9)),
                          MAYBE, struct rm_ring_file_beam, sum_counts),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("loss_counts", "Mean of a loss counter per turn.", .unit = "counts", .fallback = "2", RM_RANGE(0, 5)),
        MAYBE, struct rm_ring_file_beam, loss_counts),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const instrument_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("name", "An instrument of the configuration, or an entry of it.", .example = "bpm01"),
                           TEXT, struct rm_ring_file_instrument, name, 1, RM_VIRTUAL_NAME_BYTES - 1),
    CYAML_FIELD_INT(RM_KEY("turn_error", "By so much its turn counter is ahead.", .unit = "turns", .example = "0"),
                    PLAIN, struct rm_ring_file_instrument, turn_error),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const instrument_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_instrument, instrument_fields)};

static cyaml_schema_field_t const fault_fields[] = {
    CYAML_FIELD_STRING_PTR(
        RM_KEY("instrument", "Whom it befalls: an instrument, an entry, a pattern, or all.", .example = "all"), TEXT,
        struct rm_ring_file_fault, instrument, 1, RM_VIRTUAL_NAME_BYTES - 1),
    CYAML_FIELD_ENUM(RM_KEY("fault", "What happens.", .example = "corrupt"), WORD, struct rm_ring_file_fault, fault,
                     fault_kinds, CYAML_ARRAY_LEN(fault_kinds)),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("probability", "Of each datagram. Either this or `at_turn`.", .otherwise = "0",
                                 .example = "1e-5", RM_RANGE(0, 1)),
                          MAYBE, struct rm_ring_file_fault, probability),
    CYAML_FIELD_UINT_PTR(RM_KEY("at_turn", "At this turn. Either this or `probability`.", .otherwise = "none",
                                .example = "2000000", .apart = true),
                         MAYBE, struct rm_ring_file_fault, at_turn),
    CYAML_FIELD_INT_PTR(RM_KEY("turns", "How late, or how far ahead. Of reorder, late, delay and turn_jump.",
                               .unit = "turns", .otherwise = "of reorder 1, else required", .example = "1",
                               .apart = true),
                        MAYBE, struct rm_ring_file_fault, turns),
    CYAML_FIELD_UINT_PTR(RM_KEY("duration", "For so many datagrams; 0: to the end. Of turn_jump.", .unit = "datagrams",
                                .fallback = "1", .late = true, .apart = true),
                         MAYBE, struct rm_ring_file_fault, duration),
    CYAML_FIELD_BOOL_PTR(
        RM_KEY("unseen", "Without a checksum that tells. Of corrupt.", .fallback = "false", .late = true), MAYBE,
        struct rm_ring_file_fault, unseen),
    CYAML_FIELD_ENUM_PTR(RM_KEY("order", "In which the fragments leave. Of fragment_order.", .fallback = "shuffled",
                                .late = true, .apart = true),
                         MAYBE_WORD, struct rm_ring_file_fault, order, orders, CYAML_ARRAY_LEN(orders)),
    CYAML_FIELD_ENUM_PTR(RM_KEY("network", "Which of two mirrored networks.", .otherwise = "both", .example = "a"),
                         MAYBE_WORD, struct rm_ring_file_fault, network, networks, CYAML_ARRAY_LEN(networks)),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_ring_fault_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_fault, fault_fields)};

static cyaml_schema_field_t const fields[] = {
    CYAML_FIELD_UINT_PTR(
        RM_KEY("first_turn", "Number of the first turn.", .fallback = "1000000", RM_RANGE(0, 4611686018427387904.0)),
        MAYBE, struct rm_ring_file, first_turn),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("max_lag_ms", "Further behind its pace it skips turns; 0: never.", .unit = "ms",
                                 .otherwise = "0, or 5 with `machine`", .example = "5", RM_RANGE(0, 1e6)),
                          MAYBE, struct rm_ring_file, max_lag_ms),
    CYAML_FIELD_UINT_PTR(RM_KEY("answer_turns", "In simulated time: so long it waits for the setpoints of a cycle.",
                                .unit = "turns", .otherwise = "setpoints.phase_turns, or the period", .example = "12",
                                .apart = true),
                         MAYBE, struct rm_ring_file, answer_turns),
    CYAML_FIELD_UINT_PTR(
        RM_KEY("core", "Core that it runs on.", .otherwise = "any", .example = "0", RM_RANGE(0, 2147483647)), MAYBE,
        struct rm_ring_file, core),
    CYAML_FIELD_UINT_PTR(RM_KEY("seed", "The same seed and the same turn give the same data.", .fallback = "1"), MAYBE,
                         struct rm_ring_file, seed),
    CYAML_FIELD_SEQUENCE(
        RM_KEY("ports", "The other ends of the links.", .otherwise = "as the configuration's ports need them"), MAYBE,
        struct rm_ring_file, ports, &port_schema, 1, RM_RING_PORTS_MAX),
    CYAML_FIELD_UINT_PTR(RM_KEY("mtu", "Longest IP packet; longer datagrams are sent in fragments.", .unit = "bytes",
                                .fallback = "1500", RM_RANGE(RM_MTU_LEAST, RM_MTU_MOST)),
                         MAYBE, struct rm_ring_file, mtu),
    CYAML_FIELD_BOOL_PTR(RM_KEY("udp_checksum", "Datagrams have a UDP checksum.", .fallback = "false"), MAYBE,
                         struct rm_ring_file, udp_checksum),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("source_mac", "MAC of all frames.", .otherwise = "the port's own", .example = "\"02:00:0a:14:ff:01\""),
        MAYBE, struct rm_ring_file, source_mac, 1, MAC_LONGEST),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("beam", "How the beam moves.", .fallback = "{}"), MAYBE, struct rm_ring_file, beam,
                            beam_fields),
    CYAML_FIELD_SEQUENCE(RM_KEY("instruments", "Errors of single instruments.", .otherwise = "none"), MAYBE,
                         struct rm_ring_file, instruments, &instrument_schema, 1, RM_CONFIG_INSTRUMENTS_MAX),
    CYAML_FIELD_SEQUENCE(RM_KEY("bpm_errors",
                                "What BPMs' electronics are like; a later entry says it over an earlier one.",
                                .otherwise = "none"),
                         MAYBE, struct rm_ring_file, bpm_errors, &rm_ring_bpm_error_schema, 1, RM_RING_BPM_ERRORS_MAX),
    CYAML_FIELD_SEQUENCE(RM_KEY("faults", "What goes wrong on the way of datagrams.", .otherwise = "none"), MAYBE,
                         struct rm_ring_file, faults, &rm_ring_fault_schema, 0, RM_RING_FAULTS_MAX),
    CYAML_FIELD_SEQUENCE(RM_KEY("chains", "What chains of supplies are like.", .otherwise = "none"), MAYBE,
                         struct rm_ring_file, chains, &rm_ring_chain_schema, 1, RM_CONFIG_CHAINS_MAX),
    CYAML_FIELD_SEQUENCE(
        RM_KEY("supplies", "What supplies are like; a later entry says it over an earlier one.", .otherwise = "none"),
        MAYBE, struct rm_ring_file, supplies, &rm_ring_supply_schema, 1, RM_CONFIG_SUPPLIES_MAX),
    CYAML_FIELD_SEQUENCE(RM_KEY("chain_faults", "What goes wrong in chains.", .otherwise = "none"), MAYBE,
                         struct rm_ring_file, chain_faults, &rm_ring_chain_fault_schema, 0, RM_RING_CHAIN_FAULTS_MAX),
    CYAML_FIELD_SEQUENCE(
        RM_KEY("responses", "What a supply does to a reading, without `machine`.", .otherwise = "none", .apart = true),
        MAYBE, struct rm_ring_file, responses, &rm_ring_response_schema, 0, RM_RING_RESPONSES_MAX),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("machine", "A lattice that lives.", .otherwise = "none"), MAYBE, struct rm_ring_file,
                            machine, rm_ring_machine_fields),
    CYAML_FIELD_SEQUENCE(RM_KEY("events", "What happens at which turn.", .otherwise = "none"), MAYBE,
                         struct rm_ring_file, events, &rm_ring_event_schema, 0, RM_RING_EVENTS_MAX),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_ring_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct rm_ring_file, fields)};

static char const *ring_word_of(cyaml_strval_t const *words, size_t count, int64_t value) {
    for (size_t i = 0; i < count; ++i)
        if (words[i].val == value)
            return words[i].str;
    return "unknown";
}

char const *rm_ring_fault_name(enum rm_fault_kind kind) {
    return ring_word_of(fault_kinds, CYAML_ARRAY_LEN(fault_kinds), kind);
}

bool rm_ring_port_kind_parse(char const *text, enum rm_port_kind *kind) {
    for (size_t i = 0; i < CYAML_ARRAY_LEN(port_kinds); ++i)
        if (strcmp(text, port_kinds[i].str) == 0) {
            *kind = (enum rm_port_kind)port_kinds[i].val;
            return true;
        }
    return false;
}
