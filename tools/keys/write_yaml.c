// SPDX-License-Identifier: Apache-2.0
#include "keys.h"

#include <stdarg.h>
#include <string.h>

enum { COLUMNS = 120, TEXT_BYTES = 1024, INDENT = 2, NOT_APART = -1 };

/** Where the writer stands. */
struct page {
    FILE *to;
    int indent;
    /** The column from which on lines are commented out; NOT_APART. */
    int apart;
    /** The next key begins an entry of a list. */
    bool entry;
};

/** Begins a line: blanks, and the sign of comments where the block is commented out. */
static void yaml_page_begin(struct page const *page) {
    for (int column = 0; column < page->indent; column++)
        fputc(column == page->apart ? '#' : ' ', page->to);
    if (page->indent == page->apart)
        fputc('#', page->to);
    else if (page->apart != NOT_APART)
        fputc(' ', page->to);
}

/** Comment lines of at most 120 columns. A character of two bytes is one column. */
static void write_comment(struct page const *page, char const *text) {
    while (*text != '\0') {
        size_t const room = COLUMNS - 3 - (size_t)page->indent;
        size_t bytes = strlen(text);
        if (bytes > room)
            for (bytes = room; bytes > 1 && text[bytes] != ' ';)
                bytes--;
        yaml_page_begin(page);
        fprintf(page->to, "# %.*s\n", (int)bytes, text);
        text += bytes + (text[bytes] == ' ');
    }
}

__attribute__((format(printf, 2, 3))) static void yaml_text_add(char text[TEXT_BYTES], char const *format, ...) {
    size_t const used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, TEXT_BYTES - used, format, arguments);
    va_end(arguments);
}

static void add_range(char text[TEXT_BYTES], struct rm_yaml_key const *key) {
    if (key->min == 0 && key->max == 0)
        return;
    if (isinf(key->min))
        return;
    char const *const from = key->above ? "more than " : "";
    if (isinf(key->max))
        yaml_text_add(text, "; %s%.15g%s", from, key->min, key->above ? "" : " or more");
    else
        yaml_text_add(text, "; %s%.15g%s %.15g", from, key->min, key->above ? ", up to" : " to", key->max);
}

static void add_words(char text[TEXT_BYTES], cyaml_schema_value_t const *value) {
    if (value->type != CYAML_ENUM)
        return;
    for (uint32_t i = 0; i < value->enumeration.count; i++)
        yaml_text_add(text, "%s%s", i == 0 ? "; " : ", ", value->enumeration.strings[i].str);
}

static void comment_key(struct page const *page, cyaml_schema_field_t const *field) {
    struct rm_yaml_key const *const key = rm_yaml_key_of(field);
    char more[TEXT_BYTES] = "", text[TEXT_BYTES] = "";
    if (key->unit != NULL)
        yaml_text_add(more, "; %s", key->unit);
    add_range(more, key);
    add_words(more, &field->value);
    if ((field->value.flags & CYAML_FLAG_OPTIONAL) == 0)
        yaml_text_add(more, "; required");
    else if (key->otherwise != NULL)
        yaml_text_add(more, "; default: %s", key->otherwise);
    yaml_text_add(text, "%s", key->help);
    if (*more != '\0')
        yaml_text_add(text, " (%s)", more + 2);
    write_comment(page, text);
}

/** A default as YAML: words that it would take for something else are quoted. */
static void write_default(struct page const *page, cyaml_schema_value_t const *value, char const *text) {
    static char const plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    bool const quoted = value->type == CYAML_STRING && text[strspn(text, plain)] != '\0';
    fprintf(page->to, quoted ? " \"%s\"\n" : " %s\n", text);
}

static void write_fields(struct page *page, cyaml_schema_field_t const *fields);

static void write_inside(struct page *page, cyaml_schema_field_t const *field) {
    fputc('\n', page->to);
    page->indent += INDENT;
    write_fields(page, field->value.mapping.fields);
    page->indent -= INDENT;
}

/** A list has one entry with every key; what the example says besides are further ones. */
static void write_entries(struct page *page, cyaml_schema_field_t const *field) {
    char const *const more = rm_yaml_key_of(field)->example;
    fputc('\n', page->to);
    page->indent += INDENT;
    page->entry = true;
    write_fields(page, field->value.sequence.entry->mapping.fields);
    if (more != NULL) {
        yaml_page_begin(page);
        fprintf(page->to, "- %s\n", more);
    }
    page->indent -= INDENT;
}

static void write_value(struct page *page, cyaml_schema_field_t const *field) {
    struct rm_yaml_key const *const key = rm_yaml_key_of(field);
    if (field->value.type == CYAML_MAPPING)
        write_inside(page, field);
    else if (field->value.type == CYAML_SEQUENCE && field->value.sequence.entry->type == CYAML_MAPPING)
        write_entries(page, field);
    else if (key->fallback != NULL)
        write_default(page, &field->value, key->fallback);
    else
        fprintf(page->to, " %s\n", key->example == NULL ? "?" : key->example);
}

static void write_field(struct page *page, cyaml_schema_field_t const *field) {
    struct page const outer = *page;
    bool const begins_entry = page->entry;
    page->entry = false;
    if (rm_yaml_key_of(field)->apart && page->apart == NOT_APART)
        page->apart = page->indent;
    comment_key(page, field);
    yaml_page_begin(page);
    fprintf(page->to, "%s%s:", begins_entry ? "- " : "", field->key);
    page->indent += begins_entry ? INDENT : 0;
    write_value(page, field);
    page->apart = outer.apart;
}

static void write_fields(struct page *page, cyaml_schema_field_t const *fields) {
    int const indent = page->indent;
    for (; fields->key != NULL; fields++)
        write_field(page, fields);
    page->indent = indent;
}

void write_yaml(struct file_kind const *kind, FILE *to) {
    struct page page = {.to = to, .apart = NOT_APART};
    fprintf(to, "---\n# %s\n# yaml-language-server: $schema=schema/%s.schema.json\n", kind->help, kind->name);
    write_fields(&page, kind->schema->mapping.fields);
}
