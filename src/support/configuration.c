// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/configuration.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/yaml.h"
#include "base/yaml_check.h"
#include "base/yaml_document.h"
#include "support/key_schema.h"

/** A document that fits the keys, while its values are taken over. */
struct taking {
    struct rm_yaml_document document;
    struct rm_errors *errors;
    /** Of the first error. */
    enum rm_code code;
    /** Key of the value that is taken. */
    char key[RM_YAML_KEY_BYTES];
};

static void take_mapping(struct taking *taking, struct rm_key const *keys, yaml_node_t const *mapping, char *to);

static void refuse_range(struct taking *taking, struct rm_key const *key, yaml_node_t const *node, double value) {
    struct rm_error error;
    yaml_node_t const *const at = node == NULL ? taking->document.root : node;
    yaml_mark_t const mark = at == NULL ? (yaml_mark_t){.line = 0} : at->start_mark;
    rm_yaml_fail_at(&error, taking->document.path, mark, taking->key, "found %.10g, expected %.10g to %.10g", value,
                    key->least, key->most);
    rm_errors_add(taking->errors, &error);
    taking->code = rm_code_first(taking->code, RM_E_CONFIG);
}

static void refuse_memory(struct taking *taking) {
    struct rm_error error;
    rm_fail(&error, RM_E_NO_SPACE, "%s: no memory to read it", taking->document.path);
    rm_errors_add(taking->errors, &error);
    taking->code = rm_code_first(taking->code, RM_E_NO_SPACE);
}

static double take_number(struct taking *taking, struct rm_key const *key, yaml_node_t const *node, double value) {
    bool const has_range = key->least != 0 || key->most != 0;
    if (has_range && !(value >= key->least && value <= key->most))
        refuse_range(taking, key, node, value);
    return value;
}

static char *take_text(struct taking *taking, char const *text) {
    char *const copy = strdup(text);
    if (copy == NULL)
        refuse_memory(taking);
    return copy;
}

static uint32_t index_of_word(char const *const *words, char const *text) {
    uint32_t w = 0;
    while (strcmp(words[w], text) != 0)
        ++w;
    return w;
}

/** `text` is the value, or the default; NULL where there is neither. */
static void take_scalar(struct taking *taking, struct rm_key const *key, yaml_node_t const *node, char const *text,
                        void *to) {
    if (key->kind == RM_KEY_IS_NUMBER) {
        double const scale = key->scale == 0 ? 1 : key->scale;
        *(double *)to = text == NULL ? (double)NAN : take_number(taking, key, node, strtod(text, NULL)) * scale;
    } else if (text == NULL) {
        return;
    } else if (key->kind == RM_KEY_IS_WHOLE) {
        *(uint32_t *)to = (uint32_t)take_number(taking, key, node, (double)strtoul(text, NULL, 0));
    } else if (key->kind == RM_KEY_IS_TRUTH) {
        *(bool *)to = index_of_word(rm_key_truths, text) == 1;
    } else if (key->kind == RM_KEY_IS_WORD) {
        *(uint32_t *)to = index_of_word(key->words, text);
    } else {
        *(char **)to = take_text(taking, text);
    }
}

static size_t entry_bytes(struct rm_key const *key) {
    return key->kind == RM_KEY_IS_NUMBERS ? sizeof(double)
           : key->kind == RM_KEY_IS_TEXTS ? sizeof(char *)
                                          : key->entry_bytes;
}

static void take_entry(struct taking *taking, struct rm_key const *key, yaml_node_t const *node, char *to) {
    if (key->kind == RM_KEY_IS_MAPPINGS)
        take_mapping(taking, key->keys, node, to);
    else if (key->kind == RM_KEY_IS_NUMBERS)
        *(double *)(void *)to = strtod((char const *)node->data.scalar.value, NULL);
    else
        *(char **)(void *)to = take_text(taking, (char const *)node->data.scalar.value);
}

static void take_list(struct taking *taking, struct rm_key const *key, yaml_node_t const *list, char **to,
                      uint32_t *count) {
    if (list == NULL)
        return;
    yaml_node_item_t const *const item = list->data.sequence.items.start;
    uint32_t const entries = (uint32_t)(list->data.sequence.items.top - item);
    *to = calloc(entries + 1, entry_bytes(key)); /* an empty list is not NULL */
    if (*to == NULL) {
        refuse_memory(taking);
        return;
    }
    *count = entries;
    size_t const outer = strlen(taking->key);
    for (uint32_t i = 0; i < entries; ++i) {
        snprintf(taking->key + outer, sizeof taking->key - outer, "[%u]", i);
        take_entry(taking, key, rm_yaml_document_node(&taking->document, item[i]), *to + i * entry_bytes(key));
    }
    taking->key[outer] = '\0';
}

