// SPDX-License-Identifier: Apache-2.0
#include "csv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char const BYTE_ORDER_MARK[] = "\xEF\xBB\xBF";

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static enum rm_code feedback_csv_take_text(char const *path, char *text, size_t bytes, struct feedback_csv *csv,
                                           struct rm_error *error) {
    *csv = (struct feedback_csv){.text = text, .place = {.path = path}};
    text[bytes] = '\0';
    if (memchr(text, '\0', bytes) != NULL) {
        feedback_csv_close(csv);
        return feedback_fail(error, RM_E_CONFIG, "%s: has a byte of 0, expected a file of text", path);
    }
    csv->next_line = text;
    if (strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0)
        csv->next_line += strlen(BYTE_ORDER_MARK);
    return RM_OK;
}

enum rm_code feedback_csv_parse(char const *path, char const *text, size_t bytes, struct feedback_csv *csv,
                                struct rm_error *error) {
    char *copy = malloc(bytes + 1);
    if (copy == NULL)
        return feedback_fail(error, RM_E_NO_SPACE, "%s: no memory for %zu bytes", path, bytes);
    memcpy(copy, text, bytes);
    return feedback_csv_take_text(path, copy, bytes, csv, error);
}

/* Grows as it reads, so that pipes are read as files are. */
static enum rm_code read_all(FILE *file, char const *path, char **text, size_t *bytes, struct rm_error *error) {
    size_t room = 1 << 16;
    *bytes = 0;
    *text = malloc(room);
    while (*text != NULL) {
        size_t const got = fread(*text + *bytes, 1, room - *bytes - 1, file);
        *bytes += got;
        if (got == 0)
            return RM_OK;
        if (*bytes > FEEDBACK_CSV_BYTES_MOST)
            return feedback_fail(error, RM_E_CONFIG, "%s: longer than %u MiB, expected a table of text", path,
                                 FEEDBACK_CSV_BYTES_MOST >> 20);
        if (room - *bytes > 1)
            continue;
        char *larger = realloc(*text, room *= 2);
        if (larger == NULL)
            break;
        *text = larger;
    }
    return feedback_fail(error, RM_E_NO_SPACE, "%s: no memory for more than %zu bytes", path, *bytes);
}

enum rm_code feedback_csv_open(char const *path, struct feedback_csv *csv, struct rm_error *error) {
    *csv = (struct feedback_csv){.text = NULL};
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return feedback_fail(error, RM_E_SYSTEM, "%s: cannot be opened: %s", path, strerror(errno));
    char *text = NULL;
    size_t bytes = 0;
    errno = 0;
    enum rm_code code = read_all(file, path, &text, &bytes, error);
    if (code == RM_OK && ferror(file))
        code = feedback_fail(error, RM_E_SYSTEM, "%s: cannot be read: %s", path, strerror(errno));
    fclose(file);
    if (code == RM_OK)
        return feedback_csv_take_text(path, text, bytes, csv, error);
    free(text);
    return code;
}

void feedback_csv_close(struct feedback_csv *csv) {
    free(csv->text);
    *csv = (struct feedback_csv){.text = NULL};
}

static void feedback_csv_next_cell(struct feedback_csv *csv) {
    csv->line = csv->at = csv->next_line;
    char *end = strchr(csv->line, '\n');
    csv->next_line = end == NULL ? NULL : end + 1;
    if (end != NULL)
        *end = '\0';
    ++csv->place.line;
    csv->place.column = 1;
}

bool feedback_csv_line(struct feedback_csv *csv) {
    while (csv->next_line != NULL) {
        feedback_csv_next_cell(csv);
        char const *first = csv->line;
        while (is_blank(*first))
            ++first;
        if (*first != '\0' && *first != '#')
            return true;
    }
    return false;
}

static char *skip_blanks(char *at) {
    while (is_blank(*at))
        ++at;
    return at;
}

/* Behind a field: the comma is cut out, and where none follows the line is over. */
static void feedback_csv_leave_cell(struct feedback_csv *csv, char *end) {
    csv->at = *end == ',' ? end + 1 : NULL;
    *end = '\0';
}

static enum rm_code feedback_csv_read_quoted(struct feedback_csv *csv, char *open, char **field,
                                             struct rm_error *error) {
    char *to = open;
    char *from = open + 1;
    bool closed = false;
    while (*from != '\0' && !closed) {
        bool const is_pair = from[0] == '"' && from[1] == '"';
        closed = *from == '"' && !is_pair;
        if (!closed)
            *to++ = *from;
        from += is_pair ? 2 : 1;
    }
    char *end = skip_blanks(from);
    if (!closed || (*end != ',' && *end != '\0'))
        return feedback_fail_at(error, &csv->place, "a quoted field must end with a quote before its comma");
    feedback_csv_leave_cell(csv, end);
    *to = '\0';
    *field = open;
    return RM_OK;
}

enum rm_code feedback_csv_field(struct feedback_csv *csv, char **field, struct rm_error *error) {
    *field = NULL;
    if (csv->at == NULL)
        return RM_OK;
    char *begin = skip_blanks(csv->at);
    csv->place.column = (uint32_t)(begin - csv->line) + 1;
    if (*begin == '"')
        return feedback_csv_read_quoted(csv, begin, field, error);
    char *end = begin + strcspn(begin, ",");
    char *last = end;
    while (last > begin && is_blank(last[-1]))
        --last;
    feedback_csv_leave_cell(csv, end);
    *last = '\0';
    *field = begin;
    return RM_OK;
}

enum rm_code feedback_csv_number(struct feedback_csv const *csv, char const *field, char const *what, double *number,
                                 struct rm_error *error) {
    char text[FEEDBACK_QUOTED_BYTES];
    char *end = NULL;
    *number = strtod(field, &end);
    /* strtod would also take "inf", "nan(…)" and hexadecimal ones. */
    bool const plain = field[strspn(field, "+-.0123456789eE")] == '\0';
    if (*field != '\0' && *end == '\0' && plain && isfinite(*number))
        return RM_OK;
    return feedback_fail_at(error, &csv->place, "found %s, expected a finite number: %s", feedback_quote(field, text),
                            what);
}

static enum rm_code feedback_csv_read_pair(struct feedback_csv *csv, char const *what, char **name, double *number,
                                           struct rm_error *error) {
    char *field = NULL;
    enum rm_code code = feedback_csv_field(csv, name, error);
    struct feedback_place const at_name = csv->place;
    if (code == RM_OK)
        code = feedback_csv_field(csv, &field, error);
    if (code == RM_OK && field == NULL)
        return feedback_fail_at(error, &csv->place, "one field, expected NAME,number: %s", what);
    if (code == RM_OK)
        code = feedback_csv_number(csv, field, what, number, error);
    if (code == RM_OK)
        code = feedback_csv_field(csv, &field, error);
    if (code == RM_OK && field != NULL)
        return feedback_fail_at(error, &csv->place, "more than two fields, expected NAME,number: %s", what);
    csv->place = at_name;
    return code;
}

enum rm_code feedback_csv_pairs(struct feedback_csv *csv, char const *what,
                                enum rm_code (*take_pair)(void *context, struct feedback_csv const *csv,
                                                          char const *name, double number, struct rm_error *error),
                                void *context, struct rm_error *error) {
    enum rm_code code = RM_OK;
    while (code == RM_OK && feedback_csv_line(csv)) {
        char *name = NULL;
        double number = 0;
        code = feedback_csv_read_pair(csv, what, &name, &number, error);
        if (code == RM_OK)
            code = take_pair(context, csv, name, number, error);
    }
    return code;
}
