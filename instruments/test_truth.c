// SPDX-License-Identifier: Apache-2.0
/** A machine with magnets where they stand, and the file that tells: a twin that knows nothing but the file is the same
 * machine. And a quadrupole whose gradient moves kicks the beam by the distance from its centre. */
#include "test_truth_rig.h"

static void the_truth_is_the_whole_machine(void **state) {
    struct rig *rig = truth_rig_at_rest(state);
    make_twin(rig);
    assert_true(reading_difference(rig) < 1);
    for (uint32_t s = 0; s < SUPPLIES; ++s)
        rig->current[s] = 0.3 * sin(s * s); /* some µrad */
    truth_look(rig);
    assert_true(reading_difference(rig) > 10000);
    set_kicks(rig);
    assert_true(reading_difference(rig) < 1);
}

/** RMS of two members of a list's objects, less x and y of each, in m. */
static double rms_of(struct rig const *rig, char const *list, char const *x, char const *y, double (*less)[2]) {
    char object[1000];
    double squares = 0;
    uint32_t count = 0;
    for (char const *at = list_of(rig, list); next_object(&at, object, sizeof object); ++count)
        squares += pow(number_of(object, x) - (less == NULL ? 0 : less[count][0]), 2) +
                   pow(number_of(object, y) - (less == NULL ? 0 : less[count][1]), 2);
    return sqrt(squares / (2 * count));
}

/** The orbit of steered magnets is small, though they stand far off. So what BPMs read of it is not what they read in
 * the centres of their quadrupoles. */
static void the_orbit_is_steered_and_tells_no_centre(void **state) {
    struct rig *rig = truth_rig_at_rest(state);
    double squares = 0, reading[BPMS][2];
    for (uint32_t b = 0; b < BPMS; ++b) {
        double x, y;
        rm_machine_true_orbit(rig->machine, b, &x, &y);
        squares += (x * x + y * y) / (2 * BPMS);
        rm_machine_read(rig->machine, b, &x, &y);
        reading[b][0] = 1e-9 * x;
        reading[b][1] = 1e-9 * y;
    }
    assert_true(sqrt(squares) < 15e-6);
    assert_true(fabs(rms_of(rig, "magnets", "dx_m", "dy_m", NULL) / 20e-6 - 1) < 0.05);
    double const off = rms_of(rig, "bpms", "centre_x_m", "centre_y_m", reading);
    assert_true(off > 15e-6 && off < 35e-6);
}

/** Change of the readings of all BPMs when a magnet's gradient grows by a share: x, then y. */
static void move_gradient(struct rig *rig, char const *name, double share, double *change) {
    uint32_t knob = 0;
    while (strcmp(rm_machine_knob_name(rig->machine, knob), name) != 0)
        ++knob;
    truth_look(rig);
    for (uint32_t b = 0; b < BPMS; ++b)
        rm_machine_true_orbit(rig->machine, b, &change[b], &change[BPMS + b]);
    rm_machine_set(rig->machine, knob, share);
    truth_look(rig);
    for (uint32_t b = 0; b < BPMS; ++b) {
        double x, y;
        rm_machine_true_orbit(rig->machine, b, &x, &y);
        change[b] = x - change[b];
        change[BPMS + b] = y - change[BPMS + b];
    }
    rm_machine_set(rig->machine, knob, 0);
}

static double length_of(double const *vector, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; ++i)
        sum += vector[i] * vector[i];
    return sqrt(sum);
}

/** Moving a quadrupole's gradient kicks by ΔK L (centre − beam). So a kick of that size there makes the same orbit; and
 * a beam that goes through the centre is not kicked. */
