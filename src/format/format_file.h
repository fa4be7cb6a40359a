// SPDX-License-Identifier: Apache-2.0
/** One entry of `formats` as it is written, loaded by libcyaml; what may be absent is a pointer. docs/instruments.md
 * describes the keys. The server's configuration and the virtual ring's both have such a list. */
#ifndef RM_FORMAT_FORMAT_FILE_H
#define RM_FORMAT_FORMAT_FILE_H

#include <stdint.h>

#include "base/yaml.h"
#include "wire/layout.h"

/* A field of a datagram. */
struct rm_file_field {
    uint32_t at;
    enum rm_field_type type;
    /* After loading; NULL: 0. */
    uint32_t *shift;
    /* NULL: all that are left. */
    uint32_t *bits;

    enum rm_field_scope *in;
};

struct rm_file_constant {
    uint32_t at;
    enum rm_field_type type;
    uint64_t value;
};

struct rm_file_repeat {
    /* NULL: as many as the datagram holds. */
    uint32_t *count;

    uint32_t at;
    uint32_t stride;
};

struct rm_file_layout_lane {
    char *name;
    char *unit;
    uint32_t at;
    enum rm_field_type type;
};

struct rm_file_layout {
    enum rm_byte_order *byte_order;
    uint32_t *bytes;
    struct rm_file_constant *constants;
    uint32_t constants_count;
    struct rm_file_repeat *instruments;
    struct rm_file_repeat *turns;
    struct rm_file_field *id;
    struct rm_file_field counter;
    struct rm_file_field *status;
    struct rm_file_layout_lane *lanes;
    uint32_t lanes_count;
};

struct rm_file_format {
    char *name;
    char *preset;
    uint16_t *udp_port;
    uint32_t *period_turns;
    struct rm_file_layout *layout;
};

/** The schema of a struct rm_file_format. */
extern cyaml_schema_value_t const rm_format_schema;

#endif
