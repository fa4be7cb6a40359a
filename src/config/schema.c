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
    {"generate", RM_ROLE_GENERATE}, {"forward", RM_ROLE_FORWARD},
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
    CYAML_FIELD_STRING_PTR(RM_KEY("name", "What instruments and roles call it.", .example = "ring"), TEXT,
                           struct rm_file_port, name, 1, NAME_MAX_BYTES),
    CYAML_FIELD_ENUM(RM_KEY("kind", "What the port is; each kind has keys of its own.", .example = "memif"), WORD,
                     struct rm_file_port, kind, port_kinds, CYAML_ARRAY_LEN(port_kinds)),
    CYAML_FIELD_STRING_PTR(RM_KEY("socket",
                                  "Control socket of the link, an absolute path. Of memif, vhost and virtio_user.",
                                  .example = "/run/ringmaster/all-keys.sock"),
                           MAYBE, struct rm_file_port, socket, 1, RM_PORT_PATH_BYTES - 1),
    CYAML_FIELD_ENUM_PTR(RM_KEY("role", "The server's side makes the socket, the client's connects to it. Of memif.",
                                .fallback = "server", .late = true),
                         MAYBE_WORD, struct rm_file_port, role, memif_roles, CYAML_ARRAY_LEN(memif_roles)),
    CYAML_FIELD_STRING_PTR(RM_KEY("interface",
                                  "The kernel's name of the interface; tap makes it. Of af_packet, af_xdp and tap.",
                                  .example = "eth1", .apart = true),
                           MAYBE, struct rm_file_port, interface, 1, 15), /* IFNAMSIZ - 1 */
    CYAML_FIELD_STRING_PTR(RM_KEY("address", "IPv4 address and UDP port to listen on; 0.0.0.0 is any address. Of udp.",
                                  .example = "127.0.0.1:4660", .apart = true),
                           MAYBE, struct rm_file_port, address, 1, 21),
    CYAML_FIELD_UINT_PTR(RM_KEY("udp_port", "Destination port of the instruments' datagrams. Of all kinds but udp.",
                                .fallback = "4660", RM_RANGE(1, 65535), .late = true),
                         MAYBE, struct rm_file_port, udp_port),
    CYAML_FIELD_UINT_PTR(RM_KEY("queues", "Receive queues. Of all kinds but udp.", .fallback = "1",
                                RM_RANGE(1, RM_CONFIG_QUEUES_MAX), .late = true),
                         MAYBE, struct rm_file_port, queues),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("file", "The capture that is received once. Of pcap.", .example = "/data/ring.pcap", .apart = true),
        MAYBE, struct rm_file_port, file, 1, RM_PORT_PATH_BYTES - 1),
    CYAML_FIELD_STRING_PTR(RM_KEY("device", "The card's address as `lspci -D` writes it. Of pci.",
                                  .example = "\"0000:03:00.0\"", .apart = true),
                           MAYBE, struct rm_file_port, device, 1, 12),
    CYAML_FIELD_BOOL_PTR(
        RM_KEY("spread",
               "The device has one queue, and software deals its frames out to `queues`. Of all kinds but udp.",
               .fallback = "false", .late = true),
        MAYBE, struct rm_file_port, spread),
    CYAML_FIELD_UINT_PTR(RM_KEY("longest_frame", "Longest Ethernet frame, without its check sum.", .unit = "bytes",
                                .fallback = "1518", RM_RANGE(64, RM_LONGEST_FRAME_MAX), .late = true),
                         MAYBE, struct rm_file_port, longest_frame),
    CYAML_FIELD_UINT_PTR(
        RM_KEY("vlan", "The VLAN that instruments' frames must be tagged with; 0: none. Of all kinds but udp.",
               .otherwise = "the tag does not matter", RM_RANGE(0, 4094), .example = "5", .apart = true),
        MAYBE, struct rm_file_port, vlan),
    CYAML_FIELD_BOOL_PTR(RM_KEY("local_senders",
                                "Senders on this host are among the instruments. Of af_packet and af_xdp.",
                                .fallback = "false", .late = true, .apart = true),
                         MAYBE, struct rm_file_port, local_senders),
    CYAML_FIELD_SEQUENCE(
        RM_KEY("multicast", "Multicast groups to receive.", .otherwise = "none", .example = "[239.1.2.3]"), MAYBE,
        struct rm_file_port, multicast, &group_schema, 1, RM_PORT_GROUPS_MAX),
    CYAML_FIELD_STRING_PTR(RM_KEY("answer",
                                  "The address that the server itself has on the port. Setpoints come from there.",
                                  .otherwise = "none", .example = "10.30.0.250"),
                           MAYBE, struct rm_file_port, answer, 1, 31),
    CYAML_FIELD_STRING_PTR(RM_KEY("kernel_interface",
                                  "Makes a kernel interface of this name, which receives what no instrument sent.",
                                  .otherwise = "none", .example = "rm0", .apart = true),
                           MAYBE, struct rm_file_port, kernel_interface, 1, 15),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_config_port_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_port, port_fields)};

