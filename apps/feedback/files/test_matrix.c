// SPDX-License-Identifier: Apache-2.0
/** Matrices as people and spreadsheets write them, and files that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../law/product.h"
#include "csv.h"
#include "matrix.h"

static enum rm_code parse(char const *text, struct feedback_matrix *matrix, struct rm_error *error) {
    memset(error, 0, sizeof *error);
    return feedback_matrix_parse("m.csv", text, strlen(text), matrix, error);
}

static void reads_what_people_write(void **state) {
    (void)state;
    static char const *const texts[] = {
        ",sr/ps/a,sr/ps/b\nbpm01/x1,1.5,-2e3\nbpm01/y1,0,7\n",
        "# nm per A\r\n\r\n , sr/ps/a ,\tsr/ps/b\r\nbpm01/x1, 1.5 ,-2e3\r\n  # later\r\nbpm01/y1,0,7",
        "\xEF\xBB\xBF\"\",\"sr/ps/a\",\"sr/ps/b\"\n\"bpm01/x1\",\"1.5\",\"-2e3\"\nbpm01/y1,+0.0,\"7\"\n",
    };
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; ++t) {
        struct feedback_matrix matrix;
        struct rm_error error;
        assert_int_equal(parse(texts[t], &matrix, &error), RM_OK);
        assert_int_equal(matrix.rows, 2);
        assert_int_equal(matrix.columns, 2);
        assert_string_equal(matrix.row_name[0], "bpm01/x1");
        assert_string_equal(matrix.row_name[1], "bpm01/y1");
        assert_string_equal(matrix.column_name[0], "sr/ps/a");
        assert_string_equal(matrix.column_name[1], "sr/ps/b");
        assert_true(matrix.value[0] == 1.5 && matrix.value[1] == -2e3 && matrix.value[2] == 0 && matrix.value[3] == 7);
        feedback_matrix_free(&matrix);
    }
}

static void quotes_may_hold_commas_and_quotes(void **state) {
    (void)state;
    struct feedback_matrix matrix;
    struct rm_error error;
    assert_int_equal(parse(",\"a,\"\"b\"\"\"\nr/x1,1\n", &matrix, &error), RM_OK);
    assert_string_equal(matrix.column_name[0], "a,\"b\"");
    feedback_matrix_free(&matrix);
}

/** A text that is no matrix, and what its error must say. */
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
        {",\nr/x1,1\n", "m.csv:1:2:", "without a name"},
        {"\"\"\nr/x1,1\n", "m.csv:1:1:", "no columns"},
        {",a,b,a\nr/x1,1,2,3\n", "m.csv:1:6:", "\"a\" is there twice"},
        {",a\nr/x1,1\nr/x1,2\n", "m.csv:3:1:", "\"r/x1\" is there twice"},
        {",a\n,1\n", "m.csv:2:1:", "row without a name"},
        {",a\n", "m.csv:", "no rows"},
        {",a,b\nr/x1,1\n", "m.csv:2:6:", "has 1 numbers, expected 2"},
        {",a,b\nr/x1,1,2,3\n", "m.csv:2:10:", "more numbers than the 2 columns"},
        {",a,b\nr/x1,1,2,\n", "m.csv:2:10:", "more numbers"},
        {",a,b\nr/x1,1,\n", "m.csv:2:8:", "expected a finite number: b"},
        {",a,b\n# note\nr/x1,1,2mm\n", "m.csv:3:8:", "\"2mm\", expected a finite number: b"},
        {",a\nr/x1,nan\n", "m.csv:2:6:", "\"nan\""},
        {",a\nr/x1,inf\n", "m.csv:2:6:", "\"inf\""},
        {",a\nr/x1,1e999\n", "m.csv:2:6:", "\"1e999\""},
        {",a\nr/x1,0x10\n", "m.csv:2:6:", "\"0x10\""},
        {",a\nr/x1,1 2\n", "m.csv:2:6:", "\"1 2\""},
        {",a\nr/x1,\"1\n", "m.csv:2:6:", "end with a quote"},
        {",a\nr/x1,\"1\"2\n", "m.csv:2:6:", "end with a quote"},
        {",\"a\"\"\nr/x1,1\n", "m.csv:1:2:", "end with a quote"},
        {",\"\nr/x1,1\n", "m.csv:1:2:", "end with a quote"},
        {",a\nr/x1,\x1B[31m\n", "m.csv:2:6:", "\"?[31m\""},
    };
    for (size_t w = 0; w < sizeof wrongs / sizeof wrongs[0]; ++w) {
        struct feedback_matrix matrix;
        struct rm_error error;
        assert_int_equal(parse(wrongs[w].text, &matrix, &error), RM_E_CONFIG);
        if (strncmp(error.text, wrongs[w].place, strlen(wrongs[w].place)) != 0 ||
            strstr(error.text, wrongs[w].says) == NULL)
            fail_msg("%zu: \"%s\" does not say %s %s", w, error.text, wrongs[w].place, wrongs[w].says);
        assert_int_equal(error.code, RM_E_CONFIG);
        assert_null(matrix.value);
        assert_int_equal(parse(wrongs[w].text, &matrix, &(struct rm_error){.text = ""}), RM_E_CONFIG);
        assert_int_equal(feedback_matrix_parse("m.csv", wrongs[w].text, strlen(wrongs[w].text), &matrix, NULL),
                         RM_E_CONFIG);
    }
}

