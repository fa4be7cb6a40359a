// SPDX-License-Identifier: Apache-2.0
/** Holds a document against a libcyaml schema before libcyaml loads it.
 *
 * Why not leave that to libcyaml: it knows places only roughly, does not name what was expected, and takes 0x1g for 1,
 * "3x" for 3.0 and "maybe" for true. Here every value must be what the schema says, to the last character. */
#ifndef RM_BASE_YAML_CHECK_H
#define RM_BASE_YAML_CHECK_H

#include <cyaml/cyaml.h>

#include "base/errors.h"
#include "base/yaml_document.h"

/** RM_OK, or RM_E_CONFIG and all that is wrong added to `errors`, in the file's order. Knows integers, floats,
 * booleans, enumerations (by name only), strings, mappings and lists; other types of libcyaml pass. */
enum rm_code rm_yaml_check(struct rm_yaml_document const *document, cyaml_schema_value_t const *schema,
                           struct rm_errors *errors);

#endif
