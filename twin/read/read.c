// SPDX-License-Identifier: Apache-2.0
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "reading.h"

static bool ends_with(char const *path, char const *ending) {
    size_t const length = strlen(path);
    size_t const tail = strlen(ending);
    return length >= tail && strcasecmp(path + length - tail, ending) == 0;
}

static bool read_content(struct rm_lattice_reading *reading, char const *bytes, size_t count,
                         struct rm_lattice_source const *source) {
    static struct rm_lattice_source const open = {0};
    struct rm_lattice_source const *const of = source != NULL ? source : &open;
    if (ends_with(reading->path, ".mat"))
        return rm_read_mat(reading, bytes, count, of->variable);
    if (ends_with(reading->path, ".m"))
        return rm_read_m(reading, bytes, count);
    if (ends_with(reading->path, ".madx") || ends_with(reading->path, ".seq") || ends_with(reading->path, ".lat"))
        return rm_read_madx(reading, bytes, count, of->sequence);
    return rm_reading_fail(reading, "its name tells no format that is known; expected .mat, .m, .madx, .seq or .lat");
}

static enum rm_code finish_lattice(struct rm_lattice_reading *reading, bool held, struct rm_lattice **lattice) {
    struct rm_lattice_facts info;
    enum rm_code code = RM_E_CONFIG;
    if (held && rm_reading_info(reading, &info)) {
        struct rm_error error = {0};
        code = rm_lattice_make(&info, reading->elements, reading->count, lattice, &error);
        if (code != RM_OK)
            rm_fail(reading->error, code, "%s: %.400s", reading->path, error.text);
    } else if (reading->error != NULL) {
        code = reading->error->code;
    }
    rm_reading_end(reading);
    return code;
}

enum rm_code rm_lattice_parse(char const *path, char const *bytes, size_t count, struct rm_lattice_source const *source,
                              struct rm_lattice **lattice, struct rm_error *error) {
    struct rm_lattice_reading reading;
    struct rm_error kept = {0};
    rm_reading_begin(&reading, path, error != NULL ? error : &kept);
    return finish_lattice(&reading, read_content(&reading, bytes, count, source), lattice);
}

enum rm_code rm_lattice_read(char const *path, struct rm_lattice_source const *source, struct rm_lattice **lattice,
                             struct rm_error *error) {
    struct rm_lattice_reading reading;
    struct rm_error kept = {0};
    char const *bytes = NULL;
    size_t count = 0;
    rm_reading_begin(&reading, path, error != NULL ? error : &kept);
    bool const held = rm_reading_load(&reading, path, &bytes, &count) && read_content(&reading, bytes, count, source);
    return finish_lattice(&reading, held, lattice);
}
