// SPDX-License-Identifier: Apache-2.0
/** The public list of keys (ringmaster/configuration.h) as a schema of the parser that we have. */
#ifndef RM_SUPPORT_KEY_SCHEMA_H
#define RM_SUPPORT_KEY_SCHEMA_H

#include <cyaml/cyaml.h>

#include <ringmaster/configuration.h>

/** The schema of a mapping with these keys, for rm_yaml_check and for what is written of schemas. free() gives it back,
 * whole. NULL without memory. */
cyaml_schema_value_t *rm_key_schema(struct rm_key const *keys);

/** The words of `true` and `false`. */
extern char const *const rm_key_truths[];

#endif
