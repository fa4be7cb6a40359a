// SPDX-License-Identifier: Apache-2.0
/** Writes what the schemas of our files know of their keys. */
#ifndef RM_TOOLS_KEYS_H
#define RM_TOOLS_KEYS_H

#include <stdio.h>

#include "base/yaml_key.h"

/** One kind of file. */
struct file_kind {
    /** Of its JSON schema, NAME.schema.json. */
    char const *name;
    /** A sentence. */
    char const *help;
    cyaml_schema_value_t const *schema;
};

/** A document in which every key stands, with its default or an example, under a comment. */
void write_yaml(struct file_kind const *kind, FILE *to);

/** Its JSON schema, of draft 7. */
void write_schema(struct file_kind const *kind, FILE *to);

/** The greatest number that an integer of the schema can hold. */
double largest(cyaml_schema_value_t const *value);

#endif
