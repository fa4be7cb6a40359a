// SPDX-License-Identifier: Apache-2.0
/** YAML through libcyaml's typed schemas, with errors that say file, line and column. Cold path only. */
#ifndef RM_BASE_YAML_H
#define RM_BASE_YAML_H

#include <cyaml/cyaml.h>

#include <ringmaster/error.h>

/** Loads `path` by `schema` into freshly allocated `*data`. A wrong key, type or enumeration gives RM_E_CONFIG and
 * "FILE:LINE:COLUMN: what is wrong, what was expected"; an unreadable file RM_E_SYSTEM. */
enum rm_code rm_yaml_load(char const *path, cyaml_schema_value_t const *schema, void **data, struct rm_error *error);

/** Frees what rm_yaml_load gave. NULL is allowed. */
void rm_yaml_free(cyaml_schema_value_t const *schema, void *data);

/** For checks that the schema cannot make: finds the place of `key` ("ports[1].socket"; the nearest existing parent
 * where the key itself is absent) in the file and writes "FILE:LINE:COLUMN: key: text". Returns RM_E_CONFIG. */
enum rm_code rm_yaml_fail(struct rm_error *error, char const *path, char const *key, char const *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
