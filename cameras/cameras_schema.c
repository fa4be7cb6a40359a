// SPDX-License-Identifier: Apache-2.0
#include "cameras_file.h"

enum {
    PLAIN = CYAML_FLAG_DEFAULT,
    WORD = CYAML_FLAG_STRICT,
    TEXT = CYAML_FLAG_POINTER,
    MAYBE = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
    MAYBE_WORD = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT,
};

static cyaml_strval_t const port_kinds[] = {
    {"memif", RM_PORT_MEMIF}, {"af_packet", RM_PORT_AF_PACKET}, {"udp", RM_PORT_UDP}, {"af_xdp", RM_PORT_AF_XDP},
    {"raw", RM_PORT_RAW},     {"null", RM_PORT_NULL},
};
static cyaml_strval_t const patterns[] = {
    {"ramp", RM_CAMERA_RAMP},       {"bars", RM_CAMERA_BARS},   {"checker", RM_CAMERA_CHECKER},
    {"counter", RM_CAMERA_COUNTER}, {"noise", RM_CAMERA_NOISE}, {"spot", RM_CAMERA_SPOT},
};
static cyaml_strval_t const paces[] = {{"spread", RM_CAMERA_SPREAD}, {"burst", RM_CAMERA_BURST}};
static cyaml_strval_t const fault_kinds[] = {
    {"lose", RM_CAMERA_FAULT_LOSE},
    {"duplicate", RM_CAMERA_FAULT_DUPLICATE},
    {"reorder", RM_CAMERA_FAULT_REORDER},
    {"delay", RM_CAMERA_FAULT_DELAY},
    {"corrupt", RM_CAMERA_FAULT_CORRUPT},
    {"no_leader", RM_CAMERA_FAULT_NO_LEADER},
    {"no_trailer", RM_CAMERA_FAULT_NO_TRAILER},
    {"false_size", RM_CAMERA_FAULT_FALSE_SIZE},
    {"beyond", RM_CAMERA_FAULT_BEYOND},
    {"geometry", RM_CAMERA_FAULT_GEOMETRY},
    {"restart", RM_CAMERA_FAULT_RESTART},
    {"jumbo", RM_CAMERA_FAULT_JUMBO},
};

static cyaml_schema_field_t const port_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("name", "The configuration's port.", .example = "cameras"), TEXT,
                           struct rm_virtual_file_port, name, 1, RM_PORT_NAME_BYTES - 1),
    CYAML_FIELD_ENUM_PTR(RM_KEY("kind", "What this end of the link is.",
                                .otherwise = "what belongs to the kind at the other end", .example = "raw"),
                         MAYBE_WORD, struct rm_virtual_file_port, kind, port_kinds, CYAML_ARRAY_LEN(port_kinds)),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("interface", "The kernel's name of this end's interface.", .otherwise = "none", .example = "veth1"),
        MAYBE, struct rm_virtual_file_port, interface, 1, 15), /* IFNAMSIZ - 1 */
    CYAML_FIELD_STRING_PTR(RM_KEY("destination", "Where datagrams go.",
                                  .otherwise = "the port's first multicast group, its address, or 10.30.0.1",
                                  .example = "10.30.0.1"),
                           MAYBE, struct rm_virtual_file_port, destination, 1, 15),
    CYAML_FIELD_STRING_PTR(RM_KEY("destination_mac", "Where frames go.",
                                  .otherwise = "a multicast group's own, else 02:52:4d:00:00:01",
                                  .example = "\"02:52:4d:00:00:01\""),
                           MAYBE, struct rm_virtual_file_port, destination_mac, 1, 17),
    CYAML_FIELD_STRING_PTR(RM_KEY("source_mac", "Where frames come from.", .otherwise = "02:52:4d:00:00:02",
                                  .example = "\"02:52:4d:00:00:02\""),
                           MAYBE, struct rm_virtual_file_port, source_mac, 1, 17),
    CYAML_FIELD_END,
};

