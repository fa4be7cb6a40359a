// SPDX-License-Identifier: Apache-2.0
/** Definitions: variables, elements, lines and sequences. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "madx.h"

static char const *madx_define_skip_space(char const *at) {
    while (isspace((unsigned char)*at))
        ++at;
    return at;
}

static bool is_name(char c) { return isalnum((unsigned char)c) || (c != '\0' && strchr("_.$'%", c) != NULL); }

bool rm_madx_read_name(struct rm_madx *madx, char const **from, char name[RM_MADX_NAME_BYTES]) {
    char const *at = madx_define_skip_space(*from);
    size_t length = 0;
    bool const quoted = *at == '"';
    at += quoted ? 1 : 0;
    while (*at != '\0' && length < RM_MADX_NAME_BYTES - 1 && (quoted ? *at != '"' : is_name(*at)))
        name[length++] = *at++;
    name[length] = '\0';
    at += quoted && *at == '"' ? 1 : 0;
    *from = madx_define_skip_space(at);
    if (length == RM_MADX_NAME_BYTES - 1)
        return rm_reading_fail(madx->reading, "a name is longer than %d: %.40s...", RM_MADX_NAME_BYTES - 1, name);
    return true;
}

char rm_madx_read_equals(char const **from) {
    char const *const at = madx_define_skip_space(*from);
    bool const deferred = at[0] == ':' && at[1] == '=';
    if (!deferred && *at != '=')
        return 0;
    *from = madx_define_skip_space(at + (deferred ? 2 : 1));
    return deferred ? ':' : '=';
}

bool rm_madx_set_variable(struct rm_madx *madx, char const *name, char const *text, bool deferred) {
    struct rm_madx_attribute_value value = {.name = "", .text = rm_reading_text(madx->reading, text, strlen(text))};
    if (value.text == NULL || (!deferred && !rm_madx_fix(madx, &value)))
        return false;
    struct rm_madx_object *const variable = rm_madx_define(madx, name, RM_MADX_VARIABLE);
    if (variable != NULL)
        variable->value = value;
    return variable != NULL;
}

bool rm_madx_append(struct rm_madx *madx, struct rm_madx_object *sequence, char const *name,
                    struct rm_madx_attribute_list const *attributes) {
    struct rm_madx_entry *const entry = rm_reading_take(madx->reading, 1, sizeof *entry);
    char *const copy = rm_reading_text(madx->reading, name, strlen(name));
    if (entry == NULL || copy == NULL)
        return false;
    *entry = (struct rm_madx_entry){.name = copy, .attributes = *attributes, .where = madx->here};
    if (sequence->entries == NULL)
        sequence->entries = entry;
    else
        sequence->last_entry->next = entry;
    sequence->last_entry = entry;
    return true;
}

/** A line's list, behind LINE: = (…). */
static bool define_line(struct rm_madx *madx, char const *label, char const *text) {
    if (rm_madx_read_equals(&text) == 0 || *text != '(')
        return rm_reading_fail(madx->reading, "line %.60s: expected = (ELEMENT, ...)", label);
    char *const list = rm_reading_text(madx->reading, text, strlen(text));
    struct rm_madx_object *const line = list != NULL ? rm_madx_define(madx, label, RM_MADX_LINE) : NULL;
    if (line == NULL)
        return false;
    line->value.text = list;
    madx->last = line;
    return true;
}

bool rm_madx_define_element(struct rm_madx *madx, char const *label, char const *base,
                            struct rm_madx_attribute_list const *attributes) {
    struct rm_madx_object const *const from = rm_madx_find(madx, base);
    struct rm_madx_attribute_list all = {0};
    if (from != NULL && from->kind == RM_MADX_ELEMENT)
        all = from->attributes;
    char *const copy = rm_reading_text(madx->reading, base, strlen(base));
    if (copy == NULL || !rm_madx_join(madx, &all, attributes))
        return false;
    struct rm_madx_object *const element = rm_madx_define(madx, label, RM_MADX_ELEMENT);
    if (element == NULL)
        return false;
    element->base = copy;
    element->attributes = all;
    return true;
}

static bool define_sequence(struct rm_madx *madx, char const *label, struct rm_madx_attribute_list const *attributes) {
    struct rm_madx_object *const sequence = rm_madx_define(madx, label, RM_MADX_SEQUENCE);
    if (sequence == NULL)
        return false;
    sequence->attributes = *attributes;
    madx->open = sequence;
    madx->last = sequence;
    return true;
}

bool rm_madx_define_labelled(struct rm_madx *madx, char const *label, char const *text) {
    struct rm_madx_attribute_list attributes;
    char base[RM_MADX_NAME_BYTES];
    rm_madx_at(madx, &madx->here, label);
    if (!rm_madx_read_name(madx, &text, base))
        return false;
    if (base[0] == '\0')
        return rm_reading_fail(madx->reading, "expected a class behind the colon, found \"%.20s\"", text);
    if (strcasecmp(base, "line") == 0)
        return define_line(madx, label, text);
    if (*text != ',' && *text != '\0')
        return rm_reading_fail(madx->reading, "expected ',' behind %.60s, found \"%.20s\"", base, text);
    if (!rm_madx_attributes(madx, text, &attributes))
        return false;
    if (strcasecmp(base, "sequence") == 0)
        return define_sequence(madx, label, &attributes);
    if (!rm_madx_define_element(madx, label, base, &attributes))
        return false;
    return madx->open == NULL || rm_madx_append(madx, madx->open, label, &attributes);
}
