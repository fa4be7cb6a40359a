// SPDX-License-Identifier: Apache-2.0
/** Memory on large pages begins at one, is zeroed, and all of it can be written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/large_pages.h"

static void it_begins_at_a_large_page(void **state) {
    (void)state;
    size_t const wanted[] = {1, RM_LARGE_PAGE_BYTES - 1, RM_LARGE_PAGE_BYTES, RM_LARGE_PAGE_BYTES + 1};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; ++i) {
        size_t const bytes = rm_large_pages_bytes(wanted[i]);
        assert_int_equal(bytes, wanted[i] > RM_LARGE_PAGE_BYTES ? 2 * RM_LARGE_PAGE_BYTES : RM_LARGE_PAGE_BYTES);
        uint8_t *const memory = rm_large_pages_map(wanted[i]);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % RM_LARGE_PAGE_BYTES, 0);
        assert_int_equal(memory[0], 0);
        assert_int_equal(memory[bytes - 1], 0);
        memset(memory, 1, bytes);
        assert_int_equal(munmap(memory, bytes), 0);
    }
}

static void what_there_is_not_is_not_given(void **state) {
    (void)state;
    assert_null(rm_large_pages_map(SIZE_MAX / 4));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(it_begins_at_a_large_page),
        cmocka_unit_test(what_there_is_not_is_not_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