static cyaml_schema_field_t const lane_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("name", "What readers call it.", .example = "x1"), TEXT, struct rm_file_lane, name, 1,
                           RM_LANE_NAME_BYTES - 1),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("unit", "Of the number as it stands in the datagram; \"\" for none.", .example = "nm"), TEXT,
        struct rm_file_lane, unit, 0, RM_UNIT_BYTES - 1),
    CYAML_FIELD_ENUM(RM_KEY("type", "Whole numbers or floating point.", .example = "i32"), WORD, struct rm_file_lane,
                     type, lane_types, CYAML_ARRAY_LEN(lane_types)),
    CYAML_FIELD_ENUM_PTR(RM_KEY("reduction", "What a decimated record holds of its turns.",
                                .otherwise = "that of the kind's lane of this name, else fir", .example = "fir"),
                         MAYBE_WORD, struct rm_file_lane, reduction, reductions, CYAML_ARRAY_LEN(reductions)),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const lane_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_lane, lane_fields)};

static cyaml_schema_field_t const mirror_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("port", "Where the other copy comes in.", .example = "ring2"), TEXT,
                           struct rm_file_mirror, port, 1, NAME_MAX_BYTES),
    CYAML_FIELD_STRING_PTR(RM_KEY("source", "The address that the other copy is sent from.",
                                  .otherwise = "the instrument's own", .example = "10.21.0.1"),
                           MAYBE, struct rm_file_mirror, source, 1, 15),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const instrument_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("name", "First part of its streams' names.", .example = "bpm"), TEXT,
                           struct rm_file_instrument, name, 1, NAME_MAX_BYTES),
    CYAML_FIELD_ENUM(RM_KEY("kind", "As in its datagrams.", .example = "bpm"), WORD, struct rm_file_instrument, kind,
                     instrument_kinds, CYAML_ARRAY_LEN(instrument_kinds)),
    CYAML_FIELD_UINT(RM_KEY("id", "As in its datagrams.", .example = "1"), PLAIN, struct rm_file_instrument, id),
    CYAML_FIELD_STRING_PTR(RM_KEY("port", "Where its datagrams come in.", .example = "ring"), TEXT,
                           struct rm_file_instrument, port, 1, NAME_MAX_BYTES),
    CYAML_FIELD_STRING_PTR(RM_KEY("source", "The IPv4 address that it sends from.", .example = "10.20.0.1"), TEXT,
                           struct rm_file_instrument, source, 1, 15),
    CYAML_FIELD_INT_PTR(RM_KEY("turn_offset", "Added to the turn of its datagrams.", .unit = "turns", .fallback = "0",
                               RM_RANGE(-4611686018427387904.0, 4611686018427387904.0)),
                        MAYBE, struct rm_file_instrument, turn_offset),
    CYAML_FIELD_SEQUENCE(RM_KEY("lanes", "What the values of its datagram are, in their order.",
                                .otherwise = "the format's, or the kind's own"),
                         MAYBE, struct rm_file_instrument, lanes, &lane_schema, 1, RM_LANES),
    CYAML_FIELD_STRING_PTR(RM_KEY("format",
                                  "How its datagrams are read: native, libera_grouping, libera_grouping_counter_first, "
                                  "or an entry of `formats`.",
                                  .fallback = "native"),
                           MAYBE, struct rm_file_instrument, format, 1, 32),
    CYAML_FIELD_UINT_PTR(
        RM_KEY("count", "Makes so many instruments of this entry, numbered from 01 on; their ids count up.",
               .otherwise = "one, without a number", .example = "84", RM_RANGE(1, RM_CONFIG_INSTRUMENTS_MAX)),
        MAYBE, struct rm_file_instrument, count),
    CYAML_FIELD_UINT_PTR(RM_KEY("period_turns", "From one of its records to the next.", .unit = "turns",
                                .otherwise = "the format's", .example = "1", RM_RANGE(1, 65536)),
                         MAYBE, struct rm_file_instrument, period_turns),
    CYAML_FIELD_MAPPING_PTR(
        RM_KEY("mirror", "The other of two networks that it sends every datagram on.", .otherwise = "none"), MAYBE,
        struct rm_file_instrument, mirror, mirror_fields),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const instrument_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_file_instrument, instrument_fields)};

