// SPDX-License-Identifier: Apache-2.0
/** Whatever the bytes: refused with an error that says where, or a table of finite numbers with names of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/table.h>

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static void check_names(char *const *name, uint32_t count) {
    for (uint32_t n = 1; n < count; ++n)
        if (name[n][0] == '\0' || strcmp(name[n], name[n - 1]) == 0)
            abort();
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    struct rm_table table;
    struct rm_error error = {.text = ""};
    if (rm_table_parse("fuzz", (char const *)data, size, &table, &error) != RM_OK) {
        if (strncmp(error.text, "fuzz:", 5) != 0 || table.value != NULL)
            abort();
        return 0;
    }
    for (size_t v = 0; v < (size_t)table.rows * table.columns; ++v)
        if (!isfinite(table.value[v]))
            abort();
    check_names(table.row_name, table.rows);
    check_names(table.column_name, table.columns);
    rm_table_free(&table);
    return 0;
}
