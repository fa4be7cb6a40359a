// SPDX-License-Identifier: Apache-2.0
/** Whatever the bytes: refused with an error that says where, or a matrix of finite numbers with names of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static void check_names(char *const *name, uint32_t count) {
    for (uint32_t n = 1; n < count; ++n)
        if (name[n][0] == '\0' || strcmp(name[n], name[n - 1]) == 0)
            abort();
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    struct feedback_matrix matrix;
    struct rm_error error = {.text = ""};
    if (feedback_matrix_parse("fuzz", (char const *)data, size, &matrix, &error) != RM_OK) {
        if (strncmp(error.text, "fuzz:", 5) != 0 || matrix.value != NULL)
            abort();
        return 0;
    }
    for (uint32_t c = 0; c < matrix.columns; ++c)
        if (feedback_column_plane(&matrix, c) == '\0')
            abort();
    for (size_t v = 0; v < (size_t)matrix.rows * matrix.columns; ++v)
        if (!isfinite(matrix.value[v]))
            abort();
    check_names(matrix.row_name, matrix.rows);
    check_names(matrix.column_name, matrix.columns);
    feedback_matrix_free(&matrix);
    return 0;
}
