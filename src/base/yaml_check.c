// SPDX-License-Identifier: Apache-2.0
#include "base/yaml_check.h"

#include "base/nearest.h"
#include "base/yaml_expect.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Where the walk stands. */
struct yaml_place {
    struct rm_yaml_document const *document;
    struct rm_errors *errors;
    char key[RM_YAML_KEY_BYTES]; /* of the value looked at */
};

static enum rm_code check_value(struct yaml_place *place, cyaml_schema_value_t const *schema, yaml_node_t const *node);

/* Notes what is wrong here; the walk goes on, so that all of it is told at once. */
__attribute__((format(printf, 3, 4))) static enum rm_code yaml_refuse(struct yaml_place *place, yaml_mark_t mark,
                                                                      char const *format, ...) {
    struct rm_error error;
    va_list arguments;
    va_start(arguments, format);
    enum rm_code const code = rm_yaml_vfail_at(&error, place->document->path, mark, place->key, format, arguments);
    va_end(arguments);
    rm_errors_add(place->errors, &error);
    return code;
}

/* "did you mean "name"? " or nothing. */
static void suggest_yaml_key(struct rm_nearest const *nearest, char *text, size_t size) {
    if (nearest->name == NULL)
        text[0] = '\0';
    else
        snprintf(text, size, " (did you mean \"%s\"?)", nearest->name);
}

static void guess_enum(cyaml_schema_value_t const *schema, yaml_node_t const *node, char *text, size_t size) {
    text[0] = '\0';
    if (schema->type != CYAML_ENUM || node->type != YAML_SCALAR_NODE)
        return;
    struct rm_nearest nearest = {.wanted = (char const *)node->data.scalar.value};
    for (uint32_t i = 0; i < schema->enumeration.count; i++)
        rm_nearest_offer(&nearest, schema->enumeration.strings[i].str);
    suggest_yaml_key(&nearest, text, size);
}

static enum rm_code refuse_value(struct yaml_place *place, cyaml_schema_value_t const *schema,
                                 yaml_node_t const *node) {
    char quoted[RM_QUOTED_BYTES];
    char expected[RM_YAML_EXPECTED_BYTES];
    char meant[RM_QUOTED_BYTES];
    char zero[RM_YAML_EXPECTED_BYTES] = "";
    guess_enum(schema, node, meant, sizeof meant);
    if (node->type == YAML_SCALAR_NODE)
        rm_yaml_leading_zero(schema, (char const *)node->data.scalar.value, zero);
    return yaml_refuse(place, node->start_mark, "found %s, expected %s%s%s", rm_yaml_quote(node, quoted),
                       rm_yaml_expected(schema, expected), meant, zero);
}

static enum rm_code refuse_key(struct yaml_place *place, cyaml_schema_value_t const *schema, yaml_node_t const *key) {
    char quoted[RM_QUOTED_BYTES];
    char keys[RM_YAML_EXPECTED_BYTES];
    char meant[RM_QUOTED_BYTES] = "";
    if (key->type == YAML_SCALAR_NODE) {
        struct rm_nearest nearest = {.wanted = (char const *)key->data.scalar.value};
        for (cyaml_schema_field_t const *field = schema->mapping.fields; field->key != NULL; field++)
            rm_nearest_offer(&nearest, field->key);
        suggest_yaml_key(&nearest, meant, sizeof meant);
    }
    return yaml_refuse(place, key->start_mark, "unknown key %s, expected one of: %s%s", rm_yaml_quote(key, quoted),
                       rm_yaml_keys(schema, keys), meant);
}

static bool key_is(yaml_node_t const *key, char const *name) {
    return key->type == YAML_SCALAR_NODE && key->data.scalar.length == strlen(name) &&
           memcmp(key->data.scalar.value, name, key->data.scalar.length) == 0;
}

static cyaml_schema_field_t const *yaml_field_of(cyaml_schema_value_t const *schema, yaml_node_t const *key) {
    for (cyaml_schema_field_t const *field = schema->mapping.fields; field->key != NULL; field++)
        if (key_is(key, field->key))
            return field;
    return NULL;
}

/* The earlier pair of the same key, or `until` itself. */
static yaml_node_pair_t const *first_pair(struct yaml_place const *place, yaml_node_t const *mapping, char const *name,
                                          yaml_node_pair_t const *until) {
    for (yaml_node_pair_t const *pair = mapping->data.mapping.pairs.start; pair < until; pair++)
        if (key_is(rm_yaml_document_node(place->document, pair->key), name))
            return pair;
    return until;
}

