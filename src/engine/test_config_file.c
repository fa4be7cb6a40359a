// SPDX-License-Identifier: Apache-2.0
#include "engine/test_config_file.h"
#include "engine/cores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int make_config_file(void **state) {
    struct config_file *const file = calloc(1, sizeof *file);
    strcpy(file->directory, "/tmp/test_config.XXXXXX");
    assert_non_null(mkdtemp(file->directory));
    snprintf(file->path, sizeof file->path, "%s/f.yaml", file->directory);
    cpu_set_t cores;
    assert_int_equal(rm_cores_available(&cores, NULL), RM_OK);
    while (!CPU_ISSET(file->core, &cores))
        file->core++;
    *state = file;
    return 0;
}

int remove_config_file(void **state) {
    struct config_file *const file = *state;
    unlink(file->path);
    rmdir(file->directory);
    free(file);
    return 0;
}

void write_config(struct config_file const *file, char const *yaml) {
    FILE *const out = fopen(file->path, "w");
    assert_non_null(out);
    for (; *yaml != '\0'; yaml++) {
        if (*yaml == '@')
            fprintf(out, "%u", file->core);
        else
            fputc(*yaml, out);
    }
    assert_int_equal(fclose(out), 0);
}