static void a_gradient_kicks_by_the_offset_of_its_magnet(void **state) {
    struct rig *rig = truth_rig_at_rest(state);
    static char const NAME[] = "QF1_S02_01";
    static double change[2 * BPMS], matrix[2][BPMS][3];
    double const share = 0.005;
    uint32_t element, bpm[BPMS];
    char object[1000];
    make_twin(rig);
    assert_int_equal(rm_lattice_find(rig->lattice, NAME, RM_ELEMENT_KINDS, &element, 1), 1);
    rm_lattice_find(rig->lattice, "BPM_*", RM_ELEMENT_KINDS, bpm, BPMS);
    char const *at = list_of(rig, "magnets");
    while (next_object(&at, object, sizeof object) && number_of(object, "first") != element)
        continue;
    double const centre[2] = {number_of(object, "dx_m"), number_of(object, "dy_m")};
    uint32_t const ends[2] = {element, element + 1};
    double start[6], orbit[2][RM_COORDINATES];
    truth_check(rig, rm_twin_find_orbit(rig->twin, NULL, start, ends, 2, orbit, &rig->error));
    struct rm_element const *e = rm_twin_element(rig->twin, element);
    double const strength = e->polynom_b[1] * share * e->length_m;
    /* the beam in the middle of the magnet, and the response there with half of the change */
    double const beam[2] = {(orbit[0][0] + orbit[1][0]) / 2, (orbit[0][2] + orbit[1][2]) / 2};
    double const kick[2] = {strength * (centre[0] - beam[0]), -strength * (centre[1] - beam[1])};
    truth_check(rig,
                rm_twin_set_polynom(rig->twin, element, RM_NORMAL, 1, e->polynom_b[1] * (1 + share / 2), &rig->error));
    struct rm_steerer const steerers[2] = {{element, RM_HORIZONTAL}, {element, RM_VERTICAL}};
    truth_check(rig, rm_twin_response(rig->twin, NULL, bpm, BPMS, steerers, 2, &matrix[0][0][0], &rig->error));
    move_gradient(rig, NAME, share, change);
    double const moved = length_of(change, 2 * BPMS);
    assert_true(moved > 0.2e-6 * sqrt(2 * BPMS));
    for (uint32_t row = 0; row < 2 * BPMS; ++row)
        for (int plane = 0; plane < 2; ++plane)
            change[row] -= matrix[row / BPMS][row % BPMS][plane] * kick[plane];
    assert_true(length_of(change, 2 * BPMS) < 0.02 * moved);
}

/** Sets the field of the pieces of a strength, of the file's object, as its supply has it. */
static void set_strength(struct rig *rig, char const *object, double current) {
    static char const KEY[] = "\"elements\": [";
    bool const skew = strstr(object, "\"change\": \"skew\"") != NULL;
    bool const sextupole = strstr(object, "\"change\": \"sextupole\"") != NULL;
    double const change = current * number_of(object, "per_unit"), error = number_of(object, "error");
    char *more = strstr(object, KEY) + strlen(KEY);
    for (; *more >= '0' && *more <= '9'; more += strspn(more, ", ")) {
        uint32_t const piece = (uint32_t)strtoul(more, &more, 10);
        struct rm_element const *e = rm_lattice_element(rig->lattice, piece);
        double const field =
            skew ? (error + change) / e->length_m : e->polynom_b[sextupole ? 2 : 1] * (1 + error) * (1 + change);
        truth_check(rig, rm_twin_set_polynom(rig->twin, piece, skew ? RM_SKEW : RM_NORMAL, sextupole ? 2 : 1, field,
                                             &rig->error));
    }
    assert_int_equal(*more, ']');
}

static void strengths_are_told(void **state) {
    struct rig *rig = truth_rig_at_rest(state);
    char object[1000];
    uint32_t s = 0;
    for (uint32_t i = 0; i < STRENGTHS; ++i)
        rig->current[SUPPLIES + i] = 2 * cos(i * i);
    truth_look(rig);
    make_twin(rig);
    assert_true(reading_difference(rig) > 100);
    for (char const *at = list_of(rig, "strengths"); next_object(&at, object, sizeof object); ++s) {
        assert_true(number_of(object, "supply") == s % 24 + 1);
        set_strength(rig, object, rig->current[SUPPLIES + s]);
    }
    assert_int_equal(s, STRENGTHS);
    assert_true(reading_difference(rig) < 1);
}

