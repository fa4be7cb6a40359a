// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "cameras_resolve.h"

enum { PLACE_BYTES = 96 };

/** A mapping of the overlay, and where it stands; "" is the whole. */
struct ranged_mapping {
    cyaml_schema_field_t const *fields;
    char const *data;
    char const *place;
};

static enum rm_code check_mapping(struct rm_cameras_resolve const *resolve, struct ranged_mapping const *mapping);

/** A whole or a broken number. */
static double number_read(cyaml_schema_value_t const *schema, void const *data) {
    double number = 0;
    uint64_t whole = 0;
    if (schema->type == CYAML_FLOAT)
        memcpy(&number, data, sizeof number);
    else
        memcpy(&whole, data, schema->data_size); /* little-endian */
    return schema->type == CYAML_FLOAT ? number : (double)whole;
}

static enum rm_code check_number(struct rm_cameras_resolve const *resolve, struct ranged_mapping const *mapping,
                                 cyaml_schema_field_t const *field, void const *data) {
    struct rm_yaml_key const *const key = rm_yaml_key_of(field);
    double const number = number_read(&field->value, data);
    if (rm_yaml_in_range(key, number))
        return RM_OK;
    return rm_cameras_fail(resolve, mapping->place, field->key, "found %g, expected %g to %g", number, key->min,
                           key->max);
}

static enum rm_code check_list(struct rm_cameras_resolve const *resolve, struct ranged_mapping const *mapping,
                               cyaml_schema_field_t const *field, char const *data) {
    uint32_t count = 0;
    memcpy(&count, mapping->data + field->count_offset, sizeof count);
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < count; ++i) {
        char place[PLACE_BYTES];
        snprintf(place, sizeof place, "%s%s%s[%u]", mapping->place, mapping->place[0] == '\0' ? "" : ".", field->key,
                 i);
        cyaml_schema_value_t const *const entry = field->value.sequence.entry;
        code =
            rm_code_first(code, check_mapping(resolve, &(struct ranged_mapping){entry->mapping.fields,
                                                                                data + i * entry->data_size, place}));
    }
    return code;
}

static enum rm_code check_field(struct rm_cameras_resolve const *resolve, struct ranged_mapping const *mapping,
                                cyaml_schema_field_t const *field) {
    char const *data = mapping->data + field->data_offset;
    if ((field->value.flags & CYAML_FLAG_POINTER) != 0) {
        char const *pointer;
        memcpy(&pointer, data, sizeof pointer);
        data = pointer;
    }
    if (data == NULL)
        return RM_OK;
    char place[PLACE_BYTES];
    snprintf(place, sizeof place, "%s.%s", mapping->place, field->key);
    switch (field->value.type) {
    case CYAML_UINT:
    case CYAML_FLOAT:
        return check_number(resolve, mapping, field, data);
    case CYAML_MAPPING:
        return check_mapping(resolve, &(struct ranged_mapping){field->value.mapping.fields, data, place});
    case CYAML_SEQUENCE:
        return check_list(resolve, mapping, field, data);
    default:
        return RM_OK;
    }
}

static enum rm_code check_mapping(struct rm_cameras_resolve const *resolve, struct ranged_mapping const *mapping) {
    enum rm_code code = RM_OK;
    for (cyaml_schema_field_t const *field = mapping->fields; field->key != NULL; ++field)
        code = rm_code_first(code, check_field(resolve, mapping, field));
    return code;
}

enum rm_code rm_cameras_check_ranges(struct rm_cameras_resolve const *resolve) {
    return check_mapping(
        resolve, &(struct ranged_mapping){rm_virtual_cameras_schema.mapping.fields, (char const *)resolve->file, ""});
}
