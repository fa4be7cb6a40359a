// SPDX-License-Identifier: Apache-2.0
#include "cycles.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "instruments/noise.h"

enum { CYCLES = 500, INSTRUMENTS = 24, ALL = CYCLES * INSTRUMENTS, BEGIN = 7000 };

static struct rm_tally_range const window = {BEGIN, BEGIN + CYCLES};

/** Writes all rows and reads them back. */
static size_t written(struct rm_cycles const *cycles, struct rm_tally_range const *range, struct rm_cycle_row *rows) {
    struct rm_error error;
    FILE *const file = tmpfile();
    assert_non_null(file);
    assert_int_equal(rm_cycles_write(cycles, 3, range, file, &error), RM_OK);
    rewind(file);
    size_t const count = fread(rows, sizeof *rows, CYCLES + 1, file);
    fclose(file);
    return count;
}

/** What a row must say, told by going through everything that came. */
static void check(struct rm_cycle_row const *row, uint32_t const *came, size_t count) {
    struct rm_cycle_row expected = {.link = 3, .cycle = row->cycle};
    for (size_t i = 0; i < count; ++i) {
        if (BEGIN + came[i] != row->cycle)
            continue;
        if (expected.datagrams++ == 0)
            expected.first_tsc = 10 + i;
        expected.last_tsc = 10 + i;
    }
    assert_memory_equal(row, &expected, sizeof expected);
}

static void groups_may_come_in_any_order_and_in_part(void **state) {
    (void)state;
    static uint32_t came[ALL];
    static struct rm_cycle_row rows[CYCLES + 1];
    for (uint64_t seed = 0; seed < 5; ++seed) {
        size_t count = 0;
        for (uint32_t i = 0; i < ALL; ++i) /* a fifth is lost, and the first cycle as a whole */
            if (i >= INSTRUMENTS && rm_noise_uniform(rm_noise_u64(seed) + i) >= 0.2)
                came[count++] = i / INSTRUMENTS;
        for (size_t i = 0; i < count; ++i) { /* any order there is */
            size_t const other = i + rm_noise_u64(seed * ALL + i) % (count - i);
            uint32_t const kept = came[i];
            came[i] = came[other];
            came[other] = kept;
        }
        struct rm_cycles cycles;
        assert_int_equal(rm_cycles_new(&cycles, CYCLES, NULL), RM_OK);
        for (size_t i = 0; i < count; ++i)
            rm_cycles_take(&cycles, came[i], 10 + i);
        assert_int_equal(written(&cycles, &window, rows), CYCLES);
        for (size_t i = 0; i < CYCLES; ++i) {
            assert_int_equal(rows[i].cycle, BEGIN + i);
            check(&rows[i], came, count);
        }
        assert_int_equal(rows[0].datagrams, 0);
        rm_cycles_free(&cycles);
    }
}

static void what_lies_outside_has_no_row(void **state) {
    (void)state;
    struct rm_cycle_row rows[CYCLES + 1];
    struct rm_cycles cycles;
    assert_int_equal(rm_cycles_new(&cycles, 2, NULL), RM_OK);
    rm_cycles_take(&cycles, 2, 5);
    rm_cycles_take(&cycles, UINT64_MAX, 5); /* a cycle before the first */
    rm_cycles_take(&cycles, 1, 6);
    assert_int_equal(written(&cycles, &window, rows), 2);
    assert_int_equal(rows[0].datagrams, 0);
    assert_int_equal(rows[1].datagrams, 1);
    assert_int_equal(rows[1].first_tsc, 6);
    rm_cycles_free(&cycles);
}

static void a_run_that_ended_early_has_fewer_rows(void **state) {
    (void)state;
    struct rm_cycle_row rows[CYCLES + 1];
    struct rm_cycles cycles;
    struct rm_tally_range const early = {BEGIN, BEGIN + 3}, none = {UINT64_MAX, 0};
    assert_int_equal(rm_cycles_new(&cycles, CYCLES, NULL), RM_OK);
    assert_int_equal(written(&cycles, &early, rows), 3);
    assert_int_equal(written(&cycles, &none, rows), 0);
    rm_cycles_free(&cycles);
}

static void without_room_nothing_is_kept(void **state) {
    (void)state;
    struct rm_cycles cycles;
    assert_int_equal(rm_cycles_new(&cycles, 0, NULL), RM_OK);
    rm_cycles_take(&cycles, 0, 5);
    assert_null(cycles.row);
    rm_cycles_free(&cycles);
}

static void too_many_rows_are_refused(void **state) {
    (void)state;
    struct rm_cycles cycles;
    struct rm_error error;
    assert_int_equal(rm_cycles_new(&cycles, SIZE_MAX / 16, &error), RM_E_NO_SPACE);
    rm_cycles_free(&cycles);
}

static void a_full_disk_is_reported(void **state) {
    (void)state;
    FILE *const file = fopen("/dev/full", "wb");
    if (file == NULL)
        skip();
    setvbuf(file, NULL, _IONBF, 0);
    struct rm_cycles cycles;
    struct rm_error error;
    assert_int_equal(rm_cycles_new(&cycles, 3, NULL), RM_OK);
    assert_int_equal(rm_cycles_write(&cycles, 0, &window, file, &error), RM_E_SYSTEM);
    assert_non_null(strstr(error.text, "No space left"));
    fclose(file);
    rm_cycles_free(&cycles);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(groups_may_come_in_any_order_and_in_part),
        cmocka_unit_test(what_lies_outside_has_no_row),
        cmocka_unit_test(a_run_that_ended_early_has_fewer_rows),
        cmocka_unit_test(without_room_nothing_is_kept),
        cmocka_unit_test(too_many_rows_are_refused),
        cmocka_unit_test(a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
