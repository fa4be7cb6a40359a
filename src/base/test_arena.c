// SPDX-License-Identifier: Apache-2.0
/** Memory from an arena: zeroed, at cache lines, apart from each other, however much is taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"

enum { PIECES = 400, LINE_BYTES = 64 };

/** 1 byte to 40 kB; together several chunks. */
static size_t bytes_of(uint32_t piece) { return 1 + piece * 7919 % 40000; }

static void pieces_are_zeroed_and_apart(void **state) {
    (void)state;
    struct rm_arena arena = {0};
    uint8_t *piece[PIECES];
    for (uint32_t i = 0; i < PIECES; ++i) {
        piece[i] = rm_arena_take(&arena, bytes_of(i));
        assert_non_null(piece[i]);
        assert_int_equal((uintptr_t)piece[i] % LINE_BYTES, 0);
        for (size_t at = 0; at < bytes_of(i); ++at)
            assert_int_equal(piece[i][at], 0);
        memset(piece[i], (int)(i % 255) + 1, bytes_of(i));
    }
    for (uint32_t i = 0; i < PIECES; ++i)
        for (size_t at = 0; at < bytes_of(i); ++at)
            assert_int_equal(piece[i][at], i % 255 + 1);
    rm_arena_free(&arena);
    assert_null(arena.newest);
}

static void a_piece_may_be_larger_than_a_large_page(void **state) {
    (void)state;
    struct rm_arena arena = {0};
    uint8_t *const before = rm_arena_take(&arena, 100);
    uint8_t *const large = rm_arena_take(&arena, 5 << 20);
    uint8_t *const after = rm_arena_take(&arena, 100);
    assert_non_null(before);
    assert_non_null(large);
    assert_non_null(after);
    memset(large, 1, 5 << 20);
    assert_int_equal(before[99], 0);
    assert_int_equal(after[0], 0);
    rm_arena_free(&arena);
}

static void what_there_is_not_is_not_given(void **state) {
    (void)state;
    struct rm_arena arena = {0};
    assert_null(rm_arena_take(&arena, SIZE_MAX / 4));
    assert_non_null(rm_arena_take(&arena, 1));
    rm_arena_free(&arena);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(pieces_are_zeroed_and_apart),
        cmocka_unit_test(a_piece_may_be_larger_than_a_large_page),
        cmocka_unit_test(what_there_is_not_is_not_given),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
