// SPDX-License-Identifier: Apache-2.0
#include "keys.h"

#include <math.h>
#include <string.h>

enum { INDENT = 1 };

/** Where the writer stands. */
struct sheet {
    FILE *to;
    int indent;
    /** The next member is the first of its object. */
    bool first;
};

static void write_schema_text(FILE *to, char const *text) {
    fputc('"', to);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

static void begin_member(struct sheet *sheet, char const *name) {
    fprintf(sheet->to, "%s\n%*s", sheet->first ? "" : ",", sheet->indent, "");
    write_schema_text(sheet->to, name);
    fputs(": ", sheet->to);
    sheet->first = false;
}

static void open_object(struct sheet *sheet) {
    fputc('{', sheet->to);
    sheet->indent += INDENT;
    sheet->first = true;
}

static void close_object(struct sheet *sheet) {
    sheet->indent -= INDENT;
    fprintf(sheet->to, "\n%*s}", sheet->indent, "");
    sheet->first = false;
}

static void write_schema_number(struct sheet *sheet, char const *name, double value) {
    if (isinf(value))
        return;
    begin_member(sheet, name);
    fprintf(sheet->to, fabs(value) < 1e19 && value == nearbyint(value) ? "%.0f" : "%.17g", value);
}

static void write_type(struct sheet *sheet, char const *type) {
    begin_member(sheet, "type");
    write_schema_text(sheet->to, type);
}

static void write_object(struct sheet *sheet, cyaml_schema_value_t const *value);

double largest(cyaml_schema_value_t const *value) {
    return ldexp(1, (int)(8 * value->data_size) - (value->type == CYAML_INT)) - 1;
}

static void write_range(struct sheet *sheet, cyaml_schema_value_t const *value, struct rm_yaml_key const *key) {
    if (key != NULL && (key->min != 0 || key->max != 0)) {
        write_schema_number(sheet, key->above ? "exclusiveMinimum" : "minimum", key->min);
        write_schema_number(sheet, "maximum", key->max);
    } else if (value->type == CYAML_UINT) {
        write_schema_number(sheet, "minimum", 0);
        if (value->data_size < sizeof(uint64_t))
            write_schema_number(sheet, "maximum", largest(value));
    }
}

static void write_words(struct sheet *sheet, cyaml_schema_value_t const *value) {
    begin_member(sheet, "enum");
    for (uint32_t i = 0; i < value->enumeration.count; i++) {
        fputs(i == 0 ? "[" : ", ", sheet->to);
        write_schema_text(sheet->to, value->enumeration.strings[i].str);
    }
    fputc(']', sheet->to);
}

/** Words that YAML takes for no text. */
static bool is_truth(cyaml_schema_value_t const *value) {
    return strcmp(value->enumeration.strings[0].str, "false") == 0;
}

static void write_members(struct sheet *sheet, cyaml_schema_value_t const *value, struct rm_yaml_key const *key) {
    switch (value->type) {
    case CYAML_INT:
    case CYAML_UINT:
    case CYAML_FLOAT:
        write_type(sheet, value->type == CYAML_FLOAT ? "number" : "integer");
        write_range(sheet, value, key);
        break;
    case CYAML_BOOL:
        write_type(sheet, "boolean");
        break;
    case CYAML_ENUM:
        if (is_truth(value))
            write_type(sheet, "boolean");
        else
            write_words(sheet, value);
        break;
    case CYAML_STRING:
        if (key != NULL && key->or_number) {
            begin_member(sheet, "type");
            fputs("[\"string\", \"number\"]", sheet->to);
        } else {
            write_type(sheet, "string");
        }
        write_schema_number(sheet, "minLength", value->string.min);
        write_schema_number(sheet, "maxLength", value->string.max);
        break;
    case CYAML_SEQUENCE:
        write_type(sheet, "array");
        write_schema_number(sheet, "minItems", value->sequence.min);
        write_schema_number(sheet, "maxItems", value->sequence.max);
        begin_member(sheet, "items");
        open_object(sheet);
        write_members(sheet, value->sequence.entry, NULL);
        close_object(sheet);
        break;
    default:
        write_object(sheet, value);
        break;
    }
}

static void write_default(struct sheet *sheet, cyaml_schema_value_t const *value, char const *text) {
    bool const is_text = value->type == CYAML_STRING || (value->type == CYAML_ENUM && !is_truth(value));
    begin_member(sheet, "default");
    if (is_text)
        write_schema_text(sheet->to, text);
    else
        fputs(text, sheet->to);
}

static void write_description(struct sheet *sheet, struct rm_yaml_key const *key) {
    char text[512];
    snprintf(text, sizeof text, "%s%s%s%s%s", key->help,
             key->unit == NULL ? "" : " Unit: ", key->unit == NULL ? "" : key->unit,
             key->otherwise == NULL ? "" : " Default: ", key->otherwise == NULL ? "" : key->otherwise);
    begin_member(sheet, "description");
    write_schema_text(sheet->to, text);
}

static void write_property(struct sheet *sheet, cyaml_schema_field_t const *field) {
    struct rm_yaml_key const *const key = rm_yaml_key_of(field);
    begin_member(sheet, field->key);
    open_object(sheet);
    write_description(sheet, key);
    write_members(sheet, &field->value, key);
    if (key->fallback != NULL)
        write_default(sheet, &field->value, key->fallback);
    close_object(sheet);
}

static void write_required(struct sheet *sheet, cyaml_schema_field_t const *fields) {
    bool any = false;
    for (; fields->key != NULL; fields++) {
        if ((fields->value.flags & CYAML_FLAG_OPTIONAL) != 0)
            continue;
        if (!any)
            begin_member(sheet, "required");
        fputs(any ? ", " : "[", sheet->to);
        write_schema_text(sheet->to, fields->key);
        any = true;
    }
    if (any)
        fputc(']', sheet->to);
}

static void write_object(struct sheet *sheet, cyaml_schema_value_t const *value) {
    write_type(sheet, "object");
    begin_member(sheet, "additionalProperties");
    fputs("false", sheet->to);
    write_required(sheet, value->mapping.fields);
    begin_member(sheet, "properties");
    open_object(sheet);
    for (cyaml_schema_field_t const *field = value->mapping.fields; field->key != NULL; field++)
        write_property(sheet, field);
    close_object(sheet);
}

void write_schema(struct file_kind const *kind, FILE *to) {
    struct sheet sheet = {.to = to};
    open_object(&sheet);
    begin_member(&sheet, "$schema");
    write_schema_text(to, "http://json-schema.org/draft-07/schema#");
    begin_member(&sheet, "title");
    write_schema_text(to, kind->help);
    write_object(&sheet, kind->schema);
    close_object(&sheet);
    fputc('\n', to);
}
