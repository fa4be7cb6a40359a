// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "madx.h"

/** FNV-1a of the lower case. */
static uint32_t hash_slot_of(char const *name) {
    uint32_t hash = 2166136261u;
    for (; *name != '\0'; ++name)
        hash = (hash ^ (uint32_t)tolower((unsigned char)*name)) * 16777619u;
    return hash % RM_MADX_SLOTS;
}

struct rm_madx_object *rm_madx_find(struct rm_madx const *madx, char const *name) {
    struct rm_madx_object *object = madx->slots[hash_slot_of(name)];
    while (object != NULL && strcasecmp(object->key, name) != 0)
        object = object->next;
    return object;
}

struct rm_madx_object *rm_madx_define(struct rm_madx *madx, char const *name, enum rm_madx_kind kind) {
    struct rm_madx_object *object = rm_madx_find(madx, name);
    char *const copy = rm_reading_text(madx->reading, name, strlen(name));
    if (copy == NULL)
        return NULL;
    if (object == NULL) {
        object = rm_reading_take(madx->reading, 1, sizeof *object);
        if (object == NULL)
            return NULL;
        uint32_t const slot = hash_slot_of(name);
        object->next = madx->slots[slot];
        madx->slots[slot] = object;
    }
    struct rm_madx_object *const next = object->next;
    *object = (struct rm_madx_object){.key = copy, .name = copy, .kind = kind, .where = madx->here, .next = next};
    return object;
}

struct rm_madx_attribute_value const *rm_madx_attribute(struct rm_madx_attribute_list const *attributes,
                                                        char const *name) {
    for (uint32_t i = attributes != NULL ? attributes->count : 0; i-- > 0;)
        if (strcmp(attributes->list[i].name, name) == 0)
            return &attributes->list[i];
    return NULL;
}

char const *rm_madx_word(struct rm_madx *madx, struct rm_madx_attribute_list const *attributes, char const *name) {
    struct rm_madx_attribute_value const *const attribute = rm_madx_attribute(attributes, name);
    if (attribute == NULL)
        return NULL;
    char const *text = attribute->text;
    size_t length = strlen(text);
    if (length >= 2 && (text[0] == '"' || text[0] == '\'') && text[length - 1] == text[0]) {
        ++text;
        length -= 2;
    }
    char *const word = rm_reading_text(madx->reading, text, length);
    for (char *c = word; c != NULL && *c != '\0'; ++c)
        *c = (char)tolower((unsigned char)*c);
    return word;
}

void rm_madx_at(struct rm_madx *madx, struct rm_madx_where const *where, char const *name) {
    if (where->path != NULL)
        madx->reading->path = where->path;
    if (name != NULL)
        rm_reading_at(madx->reading, "line %u (%.60s)", where->line, name);
    else
        rm_reading_at(madx->reading, "line %u", where->line);
}