static void refuses_bytes_of_zero_and_too_much(void **state) {
    (void)state;
    static char const zero[] = ",a\nr/x1,1\0 2\n";
    struct feedback_matrix matrix;
    struct rm_error error;
    assert_int_equal(feedback_matrix_parse("m.csv", zero, sizeof zero - 1, &matrix, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "byte of 0"));

    size_t const bytes = 32u * (FEEDBACK_OUTPUTS_MAX + FEEDBACK_ROWS_MAX);
    char *text = calloc(bytes, 1);
    assert_non_null(text);
    size_t used = 0;
    for (int c = 0; c <= FEEDBACK_OUTPUTS_MAX; ++c)
        used += (size_t)snprintf(text + used, bytes - used, ",c%d", c);
    assert_int_equal(parse(text, &matrix, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "more than 2048 columns"));

    used = (size_t)snprintf(text, bytes, ",a\n");
    for (int r = 0; r <= FEEDBACK_ROWS_MAX; ++r)
        used += (size_t)snprintf(text + used, bytes - used, "b%d/x1,1\n", r);
    assert_int_equal(parse(text, &matrix, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "m.csv:1026:1: more than 1024 rows"));
    free(text);
}

static void a_long_name_is_cut_in_the_error(void **state) {
    (void)state;
    char text[300] = ",";
    struct feedback_matrix matrix;
    struct rm_error error;
    for (int i = 0; i < 100; ++i)
        strcat(text, "µ");
    strcat(text, "\nr/x1,1\n");
    assert_int_equal(parse(text, &matrix, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "longer than 95 bytes"));
    assert_non_null(strstr(error.text, "µ…\""));
}

static void a_file_that_is_not_there_says_so(void **state) {
    (void)state;
    struct feedback_matrix matrix;
    struct rm_error error;
    assert_int_equal(feedback_matrix_load("/nowhere/m.csv", &matrix, &error), RM_E_SYSTEM);
    assert_non_null(strstr(error.text, "/nowhere/m.csv: cannot be opened"));
    assert_int_equal(feedback_matrix_load("/", &matrix, &error), RM_E_SYSTEM);
    assert_non_null(strstr(error.text, "/: cannot be read"));
}

static void planes_come_from_lanes_and_from_responses(void **state) {
    (void)state;
    struct feedback_matrix matrix;
    struct rm_error error;
    assert_int_equal(feedback_row_plane("bpm01/x1"), 'x');
    assert_int_equal(feedback_row_plane("sr/bpm/01/y2"), 'y');
    assert_int_equal(feedback_row_plane("bpm01/sum1"), 0);
    assert_int_equal(feedback_row_plane("xbpm/"), 0);
    assert_int_equal(parse(",h,v,none\na/x1,5,1,0\na/y1,-1,-5,0\nb/x1,5,2,0\n", &matrix, &error), RM_OK);
    assert_int_equal(feedback_column_plane(&matrix, 0), 'x');
    assert_int_equal(feedback_column_plane(&matrix, 1), 'y');
    assert_int_equal(feedback_column_plane(&matrix, 2), 'x');
    feedback_matrix_free(&matrix);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(reads_what_people_write),
        cmocka_unit_test(quotes_may_hold_commas_and_quotes),
        cmocka_unit_test(says_where_it_is_wrong),
        cmocka_unit_test(refuses_bytes_of_zero_and_too_much),
        cmocka_unit_test(a_long_name_is_cut_in_the_error),
        cmocka_unit_test(a_file_that_is_not_there_says_so),
        cmocka_unit_test(planes_come_from_lanes_and_from_responses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
