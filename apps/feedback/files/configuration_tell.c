// SPDX-License-Identifier: Apache-2.0
#include "configuration_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

enum { STEPS_MAX = 12, STEP_BYTES = 32, WORDS_BYTES = 256 };

/** The way to the place, from the file's root: keys, or "[number]". */
struct way {
    char step[STEPS_MAX][STEP_BYTES];
    uint32_t steps;
    uint32_t line, column; /**< 0: libcyaml does not say */
};

static void push_front(struct way *way, char const *step) {
    if (way->steps == STEPS_MAX)
        return;
    memmove(way->step + 1, way->step, way->steps * sizeof way->step[0]);
    snprintf(way->step[0], STEP_BYTES, "%s", step);
    ++way->steps;
}

/* One line of libcyaml's: "  in mapping field 'plant' (line: 5, column: 12)". Entries count from 1 there. */
static void take_line(struct way *way, char const *line) {
    char name[STEP_BYTES];
    unsigned number = 0;
    if (sscanf(line, "  in mapping field '%31[^']'", name) == 1) {
        push_front(way, name);
    } else if (sscanf(line, "  in sequence entry '%u'", &number) == 1) {
        snprintf(name, sizeof name, "[%u]", number == 0 ? 0 : number - 1);
        push_front(way, name);
    }
    char const *const place = strstr(line, "(line: ");
    if (way->line == 0 && place != NULL && sscanf(place, "(line: %u, column: %u)", &way->line, &way->column) != 2)
        way->line = 0;
}

static void find_way(char const *logged, struct way *way) {
    *way = (struct way){.steps = 0};
    for (char const *line = strstr(logged, "  in "); line != NULL; line = strstr(line + 1, "  in "))
        take_line(way, line);
}

/* "families[0].plant" */
static void spell_way(struct way const *way, char *text, size_t bytes) {
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t s = 0; s < way->steps && used < bytes; ++s) {
        char const *const dot = s > 0 && way->step[s][0] != '[' ? "." : "";
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", dot, way->step[s]);
    }
}

static cyaml_schema_value_t const *schema_of(struct way const *way) {
    cyaml_schema_value_t const *value = &feedback_schema;
    for (uint32_t s = 0; s < way->steps && value != NULL; ++s) {
        if (value->type == CYAML_SEQUENCE && way->step[s][0] == '[') {
            value = value->sequence.entry;
        } else if (value->type == CYAML_MAPPING) {
            cyaml_schema_field_t const *field = value->mapping.fields;
            while (field->key != NULL && strcmp(field->key, way->step[s]) != 0)
                ++field;
            value = field->key == NULL ? NULL : &field->value;
        } else {
            return NULL;
        }
    }
    return value;
}

static void add_word(char *text, char const *word) {
    size_t const used = strlen(text);
    snprintf(text + used, WORDS_BYTES - used, "%s%s", used == 0 ? "" : ", ", word);
}

static void list_words(cyaml_schema_value_t const *value, char *text) {
    text[0] = '\0';
    if (value->type == CYAML_ENUM)
        for (uint32_t w = 0; w < value->enumeration.count; ++w)
            add_word(text, value->enumeration.strings[w].str);
    else
        for (cyaml_schema_field_t const *field = value->mapping.fields; field->key != NULL; ++field)
            add_word(text, field->key);
}

static void describe_schema_value(cyaml_schema_value_t const *value, char *text, size_t bytes) {
    char words[WORDS_BYTES];
    switch (value->type) {
    case CYAML_MAPPING:
    case CYAML_ENUM:
        list_words(value, words);
        snprintf(text, bytes, ", expected %s: %s", value->type == CYAML_ENUM ? "one of" : "some of the keys", words);
        return;
    case CYAML_SEQUENCE:
        snprintf(text, bytes, ", expected a list of %u to %u", value->sequence.min, value->sequence.max);
        return;
    case CYAML_STRING:
        snprintf(text, bytes, ", expected a text of %u to %u bytes", value->string.min, value->string.max);
        return;
    case CYAML_FLOAT:
        snprintf(text, bytes, ", expected a number");
        return;
    case CYAML_UINT:
        snprintf(text, bytes, ", expected a whole number, 0 or more");
        return;
    default:
        text[0] = '\0';
    }
}

enum rm_code feedback_yaml_tell(struct feedback_yaml const *yaml, char const *logged, struct rm_error *error) {
    struct way way;
    char key[STEPS_MAX * (STEP_BYTES + 1)];
    char expected[WORDS_BYTES + 64] = "";
    char found[128];
    find_way(logged, &way);
    struct feedback_place const place = {yaml->path, way.line, way.column};
    char const *said = strncmp(logged, "Load: ", 6) == 0 ? logged + 6 : logged;
    snprintf(found, sizeof found, "%.*s", (int)strcspn(said, "\n"), said);
    for (char *at = found; *at != '\0'; ++at)
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            *at = '?';
    /* Of a missing key libcyaml shows the way to the one that came last in the same mapping; of one entry too many, the
     * entry. */
    bool const missing = strncmp(said, "Missing", 7) == 0;
    bool const above = missing || strncmp(said, "Excessive", 9) == 0;
    way.steps -= above && way.steps > 0;
    cyaml_schema_value_t const *schema = schema_of(&way);
    bool const of_value = !missing && strncmp(said, "libyaml", 7) != 0 && strncmp(said, "Mapping field", 13) != 0;
    if (schema != NULL && of_value)
        describe_schema_value(schema, expected, sizeof expected);
    spell_way(&way, key, sizeof key);
    return feedback_fail_at(error, &place, "%s%s%s%s", key, key[0] == '\0' ? "" : ": ", found, expected);
}
