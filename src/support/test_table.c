// SPDX-License-Identifier: Apache-2.0
/** Tables as people and spreadsheets write them, and files that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ringmaster/table.h>

static enum rm_code parse(char const *text, struct rm_table *table, struct rm_error *error) {
    memset(error, 0, sizeof *error);
    return rm_table_parse("m.csv", text, strlen(text), table, error);
}

static void reads_what_people_write(void **state) {
    (void)state;
    static char const *const texts[] = {
        ",sr/ps/a,sr/ps/b\nbpm01/x1,1.5,-2e3\nbpm01/y1,0,7\n",
        "# nm per A\r\n\r\n , sr/ps/a ,\tsr/ps/b\r\nbpm01/x1, 1.5 ,-2e3\r\n  # later\r\nbpm01/y1,0,7",
        "\xEF\xBB\xBF\"\",\"sr/ps/a\",\"sr/ps/b\"\n\"bpm01/x1\",\"1.5\",\"-2e3\"\nbpm01/y1,+0.0,\"7\"\n",
    };
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; ++t) {
        struct rm_table table;
        struct rm_error error;
        assert_int_equal(parse(texts[t], &table, &error), RM_OK);
        assert_int_equal(table.rows, 2);
        assert_int_equal(table.columns, 2);
        assert_string_equal(table.row_name[0], "bpm01/x1");
        assert_string_equal(table.row_name[1], "bpm01/y1");
        assert_string_equal(table.column_name[0], "sr/ps/a");
        assert_string_equal(table.column_name[1], "sr/ps/b");
        assert_true(table.value[0] == 1.5 && table.value[1] == -2e3 && table.value[2] == 0 && table.value[3] == 7);
        rm_table_free(&table);
    }
}

static void quotes_may_hold_commas_and_quotes(void **state) {
    (void)state;
    struct rm_table table;
    struct rm_error error;
    assert_int_equal(parse(",\"a,\"\"b\"\"\"\nr/x1,1\n", &table, &error), RM_OK);
    assert_string_equal(table.column_name[0], "a,\"b\"");
    rm_table_free(&table);
}

/** A text that is no table, and what its error must say. */
struct wrong {
    char const *text, *place, *says;
};

static void says_where_it_is_wrong(void **state) {
    (void)state;
    static struct wrong const wrongs[] = {
        {"", "m.csv:", "is empty"},
        {"# nothing\n\n", "m.csv:", "is empty"},
        {"name,a\nr/x1,1\n", "m.csv:1:1:", "\"name\""},
        {"\n", "m.csv:", "is empty"},
        {",\nr/x1,1\n", "m.csv:2:1:", "expected an empty field"},
        {",a,,b\nr/x1,1,2,3\n", "m.csv:1:4:", "column without a name"},
        {",a,b,a\nr/x1,1,2,3\n", "m.csv:1:6:", "\"a\" is there twice"},
        {",a\nr/x1,1\nr/x1,2\n", "m.csv:3:1:", "\"r/x1\" is there twice"},
        {",a\n,1\n", "m.csv:2:1:", "row without a name"},
        {",a\n", "m.csv:", "no rows"},
        {",a,b\nr/x1,1\n", "m.csv:2:6:", "has 1 numbers, expected 2"},
        {",a,b\nr/x1,1,2,3\n", "m.csv:2:10:", "has 3 numbers, expected 2"},
        {",a,b\nr/x1,1,2,\n", "m.csv:2:10:", "has 3 numbers"},
        {",a,b\nr/x1,1,\n", "m.csv:2:8:", "expected a number such as -1.5e-6: b"},
        {",a,b\n# note\nr/x1,1,2mm\n", "m.csv:3:8:", "\"2mm\", expected a number such as -1.5e-6: b"},
        {",a\nr/x1,nan\n", "m.csv:2:6:", "\"nan\""},
        {",a\nr/x1,inf\n", "m.csv:2:6:", "\"inf\""},
        {",a\nr/x1,1e999\n", "m.csv:2:6:", "\"1e999\""},
        {",a\nr/x1,0x10\n", "m.csv:2:6:", "\"0x10\""},
        {",a\nr/x1,1 2\n", "m.csv:2:6:", "\"1 2\""},
        {",a\nr/x1,\"1\n", "m.csv:2:6:", "quote"},
        {",a\nr/x1,\"1\"2\n", "m.csv:2:9:", "expected a comma"},
        {",\"a\"\"\nr/x1,1\n", "m.csv:1:2:", "quote"},
        {",\"\nr/x1,1\n", "m.csv:1:2:", "quote"},
        {",a\nr/x1,\x1B[31m\n", "m.csv:2:6:", "\"?[31m\""},
    };
    for (size_t w = 0; w < sizeof wrongs / sizeof wrongs[0]; ++w) {
        struct rm_table table;
        struct rm_error error;
        assert_int_equal(parse(wrongs[w].text, &table, &error), RM_E_CONFIG);
        if (strncmp(error.text, wrongs[w].place, strlen(wrongs[w].place)) != 0 ||
            strstr(error.text, wrongs[w].says) == NULL)
            fail_msg("%zu: \"%s\" does not say %s %s", w, error.text, wrongs[w].place, wrongs[w].says);
        assert_int_equal(error.code, RM_E_CONFIG);
        assert_null(table.value);
        assert_int_equal(parse(wrongs[w].text, &table, &(struct rm_error){.text = ""}), RM_E_CONFIG);
        assert_int_equal(rm_table_parse("m.csv", wrongs[w].text, strlen(wrongs[w].text), &table, NULL), RM_E_CONFIG);
    }
}

