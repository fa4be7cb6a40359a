// SPDX-License-Identifier: Apache-2.0
/** YAML through libcyaml's typed schemas, with errors that say file, line and column. Cold path only.
 *
 * The file is first held against the schema (yaml_check.h), so that errors name the place and what was expected:
 *
 *     demo.yaml:5:4: ports[0]: unknown key "sockt", expected one of: name, kind, socket (did you mean "socket"?)
 *     demo.yaml:7:11: ports[0].kind: found "mem", expected one of: memif, af_packet, udp
 *     demo.yaml:9:5: instruments[0]: the key "id" is missing, expected a whole number from 0 to 65535
 *
 * then libcyaml loads it. Numbers are decimal, or hexadecimal after 0x; booleans are `true` and `false`; aliases
 * (`*name`) are allowed. Lines and columns count from 1, list entries from 0.
 */
#ifndef RM_BASE_YAML_H
#define RM_BASE_YAML_H

#include <stdarg.h>

#include <cyaml/cyaml.h>

#include <ringmaster/error.h>

#include "base/errors.h"
#include "base/yaml_key.h"

/** Loads `path` by `schema` (a CYAML_FLAG_POINTER one, its keys made by RM_KEY) into freshly allocated `*data`. What
 * is not in the file gets its default. A wrong key, type, range or enumeration, a missing or repeated key, or no YAML
 * at all gives RM_E_CONFIG and one line of text: "FILE:LINE:COLUMN: what is wrong, what was expected". An unreadable
 * file gives RM_E_SYSTEM. */
enum rm_code rm_yaml_load(char const *path, cyaml_schema_value_t const *schema, void **data, struct rm_error *error);

/** The same, but adds all errors against the schema to `errors`, instead of the first one. */
enum rm_code rm_yaml_load_all(char const *path, cyaml_schema_value_t const *schema, void **data,
                              struct rm_errors *errors);

/** The same of a document that is open (yaml_document.h), and stays so. */
struct rm_yaml_document;
enum rm_code rm_yaml_take(struct rm_yaml_document const *document, cyaml_schema_value_t const *schema, void **data,
                          struct rm_errors *errors);

/** The same of a text that is in no file; errors call it `name`. */
enum rm_code rm_yaml_parse(char const *name, char const *text, cyaml_schema_value_t const *schema, void **data,
                           struct rm_error *error);

/** What an empty file would give: all optional keys with their defaults. */
enum rm_code rm_yaml_load_nothing(cyaml_schema_value_t const *schema, void **data, struct rm_errors *errors);

/** Frees what rm_yaml_load gave. NULL is allowed. */
void rm_yaml_free(cyaml_schema_value_t const *schema, void *data);

/** For checks that the schema cannot make: finds the place of the value of `key` ("ports[1].socket"; the nearest
 * existing parent where the key itself is absent) in the file and writes "FILE:LINE:COLUMN: key: text". Returns
 * RM_E_CONFIG. */
enum rm_code rm_yaml_fail(struct rm_error *error, char const *path, char const *key, char const *format, ...)
    __attribute__((format(printf, 4, 5)));

/** The same with a va_list. */
enum rm_code rm_yaml_vfail(struct rm_error *error, char const *path, char const *key, char const *format,
                           va_list arguments) __attribute__((format(printf, 4, 0)));

#endif
