// SPDX-License-Identifier: Apache-2.0
/** A replay's archive whose files a recorder stores anew, or removes, while it is read. Argument: the folder of
 * archive/read/make_seeds.py, whose first file has turns 0-15 and 32-39, and turn + i in lane i. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "recorded_archive.h"

enum { PATH_BYTES = 256, TURNS = 40 };

static char const *seeds;

struct stored {
    char folder[PATH_BYTES], file[PATH_BYTES + 64];
    struct rm_recorded_archive *archive;
    struct rm_recorded_source source;
    struct rm_recorded_stream stream;
};

/** Makes the file under another name, and gives it its own: another file in the place of the one that was there. */
static void store_anew(struct stored const *stored) {
    char from[PATH_BYTES + 64], fresh[PATH_BYTES + 80];
    snprintf(from, sizeof from, "%s/1.rmlog", seeds);
    snprintf(fresh, sizeof fresh, "%s.new", stored->file);
    FILE *source = fopen(from, "rb"), *made = fopen(fresh, "wb");
    assert_true(source != NULL && made != NULL);
    for (int byte; (byte = fgetc(source)) != EOF;)
        fputc(byte, made);
    fclose(source);
    assert_int_equal(fclose(made), 0);
    assert_int_equal(rename(fresh, stored->file), 0);
}

static int set_up(void **state) {
    struct stored *stored = calloc(1, sizeof *stored);
    *state = stored;
    char path[PATH_BYTES + 64];
    snprintf(stored->folder, sizeof stored->folder, "/dev/shm/ringmaster-replay-%ld", (long)getpid());
    assert_int_equal(mkdir(stored->folder, 0700), 0);
    snprintf(path, sizeof path, "%s/archive", stored->folder);
    FILE *identity = fopen(path, "w");
    fputs("RMARCHIVE 1 00000000-0000-0000-0000-000000000007\n", identity);
    fclose(identity);
    snprintf(path, sizeof path, "%s/turns", stored->folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(stored->file, sizeof stored->file, "%s/turns/0000000000000001.rmlog", stored->folder);
    store_anew(stored);
    struct rm_error error;
    if (rm_recorded_archive_open(stored->folder, &stored->archive, &error) != RM_OK)
        fail_msg("%s", error.text);
    stored->source = rm_recorded_archive_source(stored->archive);
    assert_int_equal(stored->source.find(stored->source.context, "bpm01/turn", &stored->stream, &error), RM_OK);
    return 0;
}

static int tear_down(void **state) {
    struct stored *stored = *state;
    char path[PATH_BYTES + 64];
    rm_recorded_archive_close(stored->archive);
    unlink(stored->file);
    snprintf(path, sizeof path, "%s/turns", stored->folder);
    rmdir(path);
    snprintf(path, sizeof path, "%s/archive", stored->folder);
    unlink(path);
    rmdir(stored->folder);
    free(stored);
    return 0;
}

/** Reads all turns; returns how many are there. */
static unsigned read_all(struct stored *stored, enum rm_code *code) {
    struct rm_record records[TURNS];
    struct rm_error error;
    unsigned there = 0;
    *code = stored->source.read(stored->source.context, stored->stream.number, 0, TURNS, records, &error);
    for (int turn = 0; *code == RM_OK && turn < TURNS; ++turn)
        if (records[turn].turn != RM_TURN_NONE) {
            assert_int_equal(records[turn].lane[2].i, turn + 2);
            ++there;
        }
    return there;
}

static void test_a_file_that_is_stored_anew_is_read_again(void **state) {
    struct stored *stored = *state;
    enum rm_code code;
    assert_int_equal(stored->stream.last, TURNS - 1);
    assert_true(stored->stream.stream.group_delay_turns == 5.5 && stored->stream.stream.closing_delay_turns == 11.0);
    for (int times = 0; times < 3; ++times) {
        store_anew(stored);
        assert_int_equal(read_all(stored, &code), 24);
        assert_int_equal(code, RM_OK);
    }
}

static void test_a_file_that_is_removed_is_no_file_that_changes_for_ever(void **state) {
    struct stored *stored = *state;
    enum rm_code code;
    unlink(stored->file);
    assert_int_equal(read_all(stored, &code), 0);
    assert_int_not_equal(code, RM_E_BUSY);
}

int main(int argc, char **argv) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_a_file_that_is_stored_anew_is_read_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_that_is_removed_is_no_file_that_changes_for_ever, set_up,
                                        tear_down),
    };
    seeds = argc > 1 ? argv[1] : "";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
