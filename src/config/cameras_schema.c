// SPDX-License-Identifier: Apache-2.0
#include "config/cameras_file.h"

#include "config/config.h"

enum {
    PLAIN = CYAML_FLAG_DEFAULT,
    TEXT = CYAML_FLAG_POINTER,
    MAYBE = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
    MAYBE_WORD = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT,
};

static cyaml_strval_t const incomplete_words[] = {
    {"drop", RM_CAMERA_DROP},
    {"deliver", RM_CAMERA_DELIVER},
    {"fill", RM_CAMERA_FILL},
};

static cyaml_schema_field_t const feature_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("name", "Its name in the camera's GenICam description.", .example = "ExposureTime"),
                           TEXT, struct rm_file_feature, name, 1, RM_CONFIG_FEATURE_BYTES - 1),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("value", "What it is set to.", .otherwise = "it is a command, which is executed", .example = "\"2000\""),
        MAYBE, struct rm_file_feature, value, 1, RM_CONFIG_FEATURE_BYTES - 1),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const feature_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_feature, feature_fields)};

static cyaml_schema_field_t const camera_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("name", "Readers find its images by this name.", .example = "cam01"), TEXT,
                           struct rm_file_camera, name, 1, RM_CONFIG_CAMERA_NAME_BYTES - 1),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("port", "Where its packets come in. No role of the server polls that port.", .example = "cameras"), TEXT,
        struct rm_file_camera, port, 1, RM_CONFIG_NAME_BYTES - 1),
    CYAML_FIELD_STRING_PTR(RM_KEY("format",
                                  "gvsp (GigE Vision), fragments (ours), tecmp, cmp, or the name of one of `formats` "
                                  "that has a line of pixels in each datagram.",
                                  .fallback = "gvsp"),
                           MAYBE, struct rm_file_camera, format, 1, RM_FORMAT_NAME_BYTES - 1),
    CYAML_FIELD_UINT_PTR(RM_KEY("udp_port", "Where its datagrams go.", .otherwise = "that of the port",
                                .example = "20001", RM_RANGE(1, 65535)),
                         MAYBE, struct rm_file_camera, udp_port),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("address", "IPv4 address of the camera.", .otherwise = "any", .example = "10.30.0.11"), MAYBE,
        struct rm_file_camera, address, 1, 15),
    CYAML_FIELD_UINT_PTR(RM_KEY("id",
                                "Its number in our format, of a capture device's interface, or of a described line.",
                                .fallback = "0", RM_RANGE(0, 4294967295.0)),
                         MAYBE, struct rm_file_camera, id),
    CYAML_FIELD_UINT_PTR(RM_KEY("device", "Number of the capture device.", .otherwise = "required with tecmp and cmp",
                                .example = "67", RM_RANGE(0, 65535)),
                         MAYBE, struct rm_file_camera, device),
    CYAML_FIELD_UINT_PTR(
        RM_KEY("channel", "Virtual channel of the link behind a capture device.", .fallback = "0", RM_RANGE(0, 15)),
        MAYBE, struct rm_file_camera, channel),
    CYAML_FIELD_UINT_PTR(RM_KEY("first_line", "Number of a frame's first line. ASAM CMP and `formats`.",
                                .fallback = "0", RM_RANGE(0, 65535)),
                         MAYBE, struct rm_file_camera, first_line),
    CYAML_FIELD_STRING_PTR(RM_KEY("pixel_format", "By its name in GenICam's PFNC. Lines need it.",
                                  .otherwise = "the camera tells it", .example = "Mono12p"),
                           MAYBE, struct rm_file_camera, pixel_format, 1, 31),
    CYAML_FIELD_UINT_PTR(RM_KEY("width", "Pixels of a line. Lines need it.", .unit = "pixels",
                                .otherwise = "the camera tells it", .example = "2448", RM_RANGE(1, 1048576)),
                         MAYBE, struct rm_file_camera, width),
    CYAML_FIELD_UINT_PTR(RM_KEY("height", "Lines of a frame. Lines need it.", .unit = "pixels",
                                .otherwise = "the camera tells it", .example = "1024", RM_RANGE(1, 1048576)),
                         MAYBE, struct rm_file_camera, height),
    CYAML_FIELD_UINT_PTR(RM_KEY("frame_bytes", "Memory for one frame.", .unit = "bytes", .fallback = "8388608",
                                RM_RANGE(4096, 4294967295.0)),
                         MAYBE, struct rm_file_camera, frame_bytes),
    CYAML_FIELD_UINT_PTR(RM_KEY("slots", "Frames that are kept.", .fallback = "16", RM_RANGE(8, 64)), MAYBE,
                         struct rm_file_camera, slots),
    CYAML_FIELD_UINT_PTR(RM_KEY("leases", "Most frames that all readers hold at once; below `slots` by 5 at least.",
                                .fallback = "8", RM_RANGE(1, 59)),
                         MAYBE, struct rm_file_camera, leases),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("deadline_ms",
                                 "A frame ends at this age, whole or not: longer than the camera takes to send one.",
                                 .unit = "ms", .fallback = "200", RM_RANGE(0, 60000), .above = true),
                          MAYBE, struct rm_file_camera, deadline_ms),
    CYAML_FIELD_ENUM_PTR(RM_KEY("incomplete",
                                "What becomes of a frame that is not whole: drop, deliver with a map of what is "
                                "missing, or fill from the one before.",
                                .fallback = "deliver"),
                         MAYBE_WORD, struct rm_file_camera, incomplete, incomplete_words,
                         CYAML_ARRAY_LEN(incomplete_words)),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("resend_percent",
               "Most packets of a frame that are asked for again, of all it has; 0: none. GigE Vision.", .unit = "%",
               .fallback = "10", RM_RANGE(0, 100)),
        MAYBE, struct rm_file_camera, resend_percent),
    CYAML_FIELD_BOOL_PTR(RM_KEY("profile", "Publish the beam spot's centroid, size and tilt.", .fallback = "false"),
                         MAYBE, struct rm_file_camera, profile),
    CYAML_FIELD_UINT_PTR(RM_KEY("record_turns", "Frames further apart than this have a record each in its streams.",
                                .unit = "turns", .fallback = "1000", RM_RANGE(1, 4294967295.0)),
                         MAYBE, struct rm_file_camera, record_turns),
    CYAML_FIELD_SEQUENCE(RM_KEY("features",
                                "What `ringmaster cameras control` sets in the camera, in this order. GigE Vision.",
                                .otherwise = "none"),
                         MAYBE, struct rm_file_camera, features, &feature_schema, 1, RM_CONFIG_FEATURES_MAX),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_config_camera_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_camera, camera_fields)};
