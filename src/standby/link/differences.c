// SPDX-License-Identifier: Apache-2.0
#include "standby/link/differences.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/** A line in a text: key and value, neither with an end of its own. */
struct line_view {
    char const *key, *value, *next;
    size_t key_bytes, value_bytes;
};

/** The line at `at`; false at the end of the text. */
static bool line_at(char const *at, struct line_view *line) {
    if (*at == '\0')
        return false;
    size_t const bytes = strcspn(at, "\n");
    char const *colon = NULL;
    for (char const *c = at; c + 1 < at + bytes && colon == NULL; ++c)
        if (c[0] == ':' && c[1] == ' ')
            colon = c;
    line->key = at;
    line->key_bytes = colon == NULL ? bytes : (size_t)(colon - at);
    line->value = colon == NULL ? at + bytes : colon + 2;
    line->value_bytes = (size_t)(at + bytes - line->value);
    line->next = at + bytes + (at[bytes] == '\n');
    return true;
}

static bool bytes_equal(char const *one, size_t one_bytes, char const *other, size_t other_bytes) {
    return one_bytes == other_bytes && memcmp(one, other, one_bytes) == 0;
}

/** The line of this key among the lines from `at` up to `end`; NULL: up to the last one. */
static bool line_find_between(char const *at, char const *end, struct line_view const *wanted,
                              struct line_view *found) {
    for (; at != end && line_at(at, found); at = found->next)
        if (bytes_equal(found->key, found->key_bytes, wanted->key, wanted->key_bytes))
            return true;
    return false;
}

/** The line of this key. It is looked for from `*from` on, which is then behind it: two texts have their lines in one
 * order as a rule, and may have very many. */
static bool line_find(char const *lines, char const **from, struct line_view const *wanted, struct line_view *found) {
    if (!line_find_between(*from, NULL, wanted, found) && !line_find_between(lines, *from, wanted, found))
        return false;
    *from = found->next;
    return true;
}

/** A text that is being written, cut where it ends. */
struct text_end {
    char *at;
    size_t room;
};

__attribute__((format(printf, 2, 3))) static void text_add(struct text_end *text, char const *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int const length = vsnprintf(text->at, text->room, format, arguments);
    va_end(arguments);
    size_t const written = length < 0 ? 0 : (size_t)length < text->room ? (size_t)length : text->room - 1;
    text->at += written;
    text->room -= written;
}

enum { SHOWN = 4, VALUE_SHOWN = 60 };

static int shown(size_t bytes) { return bytes < VALUE_SHOWN ? (int)bytes : VALUE_SHOWN; }

static void difference_add(struct text_end *text, uint32_t number, struct line_view const *line, char const *name,
                           char const *other_name, struct line_view const *other) {
    if (number >= SHOWN)
        return;
    text_add(text, "%s%.*s: %s has \"%.*s\", %s has ", number > 0 ? "; " : "", (int)line->key_bytes, line->key, name,
             shown(line->value_bytes), line->value, other_name);
    if (other == NULL)
        text_add(text, "no such line");
    else
        text_add(text, "\"%.*s\"", shown(other->value_bytes), other->value);
}

uint32_t rm_peer_lines_compare(char const *own_name, char const *own, char const *peer_name, char const *peer,
                               char *text, size_t size) {
    struct text_end end = {text, size};
    struct line_view line, other;
    char const *own_from = own, *peer_from = peer;
    uint32_t count = 0;
    text[0] = '\0';
    for (char const *at = own; line_at(at, &line); at = line.next) {
        bool const found = line_find(peer, &peer_from, &line, &other);
        if (!found || !bytes_equal(line.value, line.value_bytes, other.value, other.value_bytes))
            difference_add(&end, count++, &line, own_name, peer_name, found ? &other : NULL);
    }
    for (char const *at = peer; line_at(at, &line); at = line.next)
        if (!line_find(own, &own_from, &line, &other))
            difference_add(&end, count++, &line, peer_name, own_name, NULL);
    if (count > SHOWN)
        text_add(&end, "; and %u more", count - SHOWN);
    return count;
}
