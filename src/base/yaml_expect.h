// SPDX-License-Identifier: Apache-2.0
/** What a schema wants of a single value: whether a text is such a value, and what to call it. */
#ifndef RM_BASE_YAML_EXPECT_H
#define RM_BASE_YAML_EXPECT_H

#include <stdbool.h>

#include <cyaml/cyaml.h>

enum { RM_YAML_EXPECTED_BYTES = 256 };

/** Writes "a whole number from 0 to 65535", "true or false", "one of: memif, udp", "a list", … */
char const *rm_yaml_expected(cyaml_schema_value_t const *schema, char expected[RM_YAML_EXPECTED_BYTES]);

/** Writes the keys of a mapping, "name, kind, id". */
char const *rm_yaml_keys(cyaml_schema_value_t const *mapping, char keys[RM_YAML_EXPECTED_BYTES]);

/** True when `text` (`bytes` long, and zero-terminated) is what a scalar `schema` wants. */
bool rm_yaml_scalar_fits(cyaml_schema_value_t const *schema, char const *text, size_t bytes);

/** Writes ": 08 has a leading zero, which some read as octal; write 8" where that is what is wrong, else nothing. */
char const *rm_yaml_leading_zero(cyaml_schema_value_t const *schema, char const *text,
                                 char hint[RM_YAML_EXPECTED_BYTES]);

#endif
