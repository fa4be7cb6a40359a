// SPDX-License-Identifier: Apache-2.0
#include "base/yaml_expect.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t signed_max(uint32_t data_bytes) { return (int64_t)(UINT64_MAX >> (65 - 8 * data_bytes)); }

static uint64_t unsigned_max(uint32_t data_bytes) { return UINT64_MAX >> (64 - 8 * data_bytes); }

/* Appends to a text of `size` bytes, cutting it where it is full. */
static void append_expectation(char *text, size_t size, char const *separator, char const *addition) {
    size_t const used = strlen(text);
    snprintf(text + used, size - used, "%s%s", separator, addition);
}

char const *rm_yaml_keys(cyaml_schema_value_t const *mapping, char keys[RM_YAML_EXPECTED_BYTES]) {
    keys[0] = '\0';
    for (cyaml_schema_field_t const *field = mapping->mapping.fields; field->key != NULL; field++)
        append_expectation(keys, RM_YAML_EXPECTED_BYTES, *keys == '\0' ? "" : ", ", field->key);
    return keys;
}

static void expected_enum(cyaml_schema_value_t const *schema, char expected[RM_YAML_EXPECTED_BYTES]) {
    strcpy(expected, "one of:");
    for (uint32_t i = 0; i < schema->enumeration.count; i++)
        append_expectation(expected, RM_YAML_EXPECTED_BYTES, i == 0 ? " " : ", ", schema->enumeration.strings[i].str);
}

static void expected_count(char const *what, char const *unit, uint32_t min, uint32_t max,
                           char expected[RM_YAML_EXPECTED_BYTES]) {
    if (min == max)
        snprintf(expected, RM_YAML_EXPECTED_BYTES, "%s of %" PRIu32 " %s", what, min, unit);
    else if (max == CYAML_UNLIMITED)
        snprintf(expected, RM_YAML_EXPECTED_BYTES, "%s of at least %" PRIu32 " %s", what, min, unit);
    else
        snprintf(expected, RM_YAML_EXPECTED_BYTES, "%s of %" PRIu32 " to %" PRIu32 " %s", what, min, max, unit);
}

char const *rm_yaml_expected(cyaml_schema_value_t const *schema, char expected[RM_YAML_EXPECTED_BYTES]) {
    size_t const size = RM_YAML_EXPECTED_BYTES;
    char keys[RM_YAML_EXPECTED_BYTES];
    switch (schema->type) {
    case CYAML_INT:
        snprintf(expected, size, "a whole number from %" PRId64 " to %" PRId64, -signed_max(schema->data_size) - 1,
                 signed_max(schema->data_size));
        break;
    case CYAML_UINT:
        snprintf(expected, size, "a whole number from 0 to %" PRIu64, unsigned_max(schema->data_size));
        break;
    case CYAML_FLOAT:
        strcpy(expected, "a number");
        break;
    case CYAML_BOOL:
        strcpy(expected, "true or false");
        break;
    case CYAML_ENUM:
        expected_enum(schema, expected);
        break;
    case CYAML_STRING:
        expected_count("text", "bytes", schema->string.min, schema->string.max, expected);
        break;
    case CYAML_SEQUENCE:
        expected_count("a list", "entries", schema->sequence.min, schema->sequence.max, expected);
        break;
    case CYAML_MAPPING:
        snprintf(expected, size, "a mapping with the keys %.220s", rm_yaml_keys(schema, keys));
        break;
    default:
        strcpy(expected, "something else");
        break;
    }
    return expected;
}

/* Decimal without leading zeros, or 0x…: what cannot be misread as octal. Gives the base, or 0. */
static int integer_base(char const *text) {
    if (*text == '-' || *text == '+')
        text++;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && isxdigit((unsigned char)text[2]))
        return 16;
    if (!isdigit((unsigned char)text[0]) || (text[0] == '0' && text[1] != '\0'))
        return 0;
    return 10;
}

static bool signed_fits(cyaml_schema_value_t const *schema, char const *text) {
    int const base = integer_base(text);
    char *end = NULL;
    errno = 0;
    long long const value = base == 0 ? 0 : strtoll(text, &end, base);
    int64_t const max = signed_max(schema->data_size);
    return base != 0 && *end == '\0' && errno == 0 && value <= max && value >= -max - 1;
}

static bool unsigned_fits(cyaml_schema_value_t const *schema, char const *text) {
    int const base = *text == '-' ? 0 : integer_base(text);
    char *end = NULL;
    errno = 0;
    unsigned long long const value = base == 0 ? 0 : strtoull(text, &end, base);
    return base != 0 && *end == '\0' && errno == 0 && value <= unsigned_max(schema->data_size);
}

static bool float_fits(char const *text) {
    if (text[strspn(text, "0123456789+-.eE")] != '\0')
        return false;
    char *end;
    double const value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(value);
}

static bool enum_fits(cyaml_schema_value_t const *schema, char const *text) {
    for (uint32_t i = 0; i < schema->enumeration.count; i++)
        if (strcmp(text, schema->enumeration.strings[i].str) == 0)
            return true;
    return false;
}

bool rm_yaml_scalar_fits(cyaml_schema_value_t const *schema, char const *text, size_t bytes) {
    if (strlen(text) != bytes)
        return false; /* a zero byte inside: C strings cannot hold that */
    switch (schema->type) {
    case CYAML_INT:
        return signed_fits(schema, text);
    case CYAML_UINT:
        return unsigned_fits(schema, text);
    case CYAML_FLOAT:
        return float_fits(text);
    case CYAML_BOOL:
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    case CYAML_ENUM:
        return enum_fits(schema, text);
    case CYAML_STRING:
        return bytes >= schema->string.min && bytes <= schema->string.max;
    default:
        return false;
    }
}

char const *rm_yaml_leading_zero(cyaml_schema_value_t const *schema, char const *text,
                                 char hint[RM_YAML_EXPECTED_BYTES]) {
    char const *digits = text + (*text == '-' || *text == '+');
    size_t const count = strlen(digits), zeros = strspn(digits, "0");
    bool const whole = schema->type == CYAML_INT || schema->type == CYAML_UINT;
    hint[0] = '\0';
    if (!whole || count < 2 || count > 20 || zeros == 0 || strspn(digits, "0123456789") != count)
        return hint;
    snprintf(hint, RM_YAML_EXPECTED_BYTES, ": %s has a leading zero, which YAML readers take for octal; write %s%s",
             text, *text == '-' ? "-" : "", zeros == count ? "0" : digits + zeros);
    return hint;
}
