// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/csv.h>

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static char const BYTE_ORDER_MARK[] = "\xEF\xBB\xBF";

/** The file up to its first zero byte, which shows as `*bytes` behind the text's end; NULL with errno when it cannot be
 * read. */
static char *read_file(char const *path, size_t *bytes) {
    FILE *const file = fopen(path, "re");
    if (file == NULL)
        return NULL;
    char *text = NULL;
    size_t room = 0;
    ssize_t const length = getdelim(&text, &room, '\0', file);
    bool const failed = ferror(file) != 0;
    int const reason = errno;
    fclose(file);
    if (failed || text == NULL) {
        free(text);
        errno = reason;
        return NULL;
    }
    *bytes = length > 0 ? (size_t)length : 0;
    text[*bytes] = '\0';
    return text;
}

/** Takes the text over, which is the reader's from now on. */
static enum rm_code begin_csv(struct rm_csv *csv, char *text, size_t bytes, struct rm_error *error) {
    csv->text = text;
    if (strlen(text) != bytes)
        return rm_fail(error, RM_E_CONFIG, "%s: holds a zero byte, expected text in UTF-8", csv->path);
    bool const marked = strncmp(text, BYTE_ORDER_MARK, sizeof BYTE_ORDER_MARK - 1) == 0;
    csv->next = text + (marked ? sizeof BYTE_ORDER_MARK - 1 : 0);
    return RM_OK;
}

enum rm_code rm_csv_open(char const *path, struct rm_csv *csv, struct rm_error *error) {
    *csv = (struct rm_csv){.path = path};
    size_t bytes = 0;
    char *const text = read_file(path, &bytes);
    if (text == NULL)
        return rm_fail(error, RM_E_SYSTEM, "%s: cannot be read: %s", path, strerror(errno));
    return begin_csv(csv, text, bytes, error);
}

enum rm_code rm_csv_parse(char const *path, char const *text, size_t bytes, struct rm_csv *csv,
                          struct rm_error *error) {
    *csv = (struct rm_csv){.path = path};
    char *const copy = malloc(bytes + 1);
    if (copy == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory for %zu bytes", path, bytes);
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    return begin_csv(csv, copy, bytes, error);
}

void rm_csv_close(struct rm_csv *csv) {
    free(csv->text);
    free(csv->cell);
    *csv = (struct rm_csv){.text = NULL};
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static char *skip_blanks(char *text) {
    while (is_blank(*text))
        ++text;
    return text;
}

/** Takes the quotes off the text that begins behind one; returns where it goes on behind the other, or NULL. */
static char *unquote_cell(char *text) {
    char *to = text;
    for (; *text != '\0'; ++text) {
        if (*text == '"' && text[1] != '"') {
            *to = '\0';
            return text + 1;
        }
        text += *text == '"';
        *to++ = *text;
    }
    return NULL;
}

/** Ends the unquoted text at the next comma, without the blanks before it; returns where that comma is, or the end. */
static char *plain_cell_end(char *text, bool *comma) {
    char *const end = text + strcspn(text, ",");
    *comma = *end == ',';
    char *last = end;
    while (last > text && is_blank(last[-1]))
        --last;
    *last = '\0';
    return end;
}

/** Room for one more cell, which is the last one then. */
static struct rm_csv_cell *add_cell(struct rm_csv *csv) {
    if (csv->cell_count == csv->cell_room) {
        uint32_t const room = csv->cell_room == 0 ? 64 : 2 * csv->cell_room;
        struct rm_csv_cell *const cell = reallocarray(csv->cell, room, sizeof *cell);
        if (cell == NULL)
            return NULL;
        csv->cell = cell;
        csv->cell_room = room;
    }
    return &csv->cell[csv->cell_count++];
}

/** Cuts one line, which ends with a zero, into cells. */
static enum rm_code cut_line(struct rm_csv *csv, char *line, struct rm_error *error) {
    csv->cell_count = 0;
    char *at = line;
    for (bool more = true; more;) {
        at = skip_blanks(at);
        uint32_t const column = (uint32_t)(at - line) + 1;
        struct rm_csv_cell *const cell = add_cell(csv);
        if (cell == NULL)
            return rm_fail(error, RM_E_NO_SPACE, "%s: no memory for the cells of line %u", csv->path, csv->line);
        if (*at != '"') {
            *cell = (struct rm_csv_cell){at, column};
            at = plain_cell_end(at, &more) + 1;
            continue;
        }
        *cell = (struct rm_csv_cell){at + 1, column};
        at = unquote_cell(at + 1);
        if (at == NULL)
            return rm_csv_fail(csv, error, column, "the quote that begins here does not end in this line");
        at = skip_blanks(at);
        more = *at == ',';
        if (!more && *at != '\0')
            return rm_csv_fail(csv, error, (uint32_t)(at - line) + 1,
                               "expected a comma or the end of the line behind a quoted cell");
        ++at;
    }
    return RM_OK;
}

static bool is_csv_row(struct rm_csv const *csv) {
    for (uint32_t i = 0; i < csv->cell_count; ++i)
        if (csv->cell[i].text[0] != '\0')
            return true;
    return false;
}

enum rm_code rm_csv_next(struct rm_csv *csv, bool *more, struct rm_error *error) {
    while (*csv->next != '\0') {
        char *const line = csv->next;
        size_t length = strcspn(line, "\n");
        csv->next = line + length + (line[length] == '\n');
        ++csv->line;
        if (length > 0 && line[length - 1] == '\r')
            --length;
        line[length] = '\0';
        if (*skip_blanks(line) == '#')
            continue;
        enum rm_code const code = cut_line(csv, line, error);
        if (code != RM_OK)
            return code;
        if (is_csv_row(csv)) {
            *more = true;
            return RM_OK;
        }
    }
    *more = false;
    return RM_OK;
}

enum rm_code rm_csv_fail(struct rm_csv const *csv, struct rm_error *error, uint32_t column, char const *format, ...) {
    char text[RM_ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return rm_fail(error, RM_E_CONFIG, "%s:%u:%u: %s", csv->path, csv->line, column, text);
}

enum rm_code rm_csv_number(struct rm_csv const *csv, struct rm_csv_cell const *cell, char const *what, double *number,
                           struct rm_error *error) {
    char *end = NULL;
    *number = strtod(cell->text, &end);
    /* strtod would also take "inf", "nan(…)" and hexadecimal ones. */
    bool const decimal = cell->text[strspn(cell->text, "0123456789.+-eE")] == '\0';
    if (decimal && end != cell->text && *end == '\0' && isfinite(*number))
        return RM_OK;
    char quoted[RM_QUOTED_BYTES];
    return rm_csv_fail(csv, error, cell->column, "found %s, expected a number such as -1.5e-6: %s",
                       rm_quote(cell->text, strlen(cell->text), quoted), what);
}
