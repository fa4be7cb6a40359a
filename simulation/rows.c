// SPDX-License-Identifier: Apache-2.0
#include "rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "recording.h"

enum { NAME_BYTES = RM_NAME_BYTES + 8 };

static void rows_file_name(struct rm_simulation_rows const *rows, uint32_t i, char name[NAME_BYTES]) {
    snprintf(name, NAME_BYTES, "%.*s.rows", RM_NAME_BYTES, rows->program->code.it->rows[i].name);
}

enum rm_code rm_simulation_rows_open(struct rm_simulation_rows *rows, char const *out,
                                     struct rm_host_program const *program, struct rm_error *error) {
    *rows = (struct rm_simulation_rows){.program = program, .folder = out};
    rows->file = calloc(program->rows.count + 1ul, sizeof *rows->file);
    if (rows->file == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory to record rows");
    for (uint32_t i = 0; i < program->rows.count; ++i) {
        char name[NAME_BYTES];
        rows_file_name(rows, i, name);
        if (program->rows.shape[i].width > 0 && (rows->file[i] = rm_recording_file(out, name, error)) == NULL)
            return RM_E_SYSTEM;
    }
    return RM_OK;
}

void rm_simulation_rows_put(struct rm_simulation_rows *rows, rm_turn turn) {
    for (uint32_t i = 0; rows->program != NULL && i < rows->program->rows.count; ++i) {
        struct rm_row const *row = &rows->program->rows.row[i];
        if (row->value == NULL)
            continue;
        uint64_t const head[2] = {turn, row->quality};
        fwrite(head, sizeof head, 1, rows->file[i]); // what fails is found at the end
        fwrite(row->value, sizeof *row->value, rows->program->rows.shape[i].width, rows->file[i]);
    }
}

static void rows_print_member(FILE *out, char const *name, char const *text) {
    fprintf(out, ", \"%s\": ", name);
    rm_json_text(out, text != NULL ? text : "");
}

void rm_simulation_rows_print(struct rm_simulation_rows const *rows, FILE *out) {
    bool is_first = true;
    fputs("  \"rows\": [", out);
    for (uint32_t i = 0; rows->program != NULL && i < rows->program->rows.count; ++i) {
        struct rm_rows_shape const *shape = &rows->program->rows.shape[i];
        if (shape->width == 0)
            continue;
        fputs(is_first ? "\n    {\"name\": " : ",\n    {\"name\": ", out);
        rm_json_text(out, rows->program->code.it->rows[i].name);
        rows_print_member(out, "unit", shape->unit);
        rows_print_member(out, "axis_name", shape->axis_name);
        rows_print_member(out, "axis_unit", shape->axis_unit);
        fprintf(out, ", \"axis_first\": %.17g, \"axis_step\": %.17g, \"width\": %u, \"period_turns\": %llu, ",
                shape->axis_first, shape->axis_step, shape->width,
                (unsigned long long)rows->program->rows.period_turns[i]);
        fprintf(out, "\"delay_turns\": %.9g}", shape->delay_turns);
        is_first = false;
    }
    fputs("],\n", out);
}

enum rm_code rm_simulation_rows_close(struct rm_simulation_rows *rows, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; rows->file != NULL && i < rows->program->rows.count; ++i) {
        if (rows->file[i] == NULL)
            continue;
        bool const failed = ferror(rows->file[i]) != 0;
        char name[NAME_BYTES];
        rows_file_name(rows, i, name);
        if (fclose(rows->file[i]) != 0 || failed)
            code =
                rm_fail(error, RM_E_SYSTEM, "%s/%s: not all could be written: %s", rows->folder, name, strerror(errno));
    }
    free((void *)rows->file);
    rows->file = NULL; // what they were of, the summary still tells
    return code;
}