#define SPOT(word, text, ...)                                                                                          \
    CYAML_FIELD_FLOAT_PTR(RM_KEY(#word, text, __VA_ARGS__), MAYBE, struct rm_virtual_file_spot, word)

static cyaml_schema_field_t const spot_fields[] = {
    SPOT(centre_x, "Of the centroid at rest.", .unit = "pixels", .otherwise = "the middle", .example = "1024",
         RM_RANGE(-1e6, 1e6)),
    SPOT(centre_y, "Of the centroid at rest.", .unit = "pixels", .otherwise = "the middle", .example = "512",
         RM_RANGE(-1e6, 1e6)),
    SPOT(sigma_x, "RMS size along its first axis.", .unit = "pixels", .fallback = "40", RM_RANGE(0.1, 1e4)),
    SPOT(sigma_y, "RMS size along its second axis.", .unit = "pixels", .fallback = "20", RM_RANGE(0.1, 1e4)),
    SPOT(tilt_deg, "Of its first axis, from x towards y.", .unit = "°", .fallback = "0", RM_RANGE(-180, 180)),
    SPOT(peak, "Above the background, as a share of the largest value.", .fallback = "0.8", RM_RANGE(0, 10)),
    SPOT(background, "As a share of the largest value.", .fallback = "0.02", RM_RANGE(0, 1)),
    SPOT(noise, "RMS of the background, as a share of the largest value.", .fallback = "0.002", RM_RANGE(0, 1)),
    SPOT(move_x, "Amplitude of its sine.", .unit = "pixels", .fallback = "0", RM_RANGE(0, 1e4)),
    SPOT(move_y, "Amplitude of its sine.", .unit = "pixels", .fallback = "0", RM_RANGE(0, 1e4)),
    SPOT(move_hz, "Frequency of its sine.", .unit = "Hz", .fallback = "1", RM_RANGE(0, 1e4)),
    CYAML_FIELD_STRING_PTR(RM_KEY("follow", "Stream of the workspace whose positions move it.", .otherwise = "none",
                                  .example = "bpm01/fast"),
                           MAYBE, struct rm_virtual_file_spot, follow, 1, RM_VIRTUAL_STREAM_NAME_BYTES - 1),
    CYAML_FIELD_STRING_PTR(RM_KEY("follow_x", "Lane of that stream which moves it along x.", .fallback = "x1"), MAYBE,
                           struct rm_virtual_file_spot, follow_x, 1, 31),
    CYAML_FIELD_STRING_PTR(RM_KEY("follow_y", "Lane of that stream which moves it along y.", .fallback = "y1"), MAYBE,
                           struct rm_virtual_file_spot, follow_y, 1, 31),
    SPOT(pixels_per_unit, "Pixels that one unit of these lanes is, a nanometre for one.", .fallback = "0.001",
         RM_RANGE(-1e6, 1e6)),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const fault_fields[] = {
    CYAML_FIELD_ENUM(RM_KEY("kind",
                            "What goes wrong: of packets lose, duplicate, reorder, delay, corrupt; of frames the "
                            "others.",
                            .example = "lose"),
                     WORD, struct rm_virtual_file_fault, kind, fault_kinds, CYAML_ARRAY_LEN(fault_kinds)),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("probability", "Of each packet or frame.", .fallback = "0", RM_RANGE(0, 1)), MAYBE,
                          struct rm_virtual_file_fault, probability),
    CYAML_FIELD_UINT_PTR(RM_KEY("every", "Each such packet or frame, instead of a probability.",
                                .unit = "packets or frames", .otherwise = "by probability", .example = "100",
                                RM_RANGE(1, 1e15)),
                         MAYBE, struct rm_virtual_file_fault, every),
    CYAML_FIELD_UINT_PTR(RM_KEY("first", "Frame of the run in which it begins.", .fallback = "0", RM_RANGE(0, 1e15)),
                         MAYBE, struct rm_virtual_file_fault, first),
    CYAML_FIELD_UINT_PTR(RM_KEY("end", "Frame of the run in which it ends.", .otherwise = "it does not end",
                                .example = "1000", RM_RANGE(1, 1e15)),
                         MAYBE, struct rm_virtual_file_fault, end),
    CYAML_FIELD_END,
};
static cyaml_schema_value_t const fault_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_virtual_file_fault, fault_fields)};

