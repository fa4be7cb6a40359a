// SPDX-License-Identifier: Apache-2.0
#include "standby/link/differences.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/** A folder with files, that goes with the test. */
struct folder {
    char path[64];
    char file[8][128];
    int files;
};

static char const *write_file(struct folder *folder, char const *name, char const *text) {
    char made[sizeof folder->file[0]], *const path = folder->file[folder->files++];
    snprintf(made, sizeof made, "%s/%s", folder->path, name);
    strcpy(path, made);
    FILE *const out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    return path;
}

static int make(void **state) {
    static struct folder folder;
    folder = (struct folder){.path = "/tmp/ringmaster-differences-XXXXXX"};
    *state = &folder;
    return mkdtemp(folder.path) == NULL;
}

static int sweep(void **state) {
    struct folder const *const folder = *state;
    for (int i = 0; i < folder->files; ++i)
        unlink(folder->file[i]);
    return rmdir(folder->path);
}

static char *lines_of(char const *path) {
    char *lines;
    struct rm_error error = {.text = ""};
    enum rm_code const code = rm_peer_lines_make(path, &lines, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(code, RM_OK);
    return lines;
}

static void each_value_is_a_line(void **state) {
    char *const lines = lines_of(write_file(*state, "one.yaml",
                                            "# a comment\nworkspace: ring-{server}\n"
                                            "chains:\n  - {id: 1, timeout: 200 us}\n  - id: 2\n"
                                            "standby: {key: standby.key}\n"));
    assert_string_equal(lines, "workspace: ring-{server}\nchains[0].id: 1\nchains[0].timeout: 200 us\nchains[1].id: 2\n"
                               "standby.key: standby.key\n");
    free(lines);
}

static void layout_and_comments_are_no_difference(void **state) {
    char *const one = lines_of(write_file(*state, "one.yaml", "a: {b: 1, c: [2, 3]}\n"));
    char *const other = lines_of(write_file(*state, "other.yaml", "a:\n  b: \"1\" # one\n  c:\n    - 2\n    - 3\n"));
    uint8_t one_digest[RM_PEER_DIGEST_BYTES], other_digest[RM_PEER_DIGEST_BYTES];
    rm_peer_lines_digest(one, one_digest);
    rm_peer_lines_digest(other, other_digest);
    assert_memory_equal(one_digest, other_digest, sizeof one_digest);
    free(one);
    free(other);
}

static void files_that_are_named_are_compared(void **state) {
    write_file(*state, "matrix.bin", "123");
    write_file(*state, "feedback.yaml", "gain: 0.5\nmatrix: matrix.bin\n");
    write_file(*state, "standby.key", "secret");
    char const *const path =
        write_file(*state, "pair.yaml", "configuration: feedback.yaml\nstandby: {key: standby.key}\n");
    char *const before = lines_of(path);
    write_file(*state, "matrix.bin", "124");
    write_file(*state, "feedback.yaml", "gain: 0.7\nmatrix: matrix.bin\n");
    write_file(*state, "standby.key", "another");
    char *const after = lines_of(path);
    char text[500];
    assert_int_equal(rm_peer_lines_compare("a", before, "b", after, text, sizeof text), 2);
    assert_non_null(strstr(text,
                           "configuration → gain: a has \"0.5\", b has \"0.7\"; configuration → matrix (content): "
                           "a has \""));
    free(before);
    free(after);
}

static void differences_are_counted_and_cut(void **state) {
    (void)state;
    char text[200], small[20];
    assert_int_equal(rm_peer_lines_compare("a", "x: 1\ny: 2\n", "b", "x: 1\ny: 2\n", text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_int_equal(rm_peer_lines_compare("a", "x: 1\n", "b", "y: 2\nx: 3\n", text, sizeof text), 2);
    assert_string_equal(text, "x: a has \"1\", b has \"3\"; y: b has \"2\", a has no such line");
    assert_int_equal(rm_peer_lines_compare("a", "1: 1\n2: 1\n3: 1\n4: 1\n5: 1\n6: 1\n", "b", "", text, sizeof text), 6);
    assert_non_null(strstr(text, "; and 2 more"));
    rm_peer_lines_compare("a", "x: 1\n", "b", "y: 2\nx: 3\n", small, sizeof small);
    assert_string_equal(small, "x: a has \"1\", b has");
}

static void a_peer_may_say_anything(void **state) {
    (void)state;
    char text[100];
    static char const *const peers[] = {"", "\n\n\n", ":", ": ", "x", "x: ", "x:1", "\n: :\n: "};
    for (size_t i = 0; i < sizeof peers / sizeof *peers; ++i)
        assert_int_not_equal(rm_peer_lines_compare("a", "x: 1\n", "b", peers[i], text, sizeof text), 0);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(each_value_is_a_line, make, sweep),
        cmocka_unit_test_setup_teardown(layout_and_comments_are_no_difference, make, sweep),
        cmocka_unit_test_setup_teardown(files_that_are_named_are_compared, make, sweep),
        cmocka_unit_test(differences_are_counted_and_cut),
        cmocka_unit_test(a_peer_may_say_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
