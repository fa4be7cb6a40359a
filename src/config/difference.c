// SPDX-License-Identifier: Apache-2.0
#include "config/difference.h"

#include <stdio.h>
#include <string.h>

enum { NAMED = 3 }; /**< keys that people are told */

static char const LEFT_OUT[] = "roles";

/* Two files, and what was found so far. */
struct comparison {
    struct rm_yaml_document const *running, *wanted;
    struct rm_config_difference *found;
};

static void note_difference(struct comparison const *comparison, char const *key) {
    struct rm_config_difference *const found = comparison->found;
    size_t const used = strlen(found->keys);
    if (found->count == 0)
        snprintf(found->first, sizeof found->first, "%s", key);
    if (found->count < NAMED)
        snprintf(found->keys + used, sizeof found->keys - used, "%s%s", used == 0 ? "" : ", ", key);
    found->count++;
}

static void compare_nodes(struct comparison const *comparison, yaml_node_t const *running, yaml_node_t const *wanted,
                          char const *key);

/* The members of `mapping`, compared with those of `other`; or those alone that `other` has not. */
static void compare_members(struct comparison const *comparison, yaml_node_t const *running, yaml_node_t const *wanted,
                            char const *key, bool absent) {
    struct rm_yaml_document const *const of = absent ? comparison->wanted : comparison->running;
    struct rm_yaml_document const *const other = absent ? comparison->running : comparison->wanted;
    yaml_node_t const *const mapping = absent ? wanted : running, *const beside = absent ? running : wanted;
    for (yaml_node_pair_t const *pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top;
         pair++) {
        char inner[RM_YAML_KEY_BYTES];
        yaml_node_t const *const name = rm_yaml_document_node(of, pair->key);
        char const *const text = (char const *)name->data.scalar.value;
        yaml_node_t const *const value = rm_yaml_document_member(other, beside, text, name->data.scalar.length);
        snprintf(inner, sizeof inner, "%.64s%s%.32s", key, *key == '\0' ? "" : ".", text);
        if (strcmp(inner, LEFT_OUT) == 0)
            continue;
        if (value == NULL)
            note_difference(comparison, inner);
        else if (!absent)
            compare_nodes(comparison, rm_yaml_document_node(of, pair->value), value, inner);
    }
}

static void compare_entries(struct comparison const *comparison, yaml_node_t const *running, yaml_node_t const *wanted,
                            char const *key) {
    long const had = running->data.sequence.items.top - running->data.sequence.items.start;
    long const has = wanted->data.sequence.items.top - wanted->data.sequence.items.start;
    for (long i = 0; i < had || i < has; i++) {
        char inner[RM_YAML_KEY_BYTES];
        snprintf(inner, sizeof inner, "%.100s[%ld]", key, i);
        if (i < had && i < has)
            compare_nodes(comparison, rm_yaml_document_node(comparison->running, running->data.sequence.items.start[i]),
                          rm_yaml_document_node(comparison->wanted, wanted->data.sequence.items.start[i]), inner);
        else
            note_difference(comparison, inner);
    }
}

static bool is_same_scalar(yaml_node_t const *a, yaml_node_t const *b) {
    size_t const length = a->data.scalar.length;
    return length == b->data.scalar.length && memcmp(a->data.scalar.value, b->data.scalar.value, length) == 0;
}

static void compare_nodes(struct comparison const *comparison, yaml_node_t const *running, yaml_node_t const *wanted,
                          char const *key) {
    bool const alike = running->type == wanted->type;
    if (alike && running->type == YAML_MAPPING_NODE) {
        compare_members(comparison, running, wanted, key, false);
        compare_members(comparison, running, wanted, key, true);
    } else if (alike && running->type == YAML_SEQUENCE_NODE) {
        compare_entries(comparison, running, wanted, key);
    } else if (!alike || !is_same_scalar(running, wanted)) {
        note_difference(comparison, key);
    }
}

enum rm_code rm_config_compare(struct rm_config const *running, struct rm_config const *wanted,
                               struct rm_config_difference *difference, struct rm_error *error) {
    *difference = (struct rm_config_difference){.count = 0};
    struct rm_yaml_document first, second;
    enum rm_code code = rm_yaml_document_parse(running->source_path, running->text, &first, error);
    if (code != RM_OK)
        return code;
    code = rm_yaml_document_parse(wanted->source_path, wanted->text, &second, error);
    if (code == RM_OK) {
        compare_nodes(&(struct comparison){&first, &second, difference}, first.root, second.root, "");
        rm_yaml_document_close(&second);
    }
    rm_yaml_document_close(&first);
    size_t const used = strlen(difference->keys);
    if (difference->count > NAMED)
        snprintf(difference->keys + used, sizeof difference->keys - used, " and %u more", difference->count - NAMED);
    return code;
}