static cyaml_schema_field_t const buffers_fields[] = {
    CYAML_FIELD_UINT_PTR(RM_KEY("turn_records", "Slots of each stream of every turn, 64 bytes each; a power of two.",
                                .unit = "records", .fallback = "1048576", RM_RANGE(16384, 4294967296.0)),
                         MAYBE, struct rm_file_buffers, turn_records),
    CYAML_FIELD_UINT_PTR(RM_KEY("fast_records", "Slots of each stream of a fast rate; a power of two.",
                                .unit = "records", .fallback = "131072", RM_RANGE(1024, 4294967296.0)),
                         MAYBE, struct rm_file_buffers, fast_records),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const turn_window_fields[] = {
    CYAML_FIELD_UINT_PTR(RM_KEY("ahead_turns", "Turns further above the turn clock are refused.", .unit = "turns",
                                .fallback = "2048", RM_RANGE(1, 4096)),
                         MAYBE, struct rm_file_turn_window, ahead_turns),
    CYAML_FIELD_UINT_PTR(RM_KEY("late_turns", "Turns further below a stream's head are refused; a power of two.",
                                .unit = "turns", .fallback = "4096", RM_RANGE(64, 65536)),
                         MAYBE, struct rm_file_turn_window, late_turns),
    CYAML_FIELD_UINT_PTR(
        RM_KEY("silence_turns",
               "At this distance the head of a silent instrument follows the turn clock; `late_turns` at least.",
               .unit = "turns", .fallback = "262144", RM_RANGE(64, 1073741824)),
        MAYBE, struct rm_file_turn_window, silence_turns),
    CYAML_FIELD_UINT_PTR(
        RM_KEY("quorum", "So many instruments must agree before the turn clock is anchored anew; 0: more than half.",
               .unit = "instruments", .fallback = "0", RM_RANGE(0, RM_CONFIG_INSTRUMENTS_MAX)),
        MAYBE, struct rm_file_turn_window, quorum),
    CYAML_FIELD_UINT_PTR(RM_KEY("gap_turns",
                                "So many newer turns a filter waits for a missing one; `late_turns` at most.",
                                .unit = "turns", .fallback = "32", RM_RANGE(1, 65536)),
                         MAYBE, struct rm_file_turn_window, gap_turns),
    CYAML_FIELD_UINT_PTR(RM_KEY("phase_turns", "An instrument further from the turn clock than this is a fault.",
                                .unit = "turns", .fallback = "2048", RM_RANGE(1, 1073741824)),
                         MAYBE, struct rm_file_turn_window, phase_turns),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const queue_name_schema = {CYAML_VALUE_STRING(TEXT, char, 1, QUEUE_NAME_MAX_BYTES)};

static cyaml_schema_field_t const role_fields[] = {
    CYAML_FIELD_ENUM(RM_KEY("role", "What the core does.", .example = "receive"), WORD, struct rm_file_role, role,
                     role_kinds, CYAML_ARRAY_LEN(role_kinds)),
    CYAML_FIELD_UINT(RM_KEY("core", "Number of the CPU core.", .example = "1"), PLAIN, struct rm_file_role, core),
    CYAML_FIELD_SEQUENCE(RM_KEY("ports",
                                "What it polls: ports, or queues PORT/NUMBER. Of receive, spread, "
                                "generate and forward.",
                                .otherwise = "none", .example = "[ring, ring2]"),
                         MAYBE, struct rm_file_role, ports, &queue_name_schema, 1, QUEUES_MAX),
    CYAML_FIELD_SEQUENCE(RM_KEY("first", "What it serves before its other ports: the inputs of a loop. Of receive.",
                                .otherwise = "none", .example = "[ring]"),
                         MAYBE, struct rm_file_role, first, &queue_name_schema, 1, QUEUES_MAX),
    CYAML_FIELD_STRING_PTR(RM_KEY("application", "Which hosted application it steps. Of application.",
                                  .otherwise = "none", .example = "feedback", .apart = true),
                           MAYBE, struct rm_file_role, application, 1, NAME_MAX_BYTES),
    CYAML_FIELD_STRING_PTR(RM_KEY("script",
                                  "Commands that it begins with, relative to this file's folder. Of generate.",
                                  .otherwise = "none", .example = "traffic.pkt", .apart = true),
                           MAYBE, struct rm_file_role, script, 1, RM_CONFIG_PATH_BYTES - 1),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const role_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_role, role_fields)};

static cyaml_schema_field_t const rate_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("name", "The stream is INSTRUMENT/NAME.", .example = "fast"), TEXT,
                           struct rm_file_rate, name, 1, NAME_MAX_BYTES),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("from", "What it is filtered out of: turn, or a rate before this one.", .fallback = "turn"), MAYBE,
        struct rm_file_rate, from, 1, NAME_MAX_BYTES),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("filter", "low_latency, for loops; sharp, for archives and displays.", .example = "sharp"), TEXT,
        struct rm_file_rate, filter, 1, NAME_MAX_BYTES),
    CYAML_FIELD_UINT(RM_KEY("decimation",
                            "Inputs per record: a product of at most four of 2, 3, 4, 5, 6, 8, 10 and 12.",
                            .example = "12", RM_RANGE(2, 67108864)),
                     PLAIN, struct rm_file_rate, decimation),
    CYAML_FIELD_UINT_PTR(RM_KEY("records", "Slots of each stream; a power of two.", .unit = "records",
                                .otherwise = "by the period", .example = "131072", RM_RANGE(1024, 4294967296.0)),
                         MAYBE, struct rm_file_rate, records),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const rate_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_rate, rate_fields)};

