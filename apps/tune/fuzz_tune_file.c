// SPDX-License-Identifier: Apache-2.0
/** Whatever the bytes: refused with an error that names the file, or BPMs with optics, and bands that have room. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "file.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static bool is_between(double value, double low, double high) { return value >= low && value <= high; }

static void check(struct tune_file const *file) {
    if (file->bpms == 0 || file->bpms > TUNE_BPMS_MAX || file->known_lines > TUNE_KNOWN_LINES_MAX ||
        file->window_turns % 2 != 0 || !is_between(file->window_turns, TUNE_TURNS_MIN, TUNE_TURNS_MAX))
        abort();
    for (int plane = 0; plane < TUNE_PLANES; ++plane)
        if (!tune_meter_has_room(file->window_turns, file->low[plane], file->high[plane]))
            abort();
    for (uint32_t b = 0; b < file->bpms; ++b)
        for (int plane = 0; plane < TUNE_PLANES; ++plane) {
            struct tune_file_bpm const *const bpm = &file->bpm[b];
            if (strchr(bpm->lane[plane], '/') == NULL || !(bpm->beta_m[plane] > 0.0) || !(bpm->noise > 0.0) ||
                !isfinite(bpm->phase_rad[plane]))
                abort();
        }
}

/** Each error names the file; its words are one line. */
static void check_errors(struct rm_errors const *errors, char const *path) {
    if (errors->count == 0)
        abort();
    for (uint32_t e = 0; e < errors->count && e < RM_ERRORS_MAX; ++e)
        if (strncmp(errors->first[e].text, path, strlen(path)) != 0 || strchr(errors->first[e].text, '\n') != NULL)
            abort();
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    struct tune_file file = {.bpms = 0};
    struct rm_errors errors = {.count = 0};
    char path[32];
    int const memory = memfd_create("tune", MFD_CLOEXEC);
    if (memory < 0 || write(memory, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    if (rm_configuration_load(path, tune_keys, &file, tune_file_check, &errors) == RM_OK)
        check(&file);
    else
        check_errors(&errors, path);
    rm_configuration_free(tune_keys, &file);
    close(memory);
    return 0;
}
