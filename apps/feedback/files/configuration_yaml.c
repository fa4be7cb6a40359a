// SPDX-License-Identifier: Apache-2.0
#include "configuration_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/yaml_key.h"
#include "csv.h"
#include "fail.h"

enum rm_code feedback_yaml_open(char const *path, struct feedback_yaml *yaml, struct rm_error *error) {
    *yaml = (struct feedback_yaml){.path = path};
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return feedback_fail(error, RM_E_SYSTEM, "%s: cannot be opened: %s", path, strerror(errno));
    yaml->text = malloc(FEEDBACK_YAML_BYTES_MOST + 1);
    errno = 0;
    if (yaml->text != NULL)
        yaml->bytes = fread(yaml->text, 1, FEEDBACK_YAML_BYTES_MOST + 1, file);
    int const problem = yaml->text == NULL ? ENOMEM : ferror(file) ? errno : 0;
    fclose(file);
    if (problem == 0 && yaml->bytes <= FEEDBACK_YAML_BYTES_MOST)
        return RM_OK;
    feedback_yaml_close(yaml);
    if (problem != 0)
        return feedback_fail(error, RM_E_SYSTEM, "%s: cannot be read: %s", path, strerror(problem));
    return feedback_fail(error, RM_E_CONFIG, "%s: longer than a configuration may be (%d bytes)", path,
                         FEEDBACK_YAML_BYTES_MOST);
}

void feedback_yaml_close(struct feedback_yaml *yaml) {
    free(yaml->text);
    yaml->text = NULL;
}

/* What libcyaml logs: what is wrong, then where, from the inside out. */
struct configuration_log {
    char text[RM_ERROR_TEXT_BYTES];
};

static void capture_yaml_log(cyaml_log_t level, void *context, char const *format, va_list arguments) {
    (void)level;
    struct configuration_log *captured = context;
    size_t const used = strlen(captured->text);
    vsnprintf(captured->text + used, sizeof captured->text - used, format, arguments);
}

static cyaml_config_t const quiet = {.mem_fn = cyaml_mem, .flags = CYAML_CFG_DEFAULT};

enum rm_code feedback_yaml_load(struct feedback_yaml const *yaml, struct feedback_file **file, struct rm_error *error) {
    struct configuration_log captured = {.text = ""};
    cyaml_config_t config = quiet;
    config.log_fn = capture_yaml_log;
    config.log_ctx = &captured;
    config.log_level = CYAML_LOG_ERROR;
    void *data = NULL;
    *file = NULL;
    cyaml_err_t const result =
        cyaml_load_data((uint8_t const *)yaml->text, yaml->bytes, &config, &feedback_schema, &data, NULL);
    *file = data;
    if (result == CYAML_ERR_OOM)
        return feedback_fail(error, RM_E_NO_SPACE, "%s: no memory to read it", yaml->path);
    if (result != CYAML_OK)
        return feedback_yaml_tell(yaml, captured.text, error);
    if (data == NULL)
        return feedback_fail(error, RM_E_CONFIG, "%s: is empty, expected the keys matrix and families", yaml->path);
    if (!rm_yaml_fill(&feedback_schema, data, false))
        return feedback_fail(error, RM_E_NO_SPACE, "%s: no memory to read it", yaml->path);
    return RM_OK;
}

void feedback_yaml_free(struct feedback_file *file) { cyaml_free(&quiet, &feedback_schema, file, 0); }

static yaml_node_t *find_yaml_member(yaml_document_t *tree, yaml_node_t const *mapping, char const *name,
                                     size_t bytes) {
    if (mapping->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t const *pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top;
         ++pair) {
        yaml_node_t const *key = yaml_document_get_node(tree, pair->key);
        if (key->type == YAML_SCALAR_NODE && key->data.scalar.length == bytes &&
            memcmp(key->data.scalar.value, name, bytes) == 0)
            return yaml_document_get_node(tree, pair->value);
    }
    return NULL;
}

static yaml_node_t *find_yaml_entry(yaml_document_t *tree, yaml_node_t const *list, size_t index) {
    if (list->type != YAML_SEQUENCE_NODE)
        return NULL;
    yaml_node_item_t const *start = list->data.sequence.items.start;
    return index < (size_t)(list->data.sequence.items.top - start) ? yaml_document_get_node(tree, start[index]) : NULL;
}

/* The node of the key, or the last one on the way to it. */
static yaml_node_t const *follow_yaml_key(yaml_document_t *tree, yaml_node_t *found, char const *key) {
    while (*key != '\0') {
        yaml_node_t *next = NULL;
        if (*key == '[') {
            char *end = NULL;
            next = find_yaml_entry(tree, found, strtoul(key + 1, &end, 10));
            key = *end == ']' ? end + 1 : end;
        } else {
            key += *key == '.';
            size_t const bytes = strcspn(key, ".[");
            next = find_yaml_member(tree, found, key, bytes);
            key += bytes;
        }
        if (next == NULL)
            return found;
        found = next;
    }
    return found;
}

static void find_yaml_place(struct feedback_yaml const *yaml, char const *key, struct feedback_place *place) {
    yaml_parser_t parser;
    yaml_document_t tree;
    *place = (struct feedback_place){.path = yaml->path};
    if (!yaml_parser_initialize(&parser))
        return;
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (unsigned char const *)yaml->text, yaml->bytes);
    if (yaml_parser_load(&parser, &tree)) {
        yaml_node_t *root = yaml_document_get_root_node(&tree);
        if (root != NULL) {
            yaml_mark_t const mark = follow_yaml_key(&tree, root, key)->start_mark;
            place->line = (uint32_t)mark.line + 1;
            place->column = (uint32_t)mark.column + 1;
        }
        yaml_document_delete(&tree);
    }
    yaml_parser_delete(&parser);
}

enum rm_code feedback_yaml_fail(struct feedback_yaml const *yaml, struct rm_error *error, char const *key,
                                char const *format, ...) {
    struct feedback_place place;
    char text[RM_ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    find_yaml_place(yaml, key, &place);
    return feedback_fail_at(error, &place, "%s: %s", key, text);
}
