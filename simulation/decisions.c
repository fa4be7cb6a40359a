// SPDX-License-Identifier: Apache-2.0
#include "decisions.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "recorded_file.h"

/** There is one grant in a simulation. */
enum { GRANT_NUMBER = 1 };

static void decisions_write(void *context, uint32_t stream, struct rm_record const *record, uint64_t tsc) {
    (void)tsc;
    struct rm_simulation_decisions *decisions = context;
    fwrite(record, sizeof *record, 1, decisions->own[stream]); // what fails is found at the end
}

static enum rm_code decisions_make_files(struct rm_simulation_decisions *decisions, struct rm_error *error) {
    struct rm_host_program const *program = decisions->program;
    enum rm_code code = rm_recorded_folder_clear(decisions->folder, error);
    for (uint32_t i = 0; code == RM_OK && i < program->setup.input_count; ++i)
        code = rm_recorded_file_make(decisions->folder, program->setup.input[i], program->input[i],
                                     &decisions->input[i], error);
    for (uint32_t i = 0; code == RM_OK && i < decisions->decisions.stream_count; ++i) {
        struct rm_stream stream;
        char own[RM_LANE_NAME_BYTES + 8], description[RM_DESCRIPTION_BYTES], name[RM_NAME_BYTES];
        rm_host_decisions_stream(&decisions->decisions, i, &stream, own, description);
        snprintf(name, sizeof name, "%s/%s", program->setup.name, own);
        code = rm_recorded_file_make(decisions->folder, name, &stream, &decisions->own[i], error);
    }
    return code;
}

enum rm_code rm_simulation_decisions_open(struct rm_simulation_decisions *decisions, char const *out,
                                          struct rm_host_program const *program, struct rm_error *error) {
    *decisions = (struct rm_simulation_decisions){.program = program,
                                                  .decisions = {.put = decisions_write, .context = decisions}};
    bool good = rm_host_decisions_open(&decisions->decisions, program);
    decisions->input = calloc(program->setup.input_count + 1ul, sizeof(FILE *));
    decisions->own = calloc(decisions->decisions.stream_count + 1ul, sizeof(FILE *));
    decisions->folder = malloc(PATH_MAX);
    good = good && decisions->input != NULL && decisions->own != NULL && decisions->folder != NULL;
    if (!good)
        return rm_fail(error, RM_E_NO_SPACE, "no memory to record decisions");
    snprintf(decisions->folder, PATH_MAX, "%s/" RM_DECISIONS_FOLDER, out);
    return decisions_make_files(decisions, error);
}

enum rm_code rm_simulation_decisions_adopt(struct rm_simulation_decisions *decisions, bool begins,
                                           struct rm_error *error) {
    if (decisions->program == NULL)
        return RM_OK;
    if (begins)
        rm_host_decisions_begin(&decisions->decisions, GRANT_NUMBER);
    else if (decisions->has_changed && !rm_host_journal_has_room(&decisions->decisions.journal))
        return rm_fail(error, RM_E_NO_SPACE,
                       "more settings change within a few steps than can be recorded: let some hundred steps pass "
                       "between changes of whole arrays");
    else if (decisions->has_changed)
        rm_host_decisions_adopt(&decisions->decisions);
    decisions->has_changed = false;
    return RM_OK;
}

static void decisions_write_run(struct rm_run const *run, FILE *file) {
    for (uint64_t n = 0; n < run->count; ++n)
        if (run->record[n].turn != RM_TURN_NONE)
            fwrite(&run->record[n], sizeof run->record[n], 1, file);
}

void rm_simulation_decisions_record(struct rm_simulation_decisions *decisions, bool sends, uint32_t setpoints) {
    struct rm_host_program const *program = decisions->program;
    if (program == NULL)
        return;
    bool const has_runs = program->code.it->takes_runs != 0;
    for (uint32_t i = 0; i < program->setup.input_count; ++i)
        if (has_runs)
            decisions_write_run(&program->given.run[i], decisions->input[i]);
        else if (!program->given.is_missing[i])
            fwrite(&program->given.record[i], sizeof program->given.record[i], 1, decisions->input[i]);
    struct rm_host_outcome const outcome = {
        .late = program->given.missing > 0, .committed = sends, .setpoints = setpoints};
    rm_host_decisions_record(&decisions->decisions, &outcome);
}

static void decisions_close_files(FILE **file, uint32_t count, bool *good) {
    for (uint32_t i = 0; file != NULL && i < count; ++i) {
        bool const failed = file[i] != NULL && ferror(file[i]) != 0;
        if (failed || (file[i] != NULL && fclose(file[i]) != 0))
            *good = false;
    }
    free((void *)file);
}

enum rm_code rm_simulation_decisions_close(struct rm_simulation_decisions *decisions, struct rm_error *error) {
    bool good = true;
    if (decisions->program == NULL)
        return RM_OK;
    decisions_close_files(decisions->input, decisions->program->setup.input_count, &good);
    decisions_close_files(decisions->own, decisions->decisions.stream_count, &good);
    rm_host_decisions_close(&decisions->decisions);
    enum rm_code const code =
        good ? RM_OK
             : rm_fail(error, RM_E_SYSTEM, "%s: not all could be written: %s", decisions->folder, strerror(errno));
    free(decisions->folder);
    *decisions = (struct rm_simulation_decisions){0};
    return code;
}
