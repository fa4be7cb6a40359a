// SPDX-License-Identifier: Apache-2.0
/** What is deleted when: by age, by a quota, and for room; the fastest log gives first, and none for a faster one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recorder.h"
#include "test_disk.h"

enum { RAW, FAST, STEPS, LOGS, FILES = 5, MB = 1 << 20 };

static uint64_t const SECOND_NS = 1000000000;

struct rig {
    struct test_disk disk;
    struct rm_record_configuration configuration;
    struct rm_recorder recorder;
    struct rm_recorded_log log[LOGS];
};

static void rig_make(struct rig *rig) {
    memset(rig, 0, sizeof *rig);
    test_disk_make(&rig->disk, 1);
    rig->recorder = (struct rm_recorder){.configuration = &rig->configuration,
                                         .disk = test_disk_of(&rig->disk),
                                         .log = rig->log,
                                         .log_count = LOGS,
                                         .moment = {.tai_ns = 1000 * SECOND_NS}};
    assert_int_equal(rm_sealer_start(&rig->recorder.sealer, NULL), RM_OK);
    for (unsigned l = 0; l < LOGS; ++l) {
        struct rm_recorded_log *log = &rig->log[l];
        log->bytes_per_s = l == RAW ? 1e8 : l == FAST ? 1e6 : 1e3;
        log->log.file_bytes = MB;
        rm_log_open(&log->log);
        for (unsigned f = 0; f < FILES; ++f) { /* of 900, 910, … seconds */
            struct rm_kept_file const file = {
                .number = f + 1, .bytes = MB, .newest_tai_ns = (900 + 10ull * f) * SECOND_NS};
            assert_true(rm_kept_files_add(&log->kept, &file));
        }
    }
}

static void rig_free(struct rig *rig) {
    rm_sealer_stop(&rig->recorder.sealer);
    for (struct rm_seal_job *job; (job = rm_sealer_take(&rig->recorder.sealer)) != NULL;)
        free(job);
    for (unsigned l = 0; l < LOGS; ++l)
        rm_kept_files_free(&rig->log[l].kept);
    test_disk_free(&rig->disk);
}

static void assert_kept(struct rig const *rig, unsigned raw, unsigned fast, unsigned steps) {
    assert_int_equal(rig->log[RAW].kept.count, raw);
    assert_int_equal(rig->log[FAST].kept.count, fast);
    assert_int_equal(rig->log[STEPS].kept.count, steps);
}

static void test_by_age_and_by_quota(void **state) {
    struct rig rig;
    (void)state;
    rig_make(&rig);
    rig.log[RAW].retention.keep_ns = 85 * SECOND_NS; /* what ended before 915 */
    rig.log[FAST].retention.quota_bytes = 3 * MB;
    rm_retention_apply(&rig.recorder);
    assert_kept(&rig, 3, 3, FILES);
    assert_int_equal(rig.log[RAW].kept.file[0].number, 3); /* the oldest went */
    assert_int_equal(rig.log[RAW].kept.bytes, 3 * MB);
    assert_int_equal(rig.log[RAW].deleted_files, 2);
    rm_retention_apply(&rig.recorder);
    assert_kept(&rig, 3, 3, FILES);
    rig_free(&rig);
}

static void test_the_fastest_gives_first(void **state) {
    struct rig rig;
    (void)state;
    rig_make(&rig);
    rig.configuration.quota_bytes = 3 * FILES * MB; /* of which all is taken */
    assert_true(rm_retention_make_room(&rig.recorder, &rig.log[STEPS], MB));
    assert_kept(&rig, FILES - 1, FILES, FILES);
    rig_free(&rig);
}

static void test_none_gives_for_a_faster_one(void **state) {
    struct rig rig;
    (void)state;
    rig_make(&rig);
    rig.configuration.quota_bytes = 2 * FILES * MB; /* without any raw file that is still too little for one … */
    assert_false(rm_retention_make_room(&rig.recorder, &rig.log[RAW], MB));
    assert_kept(&rig, FILES, FILES, FILES); /* … so nothing is deleted in vain */
    rig.configuration.quota_bytes = (2 * FILES + 6) * MB;
    assert_true(rm_retention_make_room(&rig.recorder, &rig.log[RAW], MB));
    assert_kept(&rig, 1, FILES, FILES);
    rig_free(&rig);
}

/** A raw file is not made where two files of each slower log would not find room any more. */
static void test_room_is_left_for_the_slow(void **state) {
    struct rig rig;
    (void)state;
    rig_make(&rig);
    while (rig.log[RAW].kept.count > 0)
        rm_kept_files_drop(&rig.log[RAW].kept);
    rig.configuration.quota_bytes = (2 * FILES + 4) * MB;
    assert_false(rm_retention_make_room(&rig.recorder, &rig.log[RAW], MB));
    assert_true(rm_retention_make_room(&rig.recorder, &rig.log[STEPS], MB));
    rig.configuration.quota_bytes += MB;
    assert_true(rm_retention_make_room(&rig.recorder, &rig.log[RAW], MB));
    assert_kept(&rig, 0, FILES, FILES);
    rig_free(&rig);
}

static void test_a_full_disk_is_emptied_of_the_fastest(void **state) {
    struct rig rig;
    (void)state;
    rig_make(&rig);
    rig.disk.free_bytes =
        0; /* and nothing that is removed makes it more: it gives up when too little is left to give */
    assert_false(rm_retention_make_room(&rig.recorder, &rig.log[FAST], MB));
    assert_kept(&rig, 0, 2, FILES);
    rig_free(&rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_by_age_and_by_quota),
        cmocka_unit_test(test_the_fastest_gives_first),
        cmocka_unit_test(test_none_gives_for_a_faster_one),
        cmocka_unit_test(test_room_is_left_for_the_slow),
        cmocka_unit_test(test_a_full_disk_is_emptied_of_the_fastest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