static enum rm_code check_yaml_pair(struct yaml_place *place, cyaml_schema_value_t const *schema,
                                    yaml_node_t const *mapping, yaml_node_pair_t const *pair) {
    yaml_node_t const *const key = rm_yaml_document_node(place->document, pair->key);
    cyaml_schema_field_t const *const field = yaml_field_of(schema, key);
    if (field == NULL)
        return refuse_key(place, schema, key);
    yaml_node_pair_t const *const first = first_pair(place, mapping, field->key, pair);
    if (first != pair)
        return yaml_refuse(place, key->start_mark, "the key \"%s\" is given twice, first in line %zu", field->key,
                           rm_yaml_document_node(place->document, first->key)->start_mark.line + 1);
    size_t const outer = strlen(place->key);
    snprintf(place->key + outer, sizeof place->key - outer, "%s%s", outer == 0 ? "" : ".", field->key);
    enum rm_code const code = check_value(place, &field->value, rm_yaml_document_node(place->document, pair->value));
    place->key[outer] = '\0';
    return code;
}

static enum rm_code check_mapping(struct yaml_place *place, cyaml_schema_value_t const *schema,
                                  yaml_node_t const *mapping) {
    yaml_node_pair_t const *const top = mapping->data.mapping.pairs.top;
    enum rm_code code = RM_OK;
    for (yaml_node_pair_t const *pair = mapping->data.mapping.pairs.start; pair < top; pair++)
        code = rm_code_first(code, check_yaml_pair(place, schema, mapping, pair));
    for (cyaml_schema_field_t const *field = schema->mapping.fields; field->key != NULL; field++) {
        if ((field->value.flags & CYAML_FLAG_OPTIONAL) != 0 || first_pair(place, mapping, field->key, top) != top)
            continue;
        char expected[RM_YAML_EXPECTED_BYTES];
        code = rm_code_first(code, yaml_refuse(place, mapping->start_mark, "the key \"%s\" is missing, expected %s",
                                               field->key, rm_yaml_expected(&field->value, expected)));
    }
    return code;
}

static enum rm_code check_list(struct yaml_place *place, cyaml_schema_value_t const *schema, yaml_node_t const *list) {
    yaml_node_item_t const *const start = list->data.sequence.items.start;
    size_t const count = (size_t)(list->data.sequence.items.top - start);
    if (count < schema->sequence.min || count > schema->sequence.max) {
        char expected[RM_YAML_EXPECTED_BYTES];
        return yaml_refuse(place, list->start_mark, "found a list of %zu, expected %s", count,
                           rm_yaml_expected(schema, expected));
    }
    size_t const outer = strlen(place->key);
    enum rm_code code = RM_OK;
    for (size_t i = 0; i < count; i++) {
        snprintf(place->key + outer, sizeof place->key - outer, "[%zu]", i);
        code = rm_code_first(
            code, check_value(place, schema->sequence.entry, rm_yaml_document_node(place->document, start[i])));
    }
    place->key[outer] = '\0';
    return code;
}

static bool is_nothing(yaml_node_t const *node) {
    return node->type == YAML_SCALAR_NODE && node->data.scalar.length == 0 &&
           node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static enum rm_code check_scalar(struct yaml_place *place, cyaml_schema_value_t const *schema,
                                 yaml_node_t const *node) {
    if (node->type == YAML_SCALAR_NODE && !is_nothing(node) &&
        rm_yaml_scalar_fits(schema, (char const *)node->data.scalar.value, node->data.scalar.length))
        return RM_OK;
    return refuse_value(place, schema, node);
}

static enum rm_code check_value(struct yaml_place *place, cyaml_schema_value_t const *schema, yaml_node_t const *node) {
    switch (schema->type) {
    case CYAML_MAPPING:
        return node->type == YAML_MAPPING_NODE ? check_mapping(place, schema, node) : refuse_value(place, schema, node);
    case CYAML_SEQUENCE:
        return node->type == YAML_SEQUENCE_NODE ? check_list(place, schema, node) : refuse_value(place, schema, node);
    case CYAML_INT:
    case CYAML_UINT:
    case CYAML_BOOL:
    case CYAML_ENUM:
    case CYAML_FLOAT:
    case CYAML_STRING:
        return check_scalar(place, schema, node);
    default:
        return RM_OK;
    }
}

enum rm_code rm_yaml_check(struct rm_yaml_document const *document, cyaml_schema_value_t const *schema,
                           struct rm_errors *errors) {
    struct yaml_place place = {.document = document, .errors = errors};
    return check_value(&place, schema, document->root);
}