static cyaml_schema_field_t const calibration_fields[] = {
    CYAML_FIELD_STRING_PTR(
        RM_KEY("file", "The table of calibration, relative to this file's folder.", .example = "calibration.csv"), TEXT,
        struct rm_file_calibration, file, 1, RM_CONFIG_PATH_BYTES - 1),
    CYAML_FIELD_ENUM_PTR(RM_KEY("apply",
                                "Readers convert raw numbers, or the server converts each record before it stores it.",
                                .fallback = "reading"),
                         MAYBE_WORD, struct rm_file_calibration, apply, calibrated, CYAML_ARRAY_LEN(calibrated)),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const polling_fields[] = {
    CYAML_FIELD_UINT_PTR(RM_KEY("target_packets", "So many shall come with a poll; 0: never wait.", .unit = "packets",
                                .fallback = "4", RM_RANGE(0, 32)),
                         MAYBE, struct rm_file_polling, target_packets),
    CYAML_FIELD_UINT_PTR(RM_KEY("longest_wait_ns", "Never wait longer between two polls.", .unit = "ns",
                                .fallback = "2000", RM_RANGE(0, 1000000)),
                         MAYBE, struct rm_file_polling, longest_wait_ns),
    CYAML_FIELD_BOOL_PTR(RM_KEY("naps",
                                "Server, applications and virtual ring nap while they have nothing to do, and leave "
                                "their cores to others: for tests and laptops.",
                                .fallback = "false"),
                         MAYBE, struct rm_file_polling, naps),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const setpoints_fields[] = {
    CYAML_FIELD_UINT(
        RM_KEY("period_turns", "From one cycle to the next.", .unit = "turns", .example = "12", RM_RANGE(1, 65536)),
        PLAIN, struct rm_file_setpoints, period_turns),
    CYAML_FIELD_UINT_PTR(RM_KEY("phase_turns",
                                "The cycle of turn T goes out at T and so many turns; less than the period.",
                                .unit = "turns", .fallback = "0", RM_RANGE(0, 65535)),
                         MAYBE, struct rm_file_setpoints, phase_turns),
    CYAML_FIELD_STRING_PTR(RM_KEY("lead", "The application whose setpoints send a cycle as soon as they are there.",
                                  .otherwise = "none", .example = "ramp"),
                           MAYBE, struct rm_file_setpoints, lead, 1, NAME_MAX_BYTES),
    CYAML_FIELD_UINT_PTR(RM_KEY("lost_cycles", "A chain that has not answered for so many is lost.", .unit = "cycles",
                                .fallback = "10", RM_RANGE(2, 10000)),
                         MAYBE, struct rm_file_setpoints, lost_cycles),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("terms", "File that keeps the highest term that chains have obeyed, for the server's next life.",
               .otherwise = "none: the chains tell", .example = "/var/lib/ringmaster/all-keys.terms", .apart = true),
        MAYBE, struct rm_file_setpoints, terms, 1, RM_CONFIG_PATH_BYTES - 1),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const number_schema = {CYAML_VALUE_FLOAT(PLAIN, double)};

static cyaml_schema_field_t const conversion_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("unit", "The other unit.", .example = "µrad"), TEXT, struct rm_file_conversion, unit,
                           1, RM_UNIT_BYTES - 1),
    CYAML_FIELD_SEQUENCE(
        RM_KEY("polynomial", "Coefficients c0, c1, c2, c3, monotone between the limits.", .example = "[0, 12.5]"),
        CYAML_FLAG_POINTER, struct rm_file_conversion, polynomial, &number_schema, 1, POLYNOMIAL_MAX),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const supply_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("name",
                                  "Its name; {chain} becomes the chain's number, and with `count` its own follows.",
                                  .example = "\"sr/ps/ch_s{chain}_\""),
                           TEXT, struct rm_file_supply, name, 1, SUPPLY_NAME_MAX_BYTES),
    CYAML_FIELD_UINT_PTR(RM_KEY("count", "So many.", .otherwise = "one, without a number", .example = "4",
                                RM_RANGE(1, RM_CHAIN_SUPPLIES_MAX)),
                         MAYBE, struct rm_file_supply, count),
    CYAML_FIELD_STRING_PTR(RM_KEY("unit", "Of all its numbers.", .example = "A"), TEXT, struct rm_file_supply, unit, 0,
                           RM_UNIT_BYTES - 1),
    CYAML_FIELD_SEQUENCE(RM_KEY("limits", "No setpoint ever leaves them, in its unit.", .example = "[-10, 10]"),
                         CYAML_FLAG_POINTER, struct rm_file_supply, limits, &number_schema, 2, 2),
    CYAML_FIELD_FLOAT(RM_KEY("slew", "No setpoint ever moves faster, in its unit per second.", .example = "2000",
                             .above = true, RM_RANGE(0, INFINITY)),
                      PLAIN, struct rm_file_supply, slew),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("safe",
                                 "Where it goes when its application has stopped with `stop: ramp`, in its unit.",
                                 .otherwise = "0 where the limits allow it, else required", .example = "0"),
                          MAYBE, struct rm_file_supply, safe),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("safe_slew", "How fast it goes there, in its unit per second; `slew` at most.",
                                 .otherwise = "its slew", .example = "5", .above = true, RM_RANGE(0, INFINITY)),
                          MAYBE, struct rm_file_supply, safe_slew),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("tolerance", "By so much the answer may differ from the setpoint, in its unit.",
                                 .otherwise = "1 % of the range", .example = "0.2", .above = true,
                                 RM_RANGE(0, INFINITY)),
                          MAYBE, struct rm_file_supply, tolerance),
    CYAML_FIELD_UINT_PTR(RM_KEY("settle_cycles",
                                "For so long the answer may differ by more, after the setpoint last moved.",
                                .unit = "cycles", .fallback = "100", RM_RANGE(0, 1000000)),
                         MAYBE, struct rm_file_supply, settle_cycles),
    CYAML_FIELD_MAPPING_PTR(
        RM_KEY("convert", "The same in another unit: c0 + c1·x + c2·x² + c3·x³.", .otherwise = "none"), MAYBE,
        struct rm_file_supply, convert, conversion_fields),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const supply_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_supply, supply_fields)};