/** QD1 stands beside BPM_01 and has no supply; B1 stands between BPM_03 and QD2. */
static void aligned_magnets_are_told(void **state) {
    struct rig *rig = truth_rig_at_rest(state);
    static char const *const expected[] = {"SD1_S01_01", "QD2_S01_01", "SD1_S01_01", "SF1_S01_01", "SF1_S01_01"};
    uint32_t const known = sizeof expected / sizeof expected[0];
    char object[1000], text[80];
    char const *at = list_of(rig, "bpms");
    for (uint32_t b = 0; next_object(&at, object, sizeof object); ++b) {
        bool const quadrupole = strstr(object, "\"kind\": \"quadrupole\"") != NULL;
        double const x = number_of(object, "magnet_x_m"), y = number_of(object, "magnet_y_m");
        assert_true(quadrupole == (b % 14 == 1 || b % 14 == 12));
        assert_true(quadrupole == (x == number_of(object, "centre_x_m")));
        assert_true(quadrupole == (y == number_of(object, "centre_y_m")));
        assert_true(b != 0 || strstr(object, "\"quadrupole\": \"QD1_S01_01\"") != NULL);
        snprintf(text, sizeof text, "\"magnet\": \"%s\"", b < known ? expected[b] : "");
        assert_true(b >= known || strstr(object, text) != NULL);
    }
}

static void the_same_seed_draws_the_same(void **state) {
    struct rig const *one = *state;
    struct rig again, other;
    truth_rig_make(&again, 7);
    truth_rig_make(&other, 8);
    assert_string_equal(one->truth, again.truth);
    assert_string_not_equal(one->truth, other.truth);
    truth_rig_free(&again);
    truth_rig_free(&other);
}

/** What the electronics do is in the file as the configuration has it. */
static void electronics_are_told(void **state) {
    struct rig *rig = truth_rig_at_rest(state);
    char object[1000];
    uint32_t b = 0, inverted = 0, swapped = 0, shifted = 0, as_configured = 0;
    for (char const *at = list_of(rig, "bpms"); next_object(&at, object, sizeof object); ++b) {
        struct rm_virtual_instrument const *instrument = &rig->ring.instruments[b / 2];
        inverted += number_of(object, "inverted_x") > 0;
        inverted += number_of(object, "inverted_y") > 0;
        swapped += number_of(object, "swapped") > 0;
        shifted += number_of(object, "turn_shift") != 0;
        assert_true(number_of(object, "turn_shift") == (double)instrument->turn_error);
        assert_true(isfinite(number_of(object, "centre_x_m")) && isfinite(number_of(object, "centre_y_m")));
    }
    for (uint32_t r = 0; r < rig->ring.readout_count; ++r)
        as_configured += (uint32_t)__builtin_popcount(rig->ring.readouts[r].inverted) + rig->ring.readouts[r].swapped;
    assert_true(inverted > 0 && swapped > 0 && shifted > 0);
    assert_int_equal(inverted + swapped, as_configured);
}

static void supplies_are_told(void **state) {
    struct rig const *rig = *state;
    char object[1000];
    uint32_t count = 0;
    for (char const *at = list_of(rig, "supplies"); next_object(&at, object, sizeof object); ++count) {
        assert_non_null(strstr(object, "\"chain\": \"cx03\""));
        assert_true(number_of(object, "supply") == 7);
        assert_true(fabs(1e3 * number_of(object, "tick_s") - 1) < 1e-4 && number_of(object, "tick_s") != 1e-3);
        assert_true(number_of(object, "tick_first_s") >= 0 && number_of(object, "tick_first_s") < 1.1e-3);
        assert_non_null(strstr(object, "\"ripple_phase_rad\": ["));
    }
    assert_int_equal(count, 1);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(the_truth_is_the_whole_machine),
        cmocka_unit_test(the_orbit_is_steered_and_tells_no_centre),
        cmocka_unit_test(a_gradient_kicks_by_the_offset_of_its_magnet),
        cmocka_unit_test(strengths_are_told),
        cmocka_unit_test(aligned_magnets_are_told),
        cmocka_unit_test(the_same_seed_draws_the_same),
        cmocka_unit_test(electronics_are_told),
        cmocka_unit_test(supplies_are_told),
    };
    return cmocka_run_group_tests(tests, truth_rig_open, truth_rig_close);
}
