// SPDX-License-Identifier: Apache-2.0
#include "host/host_readings.h"

#include <stdlib.h>
#include <string.h>

static double const ARRAY_SECONDS = 0.1;

bool rm_host_readings_allocate(struct rm_host_readings *readings, struct rm_host_program const *program,
                               double tsc_hz) {
    uint32_t const count = program->code.it->reading_count;
    readings->parameter = calloc(count + 1ul, sizeof *readings->parameter);
    readings->shown = calloc(program->reading_values + 1ul, sizeof *readings->shown);
    readings->shown_tsc = calloc(count + 1ul, sizeof *readings->shown_tsc);
    readings->wait_ticks = (uint64_t)(ARRAY_SECONDS * tsc_hz);
    for (uint32_t i = 0; i < count; ++i)
        readings->has_arrays = readings->has_arrays || program->code.it->readings[i].is_array;
    return readings->parameter != NULL && readings->shown != NULL && readings->shown_tsc != NULL;
}

void rm_host_readings_free(struct rm_host_readings *readings) {
    free((void *)readings->parameter);
    free(readings->shown);
    free(readings->shown_tsc);
}

static void write_one(struct rm_host_readings *readings, struct rm_host_program const *program, uint32_t i,
                      struct rm_stamp stamp) {
    size_t const bytes = program->reading_length[i] * sizeof(double);
    double const *told = program->reading + program->reading_at[i];
    memcpy(readings->shown + program->reading_at[i], told, bytes);
    rm_parameter_write(readings->parameter[i], told, bytes, stamp);
}

void rm_host_readings_begin(struct rm_host_readings *readings, struct rm_host_program const *program) {
    for (uint32_t i = 0; i < program->code.it->reading_count; ++i)
        write_one(readings, program, i, rm_stamp_now());
}

static bool has_changed(struct rm_host_readings const *readings, struct rm_host_program const *program, uint32_t i) {
    uint32_t const at = program->reading_at[i];
    return memcmp(program->reading + at, readings->shown + at, program->reading_length[i] * sizeof(double)) != 0;
}

static void show_array(struct rm_host_readings *readings, struct rm_host_program const *program, struct rm_stamp stamp,
                       uint64_t tsc) {
    uint32_t const count = program->code.it->reading_count;
    for (uint32_t looked = 0; looked < count; ++looked) {
        uint32_t const i = readings->next;
        readings->next = i + 1 < count ? i + 1 : 0;
        bool const waits = readings->shown_tsc[i] != 0 && tsc - readings->shown_tsc[i] < readings->wait_ticks;
        if (!program->code.it->readings[i].is_array || waits)
            continue;
        readings->shown_tsc[i] = tsc;
        if (has_changed(readings, program, i))
            write_one(readings, program, i, stamp);
        return;
    }
}

void rm_host_readings_show(struct rm_host_readings *readings, struct rm_host_program const *program,
                           struct rm_stamp stamp, uint64_t tsc) {
    for (uint32_t i = 0; i < program->code.it->reading_count; ++i)
        if (!program->code.it->readings[i].is_array && has_changed(readings, program, i))
            write_one(readings, program, i, stamp);
    if (readings->has_arrays)
        show_array(readings, program, stamp, tsc);
}
