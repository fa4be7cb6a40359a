// SPDX-License-Identifier: Apache-2.0
#include "config/file.h"

enum {
    PLAIN = CYAML_FLAG_DEFAULT,
    TEXT = CYAML_FLAG_POINTER,
    MAYBE = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
    LINK_MAX_BYTES = 21, /* "255.255.255.255:65535" */
};

static cyaml_schema_value_t const link_schema = {CYAML_VALUE_STRING(TEXT, char, 1, LINK_MAX_BYTES)};

static cyaml_schema_field_t const server_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("name", "What FILE@NAME says, and {server} in the file's texts is.", .example = "a"),
                           TEXT, struct rm_file_server, name, 1, RM_CONFIG_NAME_BYTES - 1),
    CYAML_FIELD_SEQUENCE(RM_KEY("links",
                                "Address and UDP port at which it hears the other server, on one network or two.",
                                .example = "[\"10.40.0.1:4671\"]"),
                         CYAML_FLAG_POINTER, struct rm_file_server, links, &link_schema, 1, RM_CONFIG_LINKS_MAX),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const server_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_file_server, server_fields)};

cyaml_schema_field_t const rm_config_standby_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("key",
                                  "File of the key that both share: 64 hexadecimal digits, for its owner alone; "
                                  "relative to this file's folder.",
                                  .example = "all-keys.key"),
                           TEXT, struct rm_file_standby, key, 1, RM_CONFIG_PATH_BYTES - 1),
    CYAML_FIELD_UINT_PTR(RM_KEY("missed_cycles", "After so many without setpoints the standby asks the chains.",
                                .unit = "cycles", .fallback = "3", RM_RANGE(2, 60)),
                         MAYBE, struct rm_file_standby, missed_cycles),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("begin_s",
                                 "Where no server sends for so long, one begins that knows nothing of the other; the "
                                 "second one waits twice as long.",
                                 .unit = "s", .fallback = "1", .above = true, RM_RANGE(0, 3600)),
                          MAYBE, struct rm_file_standby, begin_s),
    CYAML_FIELD_SEQUENCE(RM_KEY("servers", "The two; the first one has the higher priority."), CYAML_FLAG_POINTER,
                         struct rm_file_standby, servers, &server_schema, RM_CONFIG_SERVERS, RM_CONFIG_SERVERS),
    CYAML_FIELD_END,
};