static void take_value(struct taking *taking, struct rm_key const *key, yaml_node_t const *node, char *to) {
    void *const member = to + key->at;
    switch (key->kind) {
    case RM_KEY_IS_MAPPING:
        take_mapping(taking, key->keys, node, member);
        break;
    case RM_KEY_IS_NUMBERS:
    case RM_KEY_IS_TEXTS:
    case RM_KEY_IS_MAPPINGS:
        take_list(taking, key, node, member, (uint32_t *)(void *)(to + key->count_at));
        break;
    default:
        take_scalar(taking, key, node, node == NULL ? key->fallback : (char const *)node->data.scalar.value, member);
        break;
    }
}

/** `mapping` may be NULL: it is not in the file. */
static void take_mapping(struct taking *taking, struct rm_key const *keys, yaml_node_t const *mapping, char *to) {
    size_t const outer = strlen(taking->key);
    for (struct rm_key const *key = keys; key->name != NULL; ++key) {
        snprintf(taking->key + outer, sizeof taking->key - outer, "%s%s", outer == 0 ? "" : ".", key->name);
        yaml_node_t const *const node =
            mapping == NULL ? NULL : rm_yaml_document_member(&taking->document, mapping, key->name, strlen(key->name));
        take_value(taking, key, node, to);
        taking->key[outer] = '\0';
    }
}

/** Opens the document, and holds it against the keys. There is something to close after RM_OK only. */
static enum rm_code open_configuration(struct taking *taking, char const *path, struct rm_key const *keys) {
    taking->document.path = path;
    cyaml_schema_value_t *const schema = rm_key_schema(keys);
    if (schema == NULL) {
        refuse_memory(taking);
        return RM_E_NO_SPACE;
    }
    struct rm_error error;
    enum rm_code code = rm_yaml_document_open(path, &taking->document, &error);
    if (code != RM_OK) {
        rm_errors_add(taking->errors, &error);
    } else {
        code = rm_yaml_check(&taking->document, schema, taking->errors);
        if (code != RM_OK)
            rm_yaml_document_close(&taking->document);
    }
    free(schema);
    return code;
}

/** There is no file: nothing to open, and no key that must be there. */
static enum rm_code open_nothing(struct taking *taking, struct rm_key const *keys) {
    struct rm_error error;
    taking->document.path = "no file";
    for (; keys->name != NULL; ++keys)
        if (keys->required) {
            rm_fail(&error, RM_E_CONFIG, "no file is given, expected one with the key \"%s\": `configuration: FILE`",
                    keys->name);
            rm_errors_add(taking->errors, &error);
            return RM_E_CONFIG;
        }
    return RM_OK;
}

enum rm_code rm_configuration_load(char const *path, struct rm_key const *keys, void *values,
                                   rm_configuration_check *check, struct rm_errors *errors) {
    struct taking taking = {.errors = errors};
    enum rm_code code = path == NULL ? open_nothing(&taking, keys) : open_configuration(&taking, path, keys);
    if (code != RM_OK)
        return code;
    take_mapping(&taking, keys, taking.document.root, values);
    if (path != NULL)
        rm_yaml_document_close(&taking.document);
    code = taking.code;
    if (check != NULL && code != RM_E_NO_SPACE)
        code = rm_code_first(code, check(taking.document.path, values, errors));
    if (code != RM_OK)
        rm_configuration_free(keys, values);
    return code;
}

static void free_list(struct rm_key const *key, char **list, uint32_t *count) {
    for (uint32_t i = 0; i < *count; ++i) {
        char *const entry = *list + i * entry_bytes(key);
        if (key->kind == RM_KEY_IS_MAPPINGS)
            rm_configuration_free(key->keys, entry);
        else if (key->kind == RM_KEY_IS_TEXTS)
            free(*(char **)(void *)entry);
    }
    free(*list);
    *list = NULL;
    *count = 0;
}

void rm_configuration_free(struct rm_key const *keys, void *values) {
    for (struct rm_key const *key = keys; key->name != NULL; ++key) {
        char *const struct_at = values;
        void *const member = struct_at + key->at;
        if (key->kind == RM_KEY_IS_MAPPING) {
            rm_configuration_free(key->keys, member);
        } else if (key->kind == RM_KEY_IS_TEXT) {
            free(*(char **)member);
            *(char **)member = NULL;
        } else if (key->kind >= RM_KEY_IS_NUMBERS) {
            free_list(key, member, (uint32_t *)(void *)(struct_at + key->count_at));
        }
    }
}

enum rm_code rm_configuration_refuse(struct rm_errors *errors, char const *path, char const *key, char const *format,
                                     ...) {
    struct rm_error error;
    va_list arguments;
    va_start(arguments, format);
    enum rm_code const code = rm_yaml_vfail(&error, path, key, format, arguments);
    va_end(arguments);
    rm_errors_add(errors, &error);
    return code;
}

char *rm_configuration_beside(char const *path, char const *name) {
    char const *const slash = strrchr(path, '/');
    char *made = NULL;
    if (name[0] == '/' || slash == NULL)
        return strdup(name);
    return asprintf(&made, "%.*s/%s", (int)(slash - path), path, name) < 0 ? NULL : made;
}
