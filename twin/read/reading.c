// SPDX-License-Identifier: Apache-2.0
#include "reading.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"

void rm_reading_begin(struct rm_lattice_reading *reading, char const *path, struct rm_error *error) {
    memset(reading, 0, sizeof *reading);
    reading->path = path;
    reading->error = error;
    reading->plain = newlocale(LC_ALL_MASK, "C", NULL);
    reading->facts = (struct rm_ring_facts){.rest_energy_ev = NAN,
                                            .charge_e = NAN,
                                            .energy_ev = NAN,
                                            .cavity_energy_ev = NAN,
                                            .element_energy_ev = NAN,
                                            .periodicity = NAN,
                                            .cell_harmonic_number = NAN};
}

void rm_reading_end(struct rm_lattice_reading *reading) {
    if (reading->plain != NULL)
        freelocale(reading->plain);
    rm_scratch_free(&reading->scratch);
    free(reading->elements);
}

bool rm_reading_fail(struct rm_lattice_reading *reading, char const *format, ...) {
    if (reading->failed)
        return false;
    reading->failed = true;
    char text[RM_ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    bool const placed = reading->place[0] != '\0';
    rm_fail(reading->error, RM_E_CONFIG, "%s: %s%s%s", reading->path, reading->place, placed ? ": " : "", text);
    return false;
}

void rm_reading_at(struct rm_lattice_reading *reading, char const *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reading->place, sizeof reading->place, format, arguments);
    va_end(arguments);
}

static bool no_memory(struct rm_lattice_reading *reading) {
    reading->failed = true;
    rm_fail(reading->error, RM_E_NO_SPACE, "%s: no memory left to read it; free some memory", reading->path);
    return false;
}

/** True when so much more may be taken; what a file repeats can be more than any memory. */
static bool may_take(struct rm_lattice_reading *reading, size_t count, size_t bytes) {
    size_t const left = RM_MOST_MEMORY_BYTES - reading->taken;
    if (bytes != 0 && count > left / bytes)
        return rm_reading_fail(reading, "it needs more than %d bytes to read; that is no lattice",
                               RM_MOST_MEMORY_BYTES);
    reading->taken += count * bytes;
    return true;
}

void *rm_reading_take(struct rm_lattice_reading *reading, size_t count, size_t bytes) {
    if (!may_take(reading, count, bytes))
        return NULL;
    void *const memory = rm_scratch_take(&reading->scratch, count, bytes);
    if (memory == NULL)
        no_memory(reading);
    return memory;
}

char *rm_reading_text(struct rm_lattice_reading *reading, char const *text, size_t length) {
    char *const copy = rm_reading_take(reading, length + 1, 1);
    if (copy != NULL && length != 0)
        memcpy(copy, text, length);
    return copy;
}

double rm_reading_number(struct rm_lattice_reading const *reading, char const *text, char const **end) {
    char *behind = (char *)(uintptr_t)text;
    bool const begins = isdigit((unsigned char)text[0]) || (text[0] == '.' && isdigit((unsigned char)text[1]));
    double number = 0;
    if (begins && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        behind += 1; /* strtod would read a hexadecimal number */
    else if (begins)
        number = strtod_l(text, &behind, reading->plain);
    *end = behind;
    return number;
}

static bool refuse_file(struct rm_lattice_reading *reading, char const *path, int number) {
    if (strcmp(path, reading->path) != 0) /* a file that another one calls */
        return rm_reading_fail(reading, "%s: %s; name a file that can be read", path, strerror(number));
    reading->failed = true;
    enum rm_code const code = number == ENOENT ? RM_E_NOT_FOUND : RM_E_SYSTEM;
    rm_fail(reading->error, code, "%s: %s; name a lattice file that can be read", path, strerror(number));
    return false;
}

/** A folder, a device or a pipe. */
static bool refuse_kind(struct rm_lattice_reading *reading, char const *path) {
    bool const called = strcmp(path, reading->path) != 0;
    return rm_reading_fail(reading, "%s%sthis is no ordinary file; name one", called ? path : "", called ? ": " : "");
}

/** What is left of the file, a page or more at a time; NULL when it cannot be read, with errno. */
static char *all_of(FILE *file, size_t *count) {
    char *bytes = NULL;
    size_t room = 0;
    size_t got = 0;
    for (;;) {
        if (got + 1 >= room) {
            room = room == 0 ? 1 << 16 : room * 2;
            char *const more = realloc(bytes, room);
            if (more == NULL)
                break;
            bytes = more;
        }
        size_t const part = fread(bytes + got, 1, room - got - 1, file);
        got += part;
        if (part == 0 || got > RM_MOST_FILE_BYTES) {
            bytes[got] = '\0';
            *count = got;
            if (ferror(file))
                break;
            return bytes;
        }
    }
    free(bytes);
    return NULL;
}

bool rm_reading_load(struct rm_lattice_reading *reading, char const *path, char const **bytes, size_t *count) {
    int const descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait for its writer */
    struct stat about;
    FILE *const file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    if (file == NULL)
        return refuse_file(reading, path, errno);
    if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
        (void)fclose(file);
        return refuse_kind(reading, path);
    }
    char *const read = all_of(file, count);
    int const number = errno;
    (void)fclose(file);
    if (read == NULL)
        return refuse_file(reading, path, number);
    bool held = true;
    if (*count > RM_MOST_FILE_BYTES)
        held = rm_reading_fail(reading, "%s has more than %d bytes; that is no lattice", path, RM_MOST_FILE_BYTES);
    *bytes = held ? rm_reading_text(reading, read, *count) : NULL;
    free(read);
    return *bytes != NULL;
}

bool rm_reading_add(struct rm_lattice_reading *reading, struct rm_element const *element) {
    if (reading->count == RM_MOST_ELEMENTS)
        return rm_reading_fail(reading,
                               "more than %d elements; a lattice may have as many at most, so look for a "
                               "repetition that was not meant",
                               RM_MOST_ELEMENTS);
    if (reading->count == reading->room) {
        uint32_t const room = reading->room == 0 ? 64 : reading->room * 2;
        struct rm_element *const more = realloc(reading->elements, room * sizeof *more);
        if (more == NULL)
            return no_memory(reading);
        reading->elements = more;
        reading->room = room;
    }
    reading->elements[reading->count++] = *element;
    return true;
}
