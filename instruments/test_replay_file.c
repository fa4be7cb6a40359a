// SPDX-License-Identifier: Apache-2.0
#include "replay_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    INSTRUMENTS = 2,
    TURNS = 3,
    FRAME_BYTES = 48,
    BYTES = 64 + INSTRUMENTS * 64 + TURNS * INSTRUMENTS * FRAME_BYTES
};

/** A good file in memory that ends at an unreadable page, so that reading beyond it is a fault. */
struct image {
    uint8_t *mapping;
    uint8_t *bytes;
};

static void put(uint8_t *to, uint64_t value, unsigned bytes) { memcpy(to, &value, bytes); }

/** Writes the good file. */
static void fill(struct image const *image) {
    uint8_t *bytes = image->bytes;
    memset(bytes, 0, BYTES);
    memcpy(bytes, "RMREPLAY1\n", 10);
    put(bytes + 16, INSTRUMENTS, 4);
    put(bytes + 24, TURNS, 8);
    put(bytes + 32, 777, 8);
    for (unsigned i = 0; i < INSTRUMENTS; ++i) {
        uint8_t *entry = bytes + 64 + 64 * i;
        put(entry, 0x0A140001 + i, 4);
        put(entry + 4, 10 + i, 2);
        put(entry + 6, 1, 1);
        put(entry + 7, 8, 1);
        memcpy(entry + 8, i == 0 ? "first" : "second", 6);
    }
    for (unsigned i = 0; i < TURNS * INSTRUMENTS * 12; ++i)
        put(bytes + 192 + 4 * (size_t)i, i, 4);
}

static int make(void **state) {
    struct image *image = calloc(1, sizeof *image);
    long const page = sysconf(_SC_PAGESIZE);
    image->mapping = mmap(NULL, (size_t)(2 * page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (image->mapping == MAP_FAILED || mprotect(image->mapping + page, (size_t)page, PROT_NONE) != 0) {
        free(image);
        return -1;
    }
    image->bytes = image->mapping + page - BYTES;
    fill(image);
    *state = image;
    return 0;
}

static int destroy(void **state) {
    struct image *image = *state;
    munmap(image->mapping, (size_t)(2 * sysconf(_SC_PAGESIZE)));
    free(image);
    return 0;
}

static void a_good_file_is_read_as_it_says(void **state) {
    struct image const *image = *state;
    struct rm_replay_file file;
    assert_int_equal(rm_replay_file_parse("f", image->bytes, BYTES, &file, NULL), RM_OK);
    assert_int_equal(file.instrument_count, INSTRUMENTS);
    assert_int_equal(file.turn_count, TURNS);
    assert_int_equal(file.first_turn, 777);
    assert_string_equal(file.instruments[1].name, "second");
    assert_int_equal(file.instruments[1].id, 11);
    assert_int_equal(file.instruments[1].source_ipv4, 0x0A140002);
    assert_int_equal(file.instruments[1].lane_count, 8);
    for (uint64_t index = 0; index < 3 * TURNS; ++index) /* and again from the start */
        assert_int_equal(rm_replay_file_turn(&file, index, 1, 1)[0].i, index % TURNS * 24 + 12);
    rm_replay_file_close(&file);
}

static void check_refused(uint8_t const *bytes, size_t length, char const *expected) {
    struct rm_replay_file file;
    struct rm_error error;
    assert_int_equal(rm_replay_file_parse("some.replay", bytes, length, &file, &error), RM_E_CONFIG);
    if (strstr(error.text, expected) == NULL || strstr(error.text, "some.replay") == NULL)
        fail_msg("expected \"%s\" in \"%s\"", expected, error.text);
}

static void any_other_length_is_refused(void **state) {
    struct image const *image = *state;
    for (size_t length = 0; length < BYTES; ++length) {
        uint8_t *cut = image->bytes + BYTES - length; /* so that it ends at the unreadable page */
        memmove(cut, image->bytes, length);
        check_refused(cut, length, length < 64 ? "not a replay file" : "cut short");
        fill(image);
    }
}

static void impossible_contents_are_refused(void **state) {
    struct {
        size_t offset;
        uint64_t value;
        unsigned bytes;
        char const *expected;
    } const cases[] = {
        {0, 'X', 1, "not a replay file"},
        {9, 0, 1, "not a replay file"},
        {15, 1, 1, "not a replay file"},
        {16, 0, 4, "0 instruments"},
        {16, UINT32_MAX, 4, "4294967295 instruments"},
        {24, 0, 8, "no turns"},
        {24, 2, 8, "cut short"},
        {24, UINT64_MAX, 8, "cut short"},
        {24, 0xAAAAAAAAAAAAAAADull, 8, "cut short"}, /* times 96 is 3 × 96 again, modulo 2^64 */
        {32, UINT64_MAX, 8, "first turn"},
        {64 + 6, 0, 1, "kind 0"},
        {64 + 6, 7, 1, "kind 7"},
        {64 + 7, 0, 1, "0 lanes"},
        {64 + 7, 13, 1, "13 lanes"},
        {64 + 8, 0, 1, "name does not end"},
        {64 + 8, '/', 1, "other characters"},
    };
    struct image const *image = *state;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        put(image->bytes + cases[c].offset, cases[c].value, cases[c].bytes);
        check_refused(image->bytes, BYTES, cases[c].expected);
        fill(image);
    }
}

static void names_must_end_and_differ(void **state) {
    struct image const *image = *state;
    memcpy(image->bytes + 64 + 64 + 8, "first\0", 7);
    check_refused(image->bytes, BYTES, "same name");
    memset(image->bytes + 64 + 8, 'a', 24);
    check_refused(image->bytes, BYTES, "does not end");
}

static void a_file_is_mapped_and_an_absent_one_named(void **state) {
    struct image const *image = *state;
    char path[] = "/tmp/test_replay_file.XXXXXX";
    int const descriptor = mkstemp(path);
    assert_int_equal(write(descriptor, image->bytes, BYTES), BYTES);
    close(descriptor);
    struct rm_replay_file file;
    struct rm_error error;
    assert_int_equal(rm_replay_file_open(path, &file, &error), RM_OK);
    assert_int_equal(rm_replay_file_turn(&file, 2, 0, 2)[23].i, 71);
    rm_replay_file_close(&file);
    unlink(path);
    assert_int_equal(rm_replay_file_open(path, &file, &error), RM_E_SYSTEM);
    assert_non_null(strstr(error.text, path));
    assert_int_equal(rm_replay_file_open("/tmp", &file, &error), RM_E_CONFIG);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(a_good_file_is_read_as_it_says, make, destroy),
        cmocka_unit_test_setup_teardown(any_other_length_is_refused, make, destroy),
        cmocka_unit_test_setup_teardown(impossible_contents_are_refused, make, destroy),
        cmocka_unit_test_setup_teardown(names_must_end_and_differ, make, destroy),
        cmocka_unit_test_setup_teardown(a_file_is_mapped_and_an_absent_one_named, make, destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
