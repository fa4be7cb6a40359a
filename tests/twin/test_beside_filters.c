// SPDX-License-Identifier: Apache-2.0
/** One program may hold a twin and filters: their headers share no name, their libraries no symbol. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <ringmaster/twin.h>

#include "filter/decimator.h"

static void each_knows_its_own_instruction_sets(void **state) {
    (void)state;
    struct rm_lattice_facts const info = {
        .name = "test", .particle = "relativistic", .charge_e = -1, .energy_ev = 2.4e9, .periodicity = 1};
    struct rm_element const drift = {.name = "D1", .kind = RM_ELEMENT_DRIFT, .pass = RM_PASS_DRIFT, .length_m = 1};
    struct rm_tracking const tracking = {.turns = 1, .simd = RM_SIMD_SCALAR};
    double particle[1][RM_COORDINATES] = {{0, 1e-6}};
    struct rm_lattice *lattice = NULL;
    struct rm_twin *twin = NULL;
    struct rm_error error;
    assert_int_equal(rm_lattice_make(&info, &drift, 1, &lattice, &error), RM_OK);
    assert_int_equal(rm_twin_make(lattice, &twin, &error), RM_OK);
    assert_int_equal(rm_twin_track(twin, particle, 1, &tracking, &error), RM_OK);
    assert_true(particle[0][0] == 1e-6);
    assert_string_equal(rm_simd_name(RM_SIMD_SCALAR), "scalar");
    rm_twin_free(twin);
    rm_lattice_free(lattice);
}

int main(void) {
    struct CMUnitTest const tests[] = {cmocka_unit_test(each_knows_its_own_instruction_sets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
