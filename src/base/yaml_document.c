// SPDX-License-Identifier: Apache-2.0
#include "base/yaml_document.h"

#include "base/fail.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum rm_code rm_yaml_vfail_at(struct rm_error *error, char const *path, yaml_mark_t mark, char const *key,
                              char const *format, va_list arguments) {
    char text[RM_ERROR_TEXT_BYTES];
    vsnprintf(text, sizeof text, format, arguments);
    for (char *at = text; *at != '\0'; at++) /* values from the file may hold line feeds and escape sequences */
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            *at = '?';
    return rm_fail(error, RM_E_CONFIG, "%s:%zu:%zu: %s%s%s", path, mark.line + 1, mark.column + 1, key,
                   *key == '\0' ? "" : ": ", text);
}

enum rm_code rm_yaml_fail_at(struct rm_error *error, char const *path, yaml_mark_t mark, char const *key,
                             char const *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    enum rm_code const code = rm_yaml_vfail_at(error, path, mark, key, format, arguments);
    va_end(arguments);
    return code;
}

char const *rm_yaml_quote(yaml_node_t const *node, char quoted[RM_QUOTED_BYTES]) {
    if (node->type == YAML_SEQUENCE_NODE)
        return "a list";
    if (node->type == YAML_MAPPING_NODE)
        return "a mapping";
    if (node->data.scalar.length == 0 && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return "nothing";
    return rm_quote((char const *)node->data.scalar.value, node->data.scalar.length, quoted);
}

static enum rm_code read_file(char const *path, char **text, size_t *text_bytes, struct rm_error *error) {
    FILE *const file = fopen(path, "re");
    if (file == NULL)
        return rm_fail(error, RM_E_SYSTEM, "%s: cannot be opened: %s", path, strerror(errno));
    char *const buffer = malloc(RM_YAML_FILE_BYTES_MAX + 1);
    size_t const bytes = buffer == NULL ? 0 : fread(buffer, 1, RM_YAML_FILE_BYTES_MAX + 1, file);
    int const problem = buffer == NULL ? ENOMEM : ferror(file) ? errno : 0;
    fclose(file);
    if (problem == 0 && bytes <= RM_YAML_FILE_BYTES_MAX) {
        *text = buffer;
        *text_bytes = bytes;
        return RM_OK;
    }
    free(buffer);
    if (problem != 0)
        return rm_fail(error, RM_E_SYSTEM, "%s: cannot be read: %s", path, strerror(problem));
    return rm_fail(error, RM_E_CONFIG, "%s: is larger than a configuration may be (%d bytes)", path,
                   RM_YAML_FILE_BYTES_MAX);
}

/* Bytes that are no UTF-8 are found before lines are counted: libyaml knows only their offset. */
static yaml_mark_t mark_of_offset(struct rm_yaml_document const *document, size_t offset) {
    yaml_mark_t mark = {.index = offset};
    for (size_t i = 0; i < offset && i < document->text_bytes; i++) {
        unsigned char const byte = (unsigned char)document->text[i];
        if (byte == '\n') {
            mark.line++;
            mark.column = 0;
        } else if ((byte & 0xC0u) != 0x80u) {
            mark.column++;
        }
    }
    return mark;
}

static enum rm_code fail_syntax(struct rm_yaml_document const *document, yaml_parser_t const *parser,
                                struct rm_error *error) {
    if (parser->error == YAML_MEMORY_ERROR)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to read it", document->path);
    char const *const problem = parser->problem != NULL ? parser->problem : "unreadable";
    if (parser->error == YAML_READER_ERROR)
        return rm_yaml_fail_at(error, document->path, mark_of_offset(document, parser->problem_offset), "",
                               "not YAML: %s (byte 0x%02X); expected UTF-8 text", problem,
                               (unsigned)parser->problem_value);
    if (parser->context == NULL)
        return rm_yaml_fail_at(error, document->path, parser->problem_mark, "", "not YAML: %s", problem);
    return rm_yaml_fail_at(error, document->path, parser->problem_mark, "", "not YAML: %s %s that began in line %zu",
                           problem, parser->context, parser->context_mark.line + 1);
}

static enum rm_code refuse_second(struct rm_yaml_document *document, yaml_parser_t *parser, struct rm_error *error) {
    yaml_document_t second;
    if (!yaml_parser_load(parser, &second))
        return fail_syntax(document, parser, error);
    bool const ended = yaml_document_get_root_node(&second) == NULL;
    yaml_mark_t const mark = second.start_mark;
    yaml_document_delete(&second);
    if (ended)
        return RM_OK;
    return rm_yaml_fail_at(error, document->path, mark, "",
                           "a second document begins here, expected only one per file");
}

static enum rm_code parse_yaml_document(struct rm_yaml_document *document, struct rm_error *error) {
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to read it", document->path);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (unsigned char const *)document->text, document->text_bytes);
    enum rm_code code;
    if (!yaml_parser_load(&parser, &document->tree)) {
        code = fail_syntax(document, &parser, error);
    } else {
        document->root = yaml_document_get_root_node(&document->tree);
        if (document->root == NULL)
            code = rm_yaml_fail_at(error, document->path, (yaml_mark_t){0}, "",
                                   "the file is empty, expected a YAML document");
        else
            code = refuse_second(document, &parser, error);
        if (code != RM_OK)
            yaml_document_delete(&document->tree);
    }
    yaml_parser_delete(&parser);
    return code;
}

static enum rm_code parse_own_text(struct rm_yaml_document *document, struct rm_error *error) {
    enum rm_code const code = parse_yaml_document(document, error);
    if (code != RM_OK)
        free(document->text);
    return code;
}

enum rm_code rm_yaml_document_open(char const *path, struct rm_yaml_document *document, struct rm_error *error) {
    *document = (struct rm_yaml_document){.path = path};
    enum rm_code const code = read_file(path, &document->text, &document->text_bytes, error);
    return code == RM_OK ? parse_own_text(document, error) : code;
}

enum rm_code rm_yaml_document_parse(char const *name, char const *text, struct rm_yaml_document *document,
                                    struct rm_error *error) {
    *document = (struct rm_yaml_document){.path = name, .text = strdup(text), .text_bytes = strlen(text)};
    if (document->text == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to read it", name);
    return parse_own_text(document, error);
}

/* The word that a text begins with; NULL: none. */
static struct rm_yaml_word const *word_at(char const *text, size_t bytes, struct rm_yaml_word const *words,
                                          size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t const length = strlen(words[i].word);
        if (length <= bytes && memcmp(text, words[i].word, length) == 0)
            return &words[i];
    }
    return NULL;
}

/* Writes the text with its words replaced and a zero behind, where `to` is not NULL. Returns its bytes. */
static size_t write_replaced(char const *text, size_t bytes, struct rm_yaml_word const *words, size_t count, char *to) {
    size_t written = 0;
    for (size_t at = 0; at < bytes;) {
        struct rm_yaml_word const *const word = word_at(text + at, bytes - at, words, count);
        char const *const from = word == NULL ? text + at : word->text;
        size_t const length = word == NULL ? 1 : strlen(word->text);
        if (to != NULL)
            memcpy(to + written, from, length);
        written += length;
        at += word == NULL ? 1 : strlen(word->word);
    }
    if (to != NULL)
        to[written] = '\0';
    return written;
}

/* `text` is of malloc, as libyaml's own texts are. False: there is no memory. */
static bool replace_words(char **text, size_t *bytes, struct rm_yaml_word const *words, size_t count) {
    size_t const written = write_replaced(*text, *bytes, words, count, NULL);
    char *const made = malloc(written + 1);
    if (made == NULL)
        return false;
    write_replaced(*text, *bytes, words, count, made);
    free(*text);
    *text = made;
    *bytes = written;
    return true;
}

enum rm_code rm_yaml_document_replace(struct rm_yaml_document *document, struct rm_yaml_word const *words, size_t count,
                                      struct rm_error *error) {
    bool done = replace_words(&document->text, &document->text_bytes, words, count);
    for (yaml_node_t *node = document->tree.nodes.start; node < document->tree.nodes.top && done; node++) {
        if (node->type != YAML_SCALAR_NODE)
            continue;
        char *value = (char *)node->data.scalar.value;
        done = replace_words(&value, &node->data.scalar.length, words, count);
        node->data.scalar.value = (yaml_char_t *)value;
    }
    return done ? RM_OK : rm_fail(error, RM_E_NO_SPACE, "%s: no memory to read it", document->path);
}

char *rm_yaml_document_copy(struct rm_yaml_document const *document) {
    return strndup(document->text, document->text_bytes);
}

void rm_yaml_document_close(struct rm_yaml_document *document) {
    yaml_document_delete(&document->tree);
    free(document->text);
}

yaml_node_t const *rm_yaml_document_node(struct rm_yaml_document const *document, int node) {
    /* libyaml's getter only reads, but does not say so. */
    return yaml_document_get_node((yaml_document_t *)&document->tree, node);
}

yaml_node_t const *rm_yaml_document_member(struct rm_yaml_document const *document, yaml_node_t const *mapping,
                                           char const *name, size_t bytes) {
    if (mapping->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t const *pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top;
         pair++) {
        yaml_node_t const *const key = rm_yaml_document_node(document, pair->key);
        if (key->type == YAML_SCALAR_NODE && key->data.scalar.length == bytes &&
            memcmp(key->data.scalar.value, name, bytes) == 0)
            return rm_yaml_document_node(document, pair->value);
    }
    return NULL;
}

static yaml_node_t const *yaml_document_entry(struct rm_yaml_document const *document, yaml_node_t const *list,
                                              size_t index) {
    if (list->type != YAML_SEQUENCE_NODE)
        return NULL;
    yaml_node_item_t const *const start = list->data.sequence.items.start;
    if (index >= (size_t)(list->data.sequence.items.top - start))
        return NULL;
    return rm_yaml_document_node(document, start[index]);
}

yaml_node_t const *rm_yaml_document_find(struct rm_yaml_document const *document, char const *key) {
    yaml_node_t const *found = document->root;
    while (*key != '\0') {
        yaml_node_t const *next;
        if (*key == '[') {
            char *end;
            next = yaml_document_entry(document, found, strtoul(key + 1, &end, 10));
            key = *end == ']' ? end + 1 : end;
        } else {
            size_t const bytes = strcspn(key, ".[");
            next = rm_yaml_document_member(document, found, key, bytes);
            key += bytes;
        }
        if (*key == '.')
            key++;
        if (next == NULL)
            break;
        found = next;
    }
    return found;
}
