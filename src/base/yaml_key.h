// SPDX-License-Identifier: Apache-2.0
/** What stands beside a key of a schema: its default, its range and what it is for. One source for three readers: the
 * loader takes the default from it, configs/all-keys.yaml and the JSON schemas are written from it.
 *
 *     CYAML_FIELD_FLOAT_PTR(RM_KEY("turn_rate_hz", "Nominal revolution frequency.", .unit = "Hz", .fallback = "1157000",
 *                                  RM_RANGE(0, 100e6), .above = true), MAYBE, struct rm_config_file, turn_rate_hz),
 *
 * Every key of a schema that rm_yaml_load is given is made by RM_KEY.
 */
#ifndef RM_BASE_YAML_KEY_H
#define RM_BASE_YAML_KEY_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include <cyaml/cyaml.h>

enum { RM_YAML_KEY_NAME_BYTES = 24 };

struct rm_yaml_key {
    /** Name of the key. The schema's field points to it, so that the rest of this struct is found from there. */
    char name[RM_YAML_KEY_NAME_BYTES];
    /** What the key is for, in a sentence or two. */
    char const *help;
    char const *unit;
    /** The default as a file would give it, "{}" for a mapping of defaults. NULL: there is none. */
    char const *fallback;
    /** The default in words, where it is no constant: "the format's". */
    char const *otherwise;
    /** The value in all-keys.yaml where there is no default. */
    char const *example;
    /** Range of a number; there is no range where both are 0. */
    double min, max;
    /** The number must be more than `min`, not equal. */
    bool above;
    /** The loader leaves an absent key NULL, because it matters whether the key was written. The reader asks for the
     * default. */
    bool late;
    /** It does not go with the other keys of all-keys.yaml, and is commented out there. */
    bool apart;
    /** A text that may be written as a number, without quotes. */
    bool or_number;
};

/** Use it only outside of functions, where the literal lives as long as the program. */
#define RM_KEY(word, text, ...) (((struct rm_yaml_key const){.name = word, .help = text, ##__VA_ARGS__}).name)
#define RM_RANGE(low, high) .min = (low), .max = (high)

static inline struct rm_yaml_key const *rm_yaml_key_of(cyaml_schema_field_t const *field) {
    return (struct rm_yaml_key const *)(void const *)(field->key - offsetof(struct rm_yaml_key, name));
}

/** The key at a place of a mapping, "chains[1].supplies[0].slew"; numbers of entries may be left out. NULL: none. */
struct rm_yaml_key const *rm_yaml_key_at(cyaml_schema_value_t const *schema, char const *place);

/** The default of the number at a place; 0 where it has none. */
double rm_yaml_default(cyaml_schema_value_t const *schema, char const *place);

/** False where the key has a range and `value` is out of it. */
bool rm_yaml_in_range(struct rm_yaml_key const *key, double value);

/** Sets members of `data`, loaded by `schema`, that are NULL to their defaults. `late`: also those members of its own
 * mapping that the loader leaves out. False: there is no memory; what was set until then is freed with the rest. */
bool rm_yaml_fill(cyaml_schema_value_t const *schema, void *data, bool late);

#endif
