// SPDX-License-Identifier: Apache-2.0
#include "support/key_schema.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/yaml_key.h"

enum { TEXT_BYTES_MOST = 4095, ENTRIES_MOST = 1024 };

char const *const rm_key_truths[] = {"false", "true", NULL};

/** What a schema is made of, one block of memory: the next free one of each. */
struct schema_parts {
    cyaml_schema_value_t *value;
    cyaml_schema_field_t *field;
    struct rm_yaml_key *key;
    cyaml_strval_t *word;
};

/** How many of each. */
struct schema_counts {
    size_t values, fields, keys, words;
};

static bool is_list(struct rm_key const *key) {
    return key->kind == RM_KEY_IS_NUMBERS || key->kind == RM_KEY_IS_TEXTS || key->kind == RM_KEY_IS_MAPPINGS;
}

static char const *const *words_of(struct rm_key const *key) {
    return key->kind == RM_KEY_IS_TRUTH ? rm_key_truths : key->words;
}

static uint32_t count_words(struct rm_key const *key) {
    uint32_t count = 0;
    for (char const *const *word = words_of(key); word != NULL && word[count] != NULL;)
        ++count;
    return count;
}

static void count_parts(struct rm_key const *keys, struct schema_counts *counts) {
    ++counts->fields; /* the end */
    for (; keys->name != NULL; ++keys) {
        ++counts->fields;
        ++counts->keys;
        counts->values += is_list(keys);
        counts->words += count_words(keys);
        if (keys->keys != NULL)
            count_parts(keys->keys, counts);
    }
}

static cyaml_schema_field_t const *make_fields(struct schema_parts *parts, struct rm_key const *keys);

static cyaml_schema_value_t make_enumeration(struct schema_parts *parts, struct rm_key const *key) {
    uint32_t const count = count_words(key);
    cyaml_strval_t *const words = parts->word;
    parts->word += count;
    for (uint32_t w = 0; w < count; ++w)
        words[w] = (cyaml_strval_t){words_of(key)[w], w};
    return (cyaml_schema_value_t){
        .type = CYAML_ENUM, .data_size = sizeof(uint32_t), .enumeration = {.strings = words, .count = count}};
}

static cyaml_schema_value_t make_text(struct rm_key const *key) {
    bool const has_range = key->most > 0;
    return (cyaml_schema_value_t){.type = CYAML_STRING,
                                  .data_size = sizeof(char),
                                  .string = {.min = has_range ? (uint32_t)key->least : 1,
                                             .max = has_range ? (uint32_t)key->most : TEXT_BYTES_MOST}};
}

static cyaml_schema_value_t make_list(struct schema_parts *parts, struct rm_key const *key) {
    bool const has_range = key->most > 0;
    struct rm_key const any_text = {.least = 0};
    cyaml_schema_value_t *const entry = parts->value++;
    if (key->kind == RM_KEY_IS_NUMBERS)
        *entry = (cyaml_schema_value_t){.type = CYAML_FLOAT, .data_size = sizeof(double)};
    else if (key->kind == RM_KEY_IS_TEXTS)
        *entry = make_text(&any_text);
    else
        *entry = (cyaml_schema_value_t){.type = CYAML_MAPPING, .mapping = {.fields = make_fields(parts, key->keys)}};
    return (cyaml_schema_value_t){.type = CYAML_SEQUENCE,
                                  .sequence = {.entry = entry,
                                               .min = (uint32_t)key->least,
                                               .max = has_range ? (uint32_t)key->most : ENTRIES_MOST}};
}

static cyaml_schema_value_t make_value(struct schema_parts *parts, struct rm_key const *key) {
    switch (key->kind) {
    case RM_KEY_IS_NUMBER:
        return (cyaml_schema_value_t){.type = CYAML_FLOAT, .data_size = sizeof(double)};
    case RM_KEY_IS_WHOLE:
        return (cyaml_schema_value_t){.type = CYAML_UINT, .data_size = sizeof(uint32_t)};
    case RM_KEY_IS_TRUTH:
    case RM_KEY_IS_WORD:
        return make_enumeration(parts, key);
    case RM_KEY_IS_TEXT:
        return make_text(key);
    case RM_KEY_IS_MAPPING:
        return (cyaml_schema_value_t){.type = CYAML_MAPPING, .mapping = {.fields = make_fields(parts, key->keys)}};
    default:
        return make_list(parts, key);
    }
}

static void make_key(struct rm_key const *from, struct rm_yaml_key *to) {
    bool const is_number = from->kind == RM_KEY_IS_NUMBER || from->kind == RM_KEY_IS_WHOLE;
    assert(strlen(from->name) < sizeof to->name);
    *to = (struct rm_yaml_key){.help = from->help,
                               .unit = from->unit,
                               .fallback = from->fallback,
                               .otherwise = from->otherwise,
                               .example = from->example,
                               .min = is_number ? from->least : 0,
                               .max = is_number ? from->most : 0,
                               .apart = from->apart,
                               .or_number = from->or_number};
    snprintf(to->name, sizeof to->name, "%s", from->name);
}

/** The fields of a mapping lie behind each other, so all are taken before those of the mappings within. */
static cyaml_schema_field_t const *make_fields(struct schema_parts *parts, struct rm_key const *keys) {
    cyaml_schema_field_t *const fields = parts->field;
    size_t count = 0;
    while (keys[count].name != NULL)
        ++count;
    parts->field += count + 1;
    for (size_t k = 0; k < count; ++k) {
        struct rm_yaml_key *const key = parts->key++;
        make_key(&keys[k], key);
        fields[k].key = key->name;
        fields[k].value = make_value(parts, &keys[k]);
        fields[k].value.flags = keys[k].required ? CYAML_FLAG_POINTER : CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL;
    }
    return fields;
}

cyaml_schema_value_t *rm_key_schema(struct rm_key const *keys) {
    struct schema_counts counts = {.values = 1};
    count_parts(keys, &counts);
    size_t const bytes = counts.values * sizeof(cyaml_schema_value_t) + counts.fields * sizeof(cyaml_schema_field_t) +
                         counts.keys * sizeof(struct rm_yaml_key) + counts.words * sizeof(cyaml_strval_t);
    cyaml_schema_value_t *const root = calloc(1, bytes);
    if (root == NULL)
        return NULL;
    struct schema_parts parts = {.value = root + 1};
    parts.field = (cyaml_schema_field_t *)(root + counts.values);
    parts.key = (struct rm_yaml_key *)(parts.field + counts.fields);
    parts.word = (cyaml_strval_t *)(parts.key + counts.keys);
    *root = (cyaml_schema_value_t){.type = CYAML_MAPPING, .mapping = {.fields = make_fields(&parts, keys)}};
    return root;
}
