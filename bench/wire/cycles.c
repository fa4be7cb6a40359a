// SPDX-License-Identifier: Apache-2.0
#include "cycles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

enum rm_code rm_cycles_new(struct rm_cycles *cycles, size_t capacity, struct rm_error *error) {
    size_t bytes;
    *cycles = (struct rm_cycles){.capacity = capacity};
    bool const fits = !__builtin_mul_overflow(capacity, sizeof *cycles->row, &bytes);
    cycles->row = fits && capacity != 0 ? malloc(bytes) : NULL;
    if (capacity != 0 && cycles->row == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the rows of %zu cycles: measure for a shorter time",
                       capacity);
    if (capacity != 0)
        memset(cycles->row, 0, bytes); /* touches every page, so that none is missing later */
    return RM_OK;
}

void rm_cycles_free(struct rm_cycles *cycles) {
    free(cycles->row);
    *cycles = (struct rm_cycles){0};
}

enum rm_code rm_cycles_write(struct rm_cycles const *cycles, uint32_t link, struct rm_tally_range const *window,
                             FILE *file, struct rm_error *error) {
    uint64_t const known = window->end > window->begin ? window->end - window->begin : 0;
    size_t const count = known < cycles->capacity ? known : cycles->capacity;
    for (size_t i = 0; i < count; ++i) {
        struct rm_cycle_row row = cycles->row[i];
        row.link = link;
        row.cycle = window->begin + i;
        if (fwrite(&row, sizeof row, 1, file) != 1)
            return rm_fail(error, RM_E_SYSTEM, "cannot write the rows of cycles: %s", strerror(errno));
    }
    return RM_OK;
}

enum rm_code rm_cycles_open(char const *path, FILE **file, struct rm_error *error) {
    *file = path != NULL ? fopen(path, "wbe") : NULL;
    return path == NULL || *file != NULL
               ? RM_OK
               : rm_fail(error, RM_E_SYSTEM, "--cycles %s: cannot write: %s", path, strerror(errno));
}

enum rm_code rm_cycles_close(char const *path, FILE *file, enum rm_code code, struct rm_error *error) {
    if (file == NULL || fclose(file) == 0 || code != RM_OK)
        return code;
    return rm_fail(error, RM_E_SYSTEM, "--cycles %s: cannot write: %s", path, strerror(errno));
}

enum rm_code rm_cycles_check(char const *path, double rate_hz, double seconds, uint32_t links, struct rm_error *error) {
    double const rows = rate_hz * seconds * links;
    if (path != NULL && rate_hz <= 0)
        return rm_fail(error, RM_E_ARGUMENT, "--cycles: needs a --rate; without one there are no cycles to be timed");
    if (path != NULL && rows > RM_CYCLES_MOST)
        return rm_fail(error, RM_E_ARGUMENT,
                       "--cycles: there would be %.0f rows, at most %d can be kept; ask for a shorter time", rows,
                       RM_CYCLES_MOST);
    return RM_OK;
}
