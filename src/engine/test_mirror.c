// SPDX-License-Identifier: Apache-2.0
/* The account of two networks, against sets that remember everything. */
#include "engine/mirror.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RECORDS = 1000000, LATE = 4096, START = 12345 };

struct networks {
    struct rm_mirror_path path[2];
    rm_counter counters[2][RM_PATH_COUNTERS];
    uint8_t *brought[2]; /**< by record: how often */
};

static struct networks *make(void) {
    struct networks *networks = calloc(1, sizeof *networks);
    for (int i = 0; i < 2; ++i) {
        networks->brought[i] = calloc(RECORDS, 1);
        assert_true(rm_mirror_path_init(&networks->path[i], networks->counters[i]));
    }
    return networks;
}

static void end(struct networks *networks) {
    for (int i = 0; i < 2; ++i) {
        rm_mirror_path_free(&networks->path[i]);
        free(networks->brought[i]);
    }
    free(networks);
}

static uint64_t count(struct networks const *networks, int i, enum rm_path_counter counter) {
    return rm_counter_get(networks->counters[i], counter);
}

/** What the stream writer would say of a copy of `record`. */
static enum rm_put put_of(struct networks const *networks, uint32_t record, uint32_t head) {
    if (networks->brought[0][record] + networks->brought[1][record] > 0)
        return RM_PUT_DUPLICATE;
    return record < head ? RM_PUT_OUT_OF_ORDER : RM_PUT_NEW;
}

static void bring(struct networks *networks, int i, uint32_t record, uint32_t head) {
    enum rm_put const put = put_of(networks, record, head);
    bool const twice = networks->brought[i][record] > 0;
    assert_int_equal(rm_mirror_path_note(&networks->path[i], START + record, put), twice);
    ++networks->brought[i][record];
}

static uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

/** Each network loses, repeats and delays on its own; one is away for half a second. */
static void each_network_is_accounted_for(void **state) {
    (void)state;
    struct networks *networks = make();
    uint64_t random = 7;
    bring(networks, 0, 0, 0);
    bring(networks, 1, 0, 0);
    for (uint32_t record = 1; record < RECORDS; ++record) {
        for (int i = 0; i < 2; ++i) {
            bool const away = i == 1 && record > 300000 && record < 800000;
            uint32_t const dice = next_random(&random) % 1000;
            if (away || dice < 10)
                continue;
            bring(networks, i, record, record);
            if (dice < 20)
                bring(networks, i, record, record);
            if (dice > 990 && record > LATE && networks->brought[i][record - 1000] == 0)
                bring(networks, i, record - 1000, record);
        }
        if (record % 11570 == 0 && record > LATE)
            for (int i = 0; i < 2; ++i)
                rm_mirror_path_reconcile(&networks->path[i], START + record - LATE);
    }
    for (int i = 0; i < 2; ++i) {
        rm_mirror_path_reconcile(&networks->path[i], START + RECORDS - LATE);
        uint64_t lost = 0, received = 0, first_or_second = 0;
        for (uint32_t record = 0; record < RECORDS; ++record) {
            lost += record < RECORDS - LATE && networks->brought[i][record] == 0;
            received += networks->brought[i][record];
            first_or_second += networks->brought[i][record] > 0;
        }
        assert_int_equal(count(networks, i, RM_PATH_LOST), lost);
        assert_int_equal(count(networks, i, RM_PATH_RECEIVED), received);
        assert_int_equal(count(networks, i, RM_PATH_FIRST) + count(networks, i, RM_PATH_SECOND), first_or_second);
        assert_int_equal(count(networks, i, RM_PATH_DUPLICATE), received - first_or_second);
    }
    assert_true(count(networks, 1, RM_PATH_LOST) > 500000 - 2);
    end(networks);
}

static void a_network_that_never_spoke_loses_from_the_first_reconciliation(void **state) {
    (void)state;
    struct networks *networks = make();
    rm_mirror_path_reconcile(&networks->path[1], START);
    rm_mirror_path_reconcile(&networks->path[1], START + 50000);
    rm_mirror_path_reconcile(&networks->path[1], START + 500000);
    assert_int_equal(count(networks, 1, RM_PATH_LOST), 500000);
    assert_int_equal(count(networks, 1, RM_PATH_RECEIVED), 0);
    end(networks);
}

static void refused_records_count_nowhere(void **state) {
    (void)state;
    struct networks *networks = make();
    assert_false(rm_mirror_path_note(&networks->path[0], START, RM_PUT_BEHIND));
    assert_int_equal(count(networks, 0, RM_PATH_RECEIVED), 0);
    end(networks);
}

static void a_restart_begins_the_numbers_anew(void **state) {
    (void)state;
    struct networks *networks = make();
    rm_mirror_path_note(&networks->path[0], START, RM_PUT_NEW);
    rm_mirror_path_restart(&networks->path[0]);
    assert_false(rm_mirror_path_note(&networks->path[0], 5, RM_PUT_NEW));
    assert_true(rm_mirror_path_note(&networks->path[0], 5, RM_PUT_DUPLICATE));
    rm_mirror_path_reconcile(&networks->path[0], 6);
    assert_int_equal(count(networks, 0, RM_PATH_LOST), 0);
    end(networks);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(each_network_is_accounted_for),
        cmocka_unit_test(a_network_that_never_spoke_loses_from_the_first_reconciliation),
        cmocka_unit_test(refused_records_count_nowhere),
        cmocka_unit_test(a_restart_begins_the_numbers_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