static void refuses_bytes_of_zero_and_too_much(void **state) {
    (void)state;
    static char const zero[] = ",a\nr/x1,1\0 2\n";
    struct rm_table table;
    struct rm_error error;
    assert_int_equal(rm_table_parse("m.csv", zero, sizeof zero - 1, &table, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "zero byte"));

    size_t const bytes = 32u * (RM_TABLE_MOST + RM_TABLE_MOST);
    char *text = calloc(bytes, 1);
    assert_non_null(text);
    size_t used = 0;
    for (int c = 0; c <= RM_TABLE_MOST; ++c)
        used += (size_t)snprintf(text + used, bytes - used, ",c%d", c);
    assert_int_equal(parse(text, &table, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "more than 8192 columns"));

    used = (size_t)snprintf(text, bytes, ",a\n");
    for (int r = 0; r <= RM_TABLE_MOST; ++r)
        used += (size_t)snprintf(text + used, bytes - used, "b%d/x1,1\n", r);
    assert_int_equal(parse(text, &table, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "m.csv:8194:1: more than 8192 rows"));
    free(text);
}

static void a_long_name_is_cut_in_the_error(void **state) {
    (void)state;
    char text[300] = ",";
    struct rm_table table;
    struct rm_error error;
    for (int i = 0; i < 100; ++i)
        strcat(text, "µ");
    strcat(text, "\nr/x1,1\n");
    assert_int_equal(parse(text, &table, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "longer than 95 bytes"));
    assert_non_null(strstr(error.text, "µ…\""));
}

static void a_file_that_is_not_there_says_so(void **state) {
    (void)state;
    struct rm_table table;
    struct rm_error error;
    assert_int_equal(rm_table_load("/nowhere/m.csv", &table, &error), RM_E_SYSTEM);
    assert_non_null(strstr(error.text, "/nowhere/m.csv: cannot be read"));
    assert_int_equal(rm_table_load("/", &table, &error), RM_E_SYSTEM);
    assert_non_null(strstr(error.text, "/: cannot be read"));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(reads_what_people_write),         cmocka_unit_test(quotes_may_hold_commas_and_quotes),
        cmocka_unit_test(says_where_it_is_wrong),          cmocka_unit_test(refuses_bytes_of_zero_and_too_much),
        cmocka_unit_test(a_long_name_is_cut_in_the_error), cmocka_unit_test(a_file_that_is_not_there_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
