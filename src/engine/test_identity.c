// SPDX-License-Identifier: Apache-2.0
/* The table of senders, against a plain list. */
#include "engine/identity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MANY = 1024 };

/** Never looked into. */
static struct rm_instrument *instrument(uint32_t index) { return (struct rm_instrument *)(uintptr_t)(64 + 64 * index); }

static struct rm_identity_table table_of(uint32_t count) {
    struct rm_identity_table table;
    struct rm_error error;
    assert_int_equal(rm_identity_table_init(&table, count, &error), RM_OK);
    return table;
}

static void everyone_is_found_and_nobody_else(void **state) {
    (void)state;
    struct rm_identity_table table = table_of(MANY);
    for (uint32_t i = 0; i < MANY; ++i)
        rm_identity_add(&table, 0x0A140000 + i, (uint16_t)(65535 - i), instrument(i), NULL);
    for (uint32_t i = 0; i < MANY; ++i) {
        struct rm_identity const *found = rm_identity_find(&table, 0x0A140000 + i, 65535 - i);
        assert_non_null(found);
        assert_ptr_equal(found->instrument, instrument(i));
        assert_null(rm_identity_find(&table, 0x0A140000 + i, 65534 - i));
        assert_null(rm_identity_find(&table, 0x0A140000 + i, 0x10000 + 65535 - i));
        assert_true(rm_identity_knows_source(&table, 0x0A140000 + i));
        assert_true(rm_identity_knows_id(&table, 65535 - i));
    }
    assert_false(rm_identity_knows_source(&table, 0x0A140000 + MANY));
    assert_false(rm_identity_knows_id(&table, 5));
    assert_false(rm_identity_knows_id(&table, RM_IDENTITY_SOURCE));
    rm_identity_table_free(&table);
}

static void one_address_may_have_many(void **state) {
    (void)state;
    struct rm_identity_table table = table_of(256);
    for (uint32_t i = 0; i < 256; ++i)
        rm_identity_add(&table, 0xFFFFFFFE, (uint16_t)i, instrument(i), NULL);
    for (uint32_t i = 0; i < 256; ++i)
        assert_ptr_equal(rm_identity_find(&table, 0xFFFFFFFE, i)->instrument, instrument(i));
    assert_null(rm_identity_find(&table, 0xFFFFFFFE, 256));
    rm_identity_table_free(&table);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(everyone_is_found_and_nobody_else),
        cmocka_unit_test(one_address_may_have_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
