// SPDX-License-Identifier: Apache-2.0
#include "base/yaml_key.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct rm_yaml_key const *rm_yaml_key_at(cyaml_schema_value_t const *schema, char const *place) {
    cyaml_schema_field_t const *found = NULL;
    while (*place != '\0') {
        size_t const bytes = strcspn(place, ".[");
        while (schema->type == CYAML_SEQUENCE)
            schema = schema->sequence.entry;
        if (schema->type != CYAML_MAPPING)
            return NULL;
        found = schema->mapping.fields;
        while (found->key != NULL && (strncmp(found->key, place, bytes) != 0 || found->key[bytes] != '\0'))
            found++;
        if (found->key == NULL)
            return NULL;
        schema = &found->value;
        place += bytes;
        place += *place == '[' ? strcspn(place, "]") + 1 : 0;
        place += *place == '.';
    }
    return found == NULL ? NULL : rm_yaml_key_of(found);
}

double rm_yaml_default(cyaml_schema_value_t const *schema, char const *place) {
    char const *const fallback = rm_yaml_key_at(schema, place)->fallback;
    return fallback == NULL ? 0 : strtod(fallback, NULL);
}

bool rm_yaml_in_range(struct rm_yaml_key const *key, double value) {
    bool const has_range = key->min != 0 || key->max != 0;
    return !has_range || ((key->above ? value > key->min : value >= key->min) && value <= key->max);
}

static void store_whole(cyaml_schema_value_t const *schema, uint64_t value, void *to) {
    assert(schema->data_size <= sizeof value);
    memcpy(to, &value, schema->data_size); /* little-endian */
}

static uint64_t word_value(cyaml_schema_value_t const *schema, char const *word) {
    uint32_t entry = 0;
    while (strcmp(schema->enumeration.strings[entry].str, word) != 0)
        entry++;
    return (uint64_t)schema->enumeration.strings[entry].val;
}

static void store_yaml_value(cyaml_schema_value_t const *schema, char const *text, void *to) {
    switch (schema->type) {
    case CYAML_INT:
    case CYAML_UINT:
        store_whole(schema, schema->type == CYAML_INT ? (uint64_t)strtoll(text, NULL, 0) : strtoull(text, NULL, 0), to);
        break;
    case CYAML_BOOL:
        store_whole(schema, strcmp(text, "true") == 0, to);
        break;
    case CYAML_ENUM:
        store_whole(schema, word_value(schema, text), to);
        break;
    case CYAML_FLOAT:
        assert(schema->data_size == sizeof(double));
        memcpy(to, &(double){strtod(text, NULL)}, sizeof(double));
        break;
    case CYAML_STRING:
        strcpy(to, text);
        break;
    default: /* a mapping: its keys are filled as all others are */
        break;
    }
}

static bool fill_field(cyaml_schema_field_t const *field, void **pointer) {
    char const *const fallback = rm_yaml_key_of(field)->fallback;
    size_t const bytes = field->value.type == CYAML_STRING ? strlen(fallback) + 1 : field->value.data_size;
    *pointer = cyaml_mem(NULL, NULL, bytes);
    if (*pointer == NULL)
        return false;
    memset(*pointer, 0, bytes);
    store_yaml_value(&field->value, fallback, *pointer);
    return true;
}

static bool fill_inside(cyaml_schema_field_t const *field, char *data, char *value) {
    if (field->value.type == CYAML_MAPPING)
        return rm_yaml_fill(&field->value, value, false);
    if (field->value.type != CYAML_SEQUENCE || field->value.sequence.entry->type != CYAML_MAPPING)
        return true;
    uint64_t count = 0;
    memcpy(&count, data + field->count_offset, field->count_size);
    for (uint64_t i = 0; i < count; i++)
        if (!rm_yaml_fill(field->value.sequence.entry, value + i * field->value.data_size, false))
            return false;
    return true;
}

bool rm_yaml_fill(cyaml_schema_value_t const *schema, void *data, bool late) {
    for (cyaml_schema_field_t const *field = schema->mapping.fields; field->key != NULL; field++) {
        struct rm_yaml_key const *const key = rm_yaml_key_of(field);
        char *value = (char *)data + field->data_offset;
        if ((field->value.flags & CYAML_FLAG_POINTER) != 0) {
            void **const pointer = (void **)(void *)value;
            bool const wanted = key->fallback != NULL && (late || !key->late);
            if (*pointer == NULL && wanted && !fill_field(field, pointer))
                return false;
            value = *pointer;
            if (value == NULL)
                continue;
        }
        if (!fill_inside(field, data, value))
            return false;
    }
    return true;
}