static cyaml_schema_field_t const chain_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("name", "Its name, with `count` the first part of it.", .example = "c"), TEXT,
                           struct rm_file_chain, name, 1, NAME_MAX_BYTES),
    CYAML_FIELD_UINT_PTR(RM_KEY("count", "So many chains; id, address and mac count up.",
                                .otherwise = "one, without a number", .example = "2",
                                RM_RANGE(1, RM_CONFIG_CHAINS_MAX)),
                         MAYBE, struct rm_file_chain, count),
    CYAML_FIELD_UINT(RM_KEY("id", "Of the chain, as in its datagrams.", .example = "1", RM_RANGE(1, 16383)), PLAIN,
                     struct rm_file_chain, id),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("port", "Setpoints go out there, and answers come in; a port with `answer`.", .example = "ring"), TEXT,
        struct rm_file_chain, port, 1, NAME_MAX_BYTES),
    CYAML_FIELD_STRING_PTR(RM_KEY("address", "IPv4 address of the chain's controller.", .example = "10.30.0.1"), TEXT,
                           struct rm_file_chain, address, 1, 15),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("mac", "Where its frames go.", .otherwise = "broadcast", .example = "\"02:00:0a:1e:00:01\""), MAYBE,
        struct rm_file_chain, mac, 1, 17),
    CYAML_FIELD_UINT_PTR(RM_KEY("udp_port", "Where the controller listens.", .fallback = "4662", RM_RANGE(1, 65535)),
                         MAYBE, struct rm_file_chain, udp_port),
    CYAML_FIELD_BOOL_PTR(RM_KEY("readback", "false: it does not answer, and is taken to obey.", .fallback = "true"),
                         MAYBE, struct rm_file_chain, readback),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("timeout_us", "The chain's own time-out: without setpoints for so long it stops; 0: never.",
               .unit = "µs", .otherwise = "not known; required with standby", .example = "200", RM_RANGE(0, 1e9)),
        MAYBE, struct rm_file_chain, timeout_us),
    CYAML_FIELD_SEQUENCE(RM_KEY("supplies", "Its power supplies, in the order of the chain."), CYAML_FLAG_POINTER,
                         struct rm_file_chain, supplies, &supply_schema, 1, RM_CHAIN_SUPPLIES_MAX),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const chain_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_chain, chain_fields)};

