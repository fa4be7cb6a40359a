// SPDX-License-Identifier: Apache-2.0
/** The file of the highest term: what is written is read, nothing else is taken for a term, and no failure spoils it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/term_file.h"

struct place {
    char folder[64], file[96];
};

static int set_up(void **state) {
    struct place *const place = calloc(1, sizeof *place);
    *state = place;
    if (place == NULL)
        return -1;
    snprintf(place->folder, sizeof place->folder, "/tmp/ringmaster-terms-XXXXXX");
    if (mkdtemp(place->folder) == NULL)
        return -1;
    snprintf(place->file, sizeof place->file, "%s/ring.terms", place->folder);
    return 0;
}

static int tear_down(void **state) {
    struct place *const place = *state;
    unlink(place->file);
    int const gone = rmdir(place->folder); // nothing else was left there
    free(place);
    return gone;
}

static void put_text(struct place const *place, char const *text) {
    FILE *const file = fopen(place->file, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void what_is_written_is_read(void **state) {
    struct place *const place = *state;
    uint32_t term = 99;
    assert_int_equal(rm_term_file_read(place->file, &term, NULL), RM_OK);
    assert_int_equal(term, 0); // there is no file yet
    uint32_t const terms[] = {1, 65535, 7};
    for (size_t i = 0; i < 3; ++i) {
        assert_int_equal(rm_term_file_write(place->file, terms[i], NULL), RM_OK);
        assert_int_equal(rm_term_file_read(place->file, &term, NULL), RM_OK);
        assert_int_equal(term, terms[i]);
    }
    put_text(place, "12"); // as a person may write it
    assert_int_equal(rm_term_file_read(place->file, &term, NULL), RM_OK);
    assert_int_equal(term, 12);
}

static void nothing_else_is_a_term(void **state) {
    struct place *const place = *state;
    char const *const texts[] = {"", "\n", "x", "-1", "+3", " 3", "3 4", "65536", "99999999999999999999", "3\n4"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        uint32_t term;
        struct rm_error error;
        put_text(place, texts[i]);
        assert_int_equal(rm_term_file_read(place->file, &term, &error), RM_E_CONFIG);
        assert_non_null(strstr(error.text, "ring.terms: found \""));
        assert_non_null(strstr(error.text, "expected the highest term"));
    }
}

static void what_cannot_be_written_leaves_the_old_term(void **state) {
    struct place *const place = *state;
    struct rm_error error;
    uint32_t term;
    assert_int_equal(rm_term_file_write("/nowhere/at/all/ring.terms", 3, &error), RM_E_SYSTEM);
    assert_non_null(
        strstr(error.text, "/nowhere/at/all/ring.terms: cannot keep the highest term, 3, there (No such file"));
    assert_int_equal(rm_term_file_write(place->file, 5, NULL), RM_OK);
    char fresh[128];
    snprintf(fresh, sizeof fresh, "%s.new", place->file);
    assert_int_equal(mkdir(fresh, 0700), 0); // in the way of the new one
    assert_int_equal(rm_term_file_write(place->file, 6, NULL), RM_E_SYSTEM);
    assert_int_equal(rmdir(fresh), 0);
    assert_int_equal(rm_term_file_read(place->file, &term, NULL), RM_OK);
    assert_int_equal(term, 5);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_else_is_a_term, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_written_leaves_the_old_term, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