static cyaml_schema_field_t const camera_fields[] = {
    CYAML_FIELD_STRING_PTR(
        RM_KEY("name", "The configuration's camera, a pattern such as cam*, or all.", .fallback = "all"), MAYBE,
        struct rm_virtual_file_camera, name, 1, RM_CONFIG_CAMERA_NAME_BYTES - 1),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("rate_hz", "Frames a second; 0: as fast as the link takes them.", .unit = "Hz",
                                 .fallback = "10", RM_RANGE(0, 1e5)),
                          MAYBE, struct rm_virtual_file_camera, rate_hz),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("exposure_us", "How long each frame is exposed, until its first packet goes.",
                                 .unit = "µs", .fallback = "1000", RM_RANGE(0, 1e7)),
                          MAYBE, struct rm_virtual_file_camera, exposure_us),
    CYAML_FIELD_STRING_PTR(RM_KEY("pixel_format", "By its name in GenICam's PFNC.",
                                  .otherwise = "the configuration's, or Mono8", .example = "Mono12p"),
                           MAYBE, struct rm_virtual_file_camera, pixel_format, 1, 31),
    CYAML_FIELD_UINT_PTR(RM_KEY("width", "Pixels of a line.", .unit = "pixels",
                                .otherwise = "the configuration's, or 640", .example = "2448", RM_RANGE(1, 65536)),
                         MAYBE, struct rm_virtual_file_camera, width),
    CYAML_FIELD_UINT_PTR(RM_KEY("height", "Lines of a frame.", .unit = "pixels",
                                .otherwise = "the configuration's, or 480", .example = "1024", RM_RANGE(1, 65536)),
                         MAYBE, struct rm_virtual_file_camera, height),
    CYAML_FIELD_UINT_PTR(
        RM_KEY("padding_x", "Zeros behind each line.", .unit = "bytes", .fallback = "0", RM_RANGE(0, 65535)), MAYBE,
        struct rm_virtual_file_camera, padding_x),
    CYAML_FIELD_UINT_PTR(
        RM_KEY("mtu", "Longest IPv4 packet.", .unit = "bytes", .fallback = "1500", RM_RANGE(576, 9500)), MAYBE,
        struct rm_virtual_file_camera, mtu),
    CYAML_FIELD_ENUM_PTR(RM_KEY("pattern", "What its frames show.", .fallback = "ramp"), MAYBE_WORD,
                         struct rm_virtual_file_camera, pattern, patterns, CYAML_ARRAY_LEN(patterns)),
    CYAML_FIELD_ENUM_PTR(
        RM_KEY("pace", "spread: packets go evenly over the time of a frame; burst: at once.", .fallback = "spread"),
        MAYBE_WORD, struct rm_virtual_file_camera, pace, paces, CYAML_ARRAY_LEN(paces)),
    CYAML_FIELD_BOOL_PTR(RM_KEY("extended_ids", "GigE Vision 2: ids of 64 and 32 bits.", .fallback = "false"), MAYBE,
                         struct rm_virtual_file_camera, extended_ids),
    CYAML_FIELD_BOOL_PTR(RM_KEY("configuration_first",
                                "Of our format: the configuration packet goes before its fragments, not behind.",
                                .fallback = "false"),
                         MAYBE, struct rm_virtual_file_camera, configuration_first),
    CYAML_FIELD_BOOL_PTR(RM_KEY("control",
                                "It is a GigE Vision device: programs find it, set it, and start its stream. Needs "
                                "an address.",
                                .fallback = "false"),
                         MAYBE, struct rm_virtual_file_camera, control),
    CYAML_FIELD_UINT_PTR(RM_KEY("first_number", "Number of its first frame.", .fallback = "1", RM_RANGE(0, 1e18)),
                         MAYBE, struct rm_virtual_file_camera, first_number),
    CYAML_FIELD_STRING_PTR(RM_KEY("poses_as", "Another camera, whose address, UDP port and id it sends with.",
                                  .otherwise = "it is itself", .example = "cam02", .apart = true),
                           MAYBE, struct rm_virtual_file_camera, poses_as, 1, RM_CONFIG_CAMERA_NAME_BYTES - 1),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("spot", "The beam spot, of pattern spot.", .fallback = "{}"), MAYBE,
                            struct rm_virtual_file_camera, spot, spot_fields),
    CYAML_FIELD_SEQUENCE(RM_KEY("faults", "What goes wrong.", .otherwise = "nothing"), MAYBE,
                         struct rm_virtual_file_camera, faults, &fault_schema, 1, RM_VIRTUAL_FAULTS_MAX),
    CYAML_FIELD_END,
};
static cyaml_schema_value_t const camera_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_virtual_file_camera, camera_fields)};
static cyaml_schema_value_t const port_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_virtual_file_port, port_fields)};

static cyaml_schema_field_t const file_fields[] = {
    CYAML_FIELD_UINT_PTR(RM_KEY("seed", "Of all that is random.", .fallback = "1", RM_RANGE(0, 1e18)), MAYBE,
                         struct rm_virtual_file, seed),
    CYAML_FIELD_UINT_PTR(RM_KEY("core", "The CPU that sends.", .otherwise = "any", .example = "1", RM_RANGE(0, 1023)),
                         MAYBE, struct rm_virtual_file, core),
    CYAML_FIELD_SEQUENCE(
        RM_KEY("ports", "The other ends of the links.", .otherwise = "as the configuration's ports need them"), MAYBE,
        struct rm_virtual_file, ports, &port_schema, 1, RM_CONFIG_PORTS_MAX),
    CYAML_FIELD_SEQUENCE(RM_KEY("cameras", "What virtual cameras have; the first entry that names a camera is its own.",
                                .otherwise = "all have the defaults"),
                         MAYBE, struct rm_virtual_file, cameras, &camera_schema, 1, RM_CONFIG_CAMERAS_MAX),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_virtual_cameras_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct rm_virtual_file, file_fields)};