static cyaml_schema_value_t const input_schema = {CYAML_VALUE_STRING(TEXT, char, 1, RM_CONFIG_INPUT_BYTES - 1)};
static cyaml_schema_value_t const supply_name_schema = {CYAML_VALUE_STRING(TEXT, char, 1, SUPPLY_NAME_MAX_BYTES)};

static cyaml_schema_field_t const setting_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("name", "Its name.", .example = "rate"), TEXT, struct rm_file_setting, name, 1,
                           NAME_MAX_BYTES),
    CYAML_FIELD_FLOAT(RM_KEY("value", "Its first value.", .example = "2"), PLAIN, struct rm_file_setting, value),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const setting_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_setting, setting_fields)};

static cyaml_schema_field_t const application_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("name", "Its objects in shared memory begin with it.", .example = "ramp"), TEXT,
                           struct rm_file_application, name, 1, NAME_MAX_BYTES),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("code", "Its shared object: a path, or a name beside Ringmaster's programs.", .example = "ramp"), TEXT,
        struct rm_file_application, code, 1, RM_CONFIG_PATH_BYTES - 1),
    CYAML_FIELD_STRING_PTR(RM_KEY("configuration", "Its own file, relative to this file's folder.", .otherwise = "none",
                                  .example = "all-keys-feedback.yaml", .apart = true),
                           MAYBE, struct rm_file_application, configuration, 1, RM_CONFIG_PATH_BYTES - 1),
    CYAML_FIELD_BOOL_PTR(RM_KEY("hosted",
                                "The server itself runs it, in a role `application`; else it is a process of its own.",
                                .fallback = "false"),
                         MAYBE, struct rm_file_application, hosted),
    CYAML_FIELD_UINT_PTR(
        RM_KEY("core", "Core of its own process.", .otherwise = "any", .example = "1", RM_RANGE(0, 1023)), MAYBE,
        struct rm_file_application, core),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("user", "User of its own process.", .otherwise = "the server's", .example = "operator"), MAYBE,
        struct rm_file_application, user, 1, NAME_MAX_BYTES),
    CYAML_FIELD_UINT_PTR(RM_KEY("period_turns", "From one step to the next; a multiple of `setpoints.period_turns`.",
                                .unit = "turns", .otherwise = "setpoints.period_turns", .example = "12",
                                RM_RANGE(1, 67108864)),
                         MAYBE, struct rm_file_application, period_turns),
    CYAML_FIELD_UINT_PTR(RM_KEY("deadline_turns", "So long it waits for inputs that are missing.", .unit = "turns",
                                .otherwise = "2 periods", .example = "24", RM_RANGE(1, 67108864)),
                         MAYBE, struct rm_file_application, deadline_turns),
    CYAML_FIELD_UINT_PTR(
        RM_KEY("freshness_turns", "Its setpoints are refused when the turn that they answer lies further back.",
               .unit = "turns", .otherwise = "20 periods", .example = "240", RM_RANGE(1, 4294967295.0)),
        MAYBE, struct rm_file_application, freshness_turns),
    CYAML_FIELD_UINT_PTR(RM_KEY("watchdog_cycles", "After so many of its steps without good setpoints it has stopped.",
                                .unit = "cycles", .fallback = "10", RM_RANGE(1, 1000000)),
                         MAYBE, struct rm_file_application, watchdog_cycles),
    CYAML_FIELD_ENUM_PTR(
        RM_KEY("stop", "What its supplies then do: stay, or go to their safe values.", .fallback = "hold"), MAYBE_WORD,
        struct rm_file_application, stop, stop_actions, CYAML_ARRAY_LEN(stop_actions)),
    CYAML_FIELD_SEQUENCE(RM_KEY("inputs", "Streams that it is fed with, in this order: names or patterns.",
                                .otherwise = "none", .example = "[\"bpm*/fast\"]"),
                         MAYBE, struct rm_file_application, inputs, &input_schema, 1, INPUTS_MAX),
    CYAML_FIELD_SEQUENCE(
        RM_KEY("supplies", "Supplies that it sets, in this order: names or patterns.", .example = "[\"sr/ps/*\"]"),
        CYAML_FLAG_POINTER, struct rm_file_application, supplies, &supply_name_schema, 0, RM_CONFIG_SUPPLIES_MAX),
    CYAML_FIELD_SEQUENCE(RM_KEY("settings", "First values of its settings.", .otherwise = "the code's own"), MAYBE,
                         struct rm_file_application, settings, &setting_schema, 1, SETTINGS_MAX),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_config_application_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_file_application, application_fields)};

static cyaml_schema_field_t const fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("workspace", "Readers attach by this name.", .example = "all-keys"), TEXT,
                           struct rm_config_file, workspace, 1, NAME_MAX_BYTES),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("turn_rate_hz", "Nominal revolution frequency.", .unit = "Hz", .fallback = "1157000",
                                 RM_RANGE(0, 100e6), .above = true),
                          MAYBE, struct rm_config_file, turn_rate_hz),
    CYAML_FIELD_BOOL_PTR(RM_KEY("simulated_time", "A virtual ring's time waits for the loop.", .fallback = "false"),
                         MAYBE, struct rm_config_file, simulated_time),
    CYAML_FIELD_BOOL_PTR(
        RM_KEY("keep_after_stop", "A stop leaves the workspace in shared memory.", .fallback = "false"), MAYBE,
        struct rm_config_file, keep_after_stop),
    CYAML_FIELD_BOOL_PTR(RM_KEY("dpdk_telemetry", "DPDK's telemetry socket is there, with the commands /ringmaster/….",
                                .fallback = "false"),
                         MAYBE, struct rm_config_file, dpdk_telemetry),
    CYAML_FIELD_SEQUENCE(RM_KEY("ports", "Where datagrams come in.",
                                .example = "{name: ring2, kind: memif, socket: /run/ringmaster/all-keys-2.sock}"),
                         CYAML_FLAG_POINTER, struct rm_config_file, ports, &rm_config_port_schema, 1,
                         RM_CONFIG_PORTS_MAX),
    CYAML_FIELD_SEQUENCE(
        RM_KEY("instruments", "Who sends them.",
               .otherwise = "none, if there are chains that answer, or roles that generate or forward"),
        MAYBE, struct rm_config_file, instruments, &instrument_schema, 1, RM_CONFIG_INSTRUMENTS_MAX),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("buffers", "How much of the past is kept.", .fallback = "{}"), MAYBE,
                            struct rm_config_file, buffers, buffers_fields),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("turn_window", "Which turns are accepted.", .fallback = "{}"), MAYBE,
                            struct rm_config_file, turn_window, turn_window_fields),
    CYAML_FIELD_SEQUENCE(RM_KEY("roles", "Which core does what.", .otherwise = "none: a file for cameras alone",
                                .example = "{role: transmit, core: 1}"),
                         MAYBE, struct rm_config_file, roles, &role_schema, 1, RM_CONFIG_ROLES_MAX),
    CYAML_FIELD_STRING_PTR(RM_KEY("spare_cores",
                                  "Cores to which roles may move while the server runs, besides those that have some.",
                                  .otherwise = "none", .example = "4-7", .apart = true, .or_number = true),
                           MAYBE, struct rm_config_file, spare_cores, 1, 255),
    CYAML_FIELD_SEQUENCE(RM_KEY("formats", "Datagrams other than the native one.", .otherwise = "none"), MAYBE,
                         struct rm_config_file, formats, &rm_format_schema, 0, RM_CONFIG_FORMATS_MAX - 1),
    CYAML_FIELD_SEQUENCE(RM_KEY("rates", "What is filtered out of the turns.",
                                .otherwise = "low_latency and fast by 12, loop by 120, slow by 120000"),
                         MAYBE, struct rm_config_file, rates, &rate_schema, 1, RM_CONFIG_RATES_MAX),
    CYAML_FIELD_MAPPING_PTR(
        RM_KEY("calibration", "From raw numbers to physical units.", .otherwise = "none", .apart = true), MAYBE,
        struct rm_config_file, calibration, calibration_fields),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("polling", "How long a core waits between two polls.", .fallback = "{}"), MAYBE,
                            struct rm_config_file, polling, polling_fields),
    CYAML_FIELD_MAPPING_PTR(
        RM_KEY("setpoints", "How often power supplies are set.", .otherwise = "required with chains"), MAYBE,
        struct rm_config_file, setpoints, setpoints_fields),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("standby", "Two servers, of which one sends setpoints and the other takes over.",
                                   .otherwise = "none: one server", .apart = true),
                            MAYBE, struct rm_config_file, standby, rm_config_standby_fields),
    CYAML_FIELD_SEQUENCE(RM_KEY("chains", "The power supplies, daisy chain by daisy chain.", .otherwise = "none"),
                         MAYBE, struct rm_config_file, chains, &chain_schema, 1, RM_CONFIG_CHAINS_MAX),
    CYAML_FIELD_SEQUENCE(RM_KEY("applications", "The programs that set some of them.", .otherwise = "none"), MAYBE,
                         struct rm_config_file, applications, &rm_config_application_schema, 1,
                         RM_CONFIG_APPLICATIONS_MAX - 1), /* and the operator */
    CYAML_FIELD_MAPPING_PTR(
        RM_KEY("router", "What roles forward do.", .otherwise = "required with a role forward", .apart = true), MAYBE,
        struct rm_config_file, router, rm_config_router_fields),
    CYAML_FIELD_SEQUENCE(RM_KEY("cameras", "Who sends images. `ringmaster cameras` receives them, the server does not.",
                                .otherwise = "none", .apart = true),
                         MAYBE, struct rm_config_file, cameras, &rm_config_camera_schema, 1, RM_CONFIG_CAMERAS_MAX),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_config_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct rm_config_file, fields)};

static char const *config_word_of(cyaml_strval_t const *strings, uint32_t count, int64_t value) {
    for (uint32_t i = 0; i < count; i++)
        if (strings[i].val == value)
            return strings[i].str;
    return "unknown";
}

char const *rm_config_instrument_kind_name(enum rm_instrument_kind kind) {
    return config_word_of(instrument_kinds, CYAML_ARRAY_LEN(instrument_kinds), kind);
}

char const *rm_config_port_kind_name(enum rm_port_kind kind) {
    return config_word_of(port_kinds, CYAML_ARRAY_LEN(port_kinds), kind);
}

char const *rm_config_role_name(enum rm_role_kind kind) {
    return config_word_of(role_kinds, CYAML_ARRAY_LEN(role_kinds), kind);
}
