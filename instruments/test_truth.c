// SPDX-License-Identifier: Apache-2.0
/** A machine with magnets where they stand, and the file that tells: a twin that knows nothing but the file is the same
 * machine. And a quadrupole whose gradient moves kicks the beam by the distance from its centre. */
#include "truth.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <ringmaster/twin.h>

#include "test_files.h"

enum { BPMS = 168, CORRECTORS = 168, SUPPLIES = 2 * CORRECTORS };

#define CHAINS(name, id)                                                                                               \
    "  - {name: " name ", count: 6, id: " id "1, port: ring, address: 10.30.0." id                                     \
    "1, supplies: [{count: 28, unit: A, "                                                                              \
    "limits: [-10, 10], slew: 100, name: \"" name "{chain}_\"}]}\n"

static char const RING[] = "instruments: [{name: bpm, kind: bpm, id: 1, count: 84, port: ring, source: 10.20.0.1}]\n"
                           "setpoints: {period_turns: 12}\n"
                           "chains:\n" CHAINS("cx", "1") CHAINS("cy", "2");
static char const OVERLAY[] =
    "supplies: [{supplies: cx03/7, regulation_hz: 1000, drift_ppm: 100, ripple: [{hz: 50, amplitude: 1}]}]\n"
    "machine:\n"
    "  lattice: elettra2_like\n"
    "  seed: %u\n"
    "  bpms: \"BPM_*\"\n"
    "  blend_ms: 0\n"
    "  errors: {beta_beat: 0.03, magnet_offset_um: 20, magnet_roll_mrad: 0.2, sextupole: 0.01, skew_per_m: 0.0005,\n"
    "           bpm_gain: 0.05, bpm_offset_um: 50, bpm_roll_mrad: 5, bpm_crosstalk: 0.01, bpm_pincushion_per_mm2: "
    "0.01,\n"
    "           bpm_inverted: 0.05, bpm_swapped: 0.05, bpm_turn_shift: 0.1, corrector_gain: 0.05, corrector_roll_mrad: "
    "5}\n"
    "  correctors:\n"
    "    - {elements: \"CS_*\", plane: x, supplies: \"cx*\", urad_per_unit: 10}\n"
    "    - {elements: \"CS_*\", plane: y, supplies: \"cy*\", urad_per_unit: 10}\n"
    "  disturbances: {mains: [{hz: 50, orbit_um: 0}]}\n";

struct rig {
    struct rm_ring_config ring;
    struct rm_machine *machine;
    double current[SUPPLIES];
    uint64_t steps;
    /** The truth, as text. */
    char *truth;
    /** A twin that is made of it. */
    struct rm_lattice *lattice;
    struct rm_twin *twin;
    struct rm_error error;
};

static void check(struct rig const *rig, enum rm_code code) {
    if (code != RM_OK)
        fail_msg("%s", rig->error.text);
}

/** Text of the file, to be freed. */
static char *read_truth(struct rig *rig) {
    char path[] = "/tmp/ringmaster-truth-XXXXXX", *text = calloc(1, 1 << 20);
    close(mkstemp(path));
    check(rig, rm_truth_write(&rig->ring, rig->machine, path, &rig->error));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 10000);
    fclose(file);
    unlink(path);
    return text;
}

static void rig_make(struct rig *rig, unsigned seed) {
    char overlay[2000];
    *rig = (struct rig){0};
    snprintf(overlay, sizeof overlay, OVERLAY, seed);
    test_files_load_good(RING, overlay, &rig->ring);
    check(rig, rm_machine_make(&rig->ring.machine, 1e6, &rig->machine, &rig->error));
    rig->truth = read_truth(rig);
}

static void rig_free(struct rig *rig) {
    rm_machine_free(rig->machine);
    rm_twin_free(rig->twin);
    rm_lattice_free(rig->lattice);
    rm_ring_config_free(&rig->ring);
    free(rig->truth);
}

/** Makes a step with the currents, and looks. */
static void look(struct rig *rig) {
    rm_machine_step(rig->machine, (double)rig->steps++ / 1e4, rig->current);
    check(rig, rm_machine_refresh(rig->machine, &rig->error));
    rm_machine_step(rig->machine, (double)rig->steps++ / 1e4, rig->current);
}

static int rig_open(void **state) {
    struct rig *rig = malloc(sizeof *rig);
    assert_non_null(rig);
    rig_make(rig, 7);
    *state = rig;
    return 0;
}

static int rig_close(void **state) {
    rig_free(*state);
    free(*state);
    return 0;
}

/** The rig that all tests share, without currents. */
static struct rig *rig_at_rest(void **state) {
    struct rig *rig = *state;
    memset(rig->current, 0, sizeof rig->current);
    look(rig);
    return rig;
}

/** The object of a list of the truth behind `*at`, which moves on; false at the list's end. */
static bool next_object(char const **at, char *object, size_t room) {
    char const *start = *at + strcspn(*at, "{]"), *end = start + strcspn(start, "}");
    if (*start != '{')
        return false;
    assert_true((size_t)(end - start) < room);
    memcpy(object, start, (size_t)(end - start));
    object[end - start] = '\0';
    *at = end;
    return true;
}

static char const *list_of(struct rig const *rig, char const *name) {
    char key[40];
    snprintf(key, sizeof key, "\"%s\": [", name);
    char const *at = strstr(rig->truth, key);
    assert_non_null(at);
    return at + strlen(key);
}

static double number_of(char const *object, char const *name) {
    char key[40];
    snprintf(key, sizeof key, "\"%s\": ", name);
    char const *at = strstr(object, key);
    assert_non_null(at);
    return strncmp(at + strlen(key), "true", 4) == 0 ? 1 : strtod(at + strlen(key), NULL);
}

static void set_magnets(struct rig *rig) {
    char object[1000];
    uint32_t count = 0;
    for (char const *at = list_of(rig, "magnets"); next_object(&at, object, sizeof object); ++count) {
        uint32_t const first = (uint32_t)number_of(object, "first");
        enum rm_element_kind const kind = rm_lattice_element(rig->lattice, first)->kind;
        double length = 0;
        for (uint32_t i = first; i < number_of(object, "end"); ++i)
            length += rm_lattice_element(rig->lattice, i)->length_m;
        for (uint32_t i = first; i < number_of(object, "end"); ++i) {
            struct rm_element const *e = rm_lattice_element(rig->lattice, i);
            if (e->length_m == 0)
                continue;
            assert_int_equal(e->kind, kind);
            check(rig, rm_twin_set_misalignment(rig->twin, i, number_of(object, "dx_m"), number_of(object, "dy_m"), 0,
                                                number_of(object, "roll_rad"), &rig->error));
            if (kind == RM_ELEMENT_SEXTUPOLE)
                check(rig, rm_twin_set_polynom(rig->twin, i, RM_NORMAL, 2,
                                               e->polynom_b[2] * (1 + number_of(object, "sextupole")), &rig->error));
            if (kind != RM_ELEMENT_DIPOLE)
                check(rig, rm_twin_set_polynom(rig->twin, i, RM_SKEW, 1, number_of(object, "skew_per_m") / length,
                                               &rig->error));
        }
    }
    assert_true(count == 480);
    for (char const *at = list_of(rig, "gradients"); next_object(&at, object, sizeof object);) {
        uint32_t const element = (uint32_t)number_of(object, "element");
        double const design = rm_lattice_element(rig->lattice, element)->polynom_b[1];
        check(rig, rm_twin_set_polynom(rig->twin, element, RM_NORMAL, 1, design * (1 + number_of(object, "relative")),
                                       &rig->error));
    }
}

/** Kicks at no current, and those of the currents. */
static void set_kicks(struct rig *rig) {
    static double kick[4000][2];
    char object[1000];
    memset(kick, 0, sizeof kick);
    assert_true(rm_lattice_count(rig->lattice) < 4000);
    for (char const *at = list_of(rig, "steering"); next_object(&at, object, sizeof object);)
        for (int plane = 0; plane < 2; ++plane)
            kick[(uint32_t)number_of(object, "element")][plane] += number_of(object, plane == 0 ? "x_rad" : "y_rad");
    uint32_t supply = 0;
    for (char const *at = list_of(rig, "correctors"); next_object(&at, object, sizeof object); ++supply)
        for (int plane = 0; plane < 2; ++plane)
            kick[(uint32_t)number_of(object, "element")][plane] +=
                rig->current[supply] * number_of(object, plane == 0 ? "x_rad_per_unit" : "y_rad_per_unit");
    assert_int_equal(supply, SUPPLIES); /* in the groups' order, which is the chains' here */
    for (uint32_t e = 0; e < rm_lattice_count(rig->lattice); ++e)
        if (kick[e][0] != 0 || kick[e][1] != 0)
            check(rig, rm_twin_set_kick(rig->twin, e, kick[e][0], kick[e][1], &rig->error));
}

static void make_twin(struct rig *rig) {
    rm_twin_free(rig->twin);
    rm_lattice_free(rig->lattice);
    check(rig, rm_lattice_read(rig->ring.machine.lattice, NULL, &rig->lattice, &rig->error));
    check(rig, rm_twin_make(rig->lattice, &rig->twin, &rig->error));
    check(rig, rm_twin_enable_6d(rig->twin, &rig->error));
    set_magnets(rig);
    set_kicks(rig);
}

/** The largest difference of the readings from those of a twin's orbit with the file's errors, nm. */
static double reading_difference(struct rig *rig) {
    uint32_t bpm[BPMS], b = 0;
    double start[6], orbit[BPMS][RM_COORDINATES], most = 0;
    char object[1000];
    assert_int_equal(rm_lattice_find(rig->lattice, "BPM_*", RM_ELEMENT_KINDS, bpm, BPMS), BPMS);
    check(rig, rm_twin_find_orbit(rig->twin, NULL, start, bpm, BPMS, orbit, &rig->error));
    for (char const *at = list_of(rig, "bpms"); next_object(&at, object, sizeof object); ++b) {
        assert_int_equal((uint32_t)number_of(object, "element"), bpm[b]);
        double const c = number_of(object, "pincushion_per_m2"), x0 = orbit[b][0], y0 = orbit[b][2];
        double const x = x0 - c * (x0 * x0 * x0 - 3 * x0 * y0 * y0), y = y0 - c * (y0 * y0 * y0 - 3 * x0 * x0 * y0);
        double const wanted[2] = {
            1e9 * (number_of(object, "xx") * x + number_of(object, "xy") * y + number_of(object, "offset_x_m")),
            1e9 * (number_of(object, "yx") * x + number_of(object, "yy") * y + number_of(object, "offset_y_m"))};
        double is[2];
        rm_machine_read(rig->machine, b, &is[0], &is[1]);
        most = fmax(most, fmax(fabs(is[0] - wanted[0]), fabs(is[1] - wanted[1])));
    }
    assert_int_equal(b, BPMS);
    return most;
}

static void the_truth_is_the_whole_machine(void **state) {
    struct rig *rig = rig_at_rest(state);
    make_twin(rig);
    assert_true(reading_difference(rig) < 1);
    for (uint32_t s = 0; s < SUPPLIES; ++s)
        rig->current[s] = 0.3 * sin(s * s); /* some µrad */
    look(rig);
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
    struct rig *rig = rig_at_rest(state);
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
    look(rig);
    for (uint32_t b = 0; b < BPMS; ++b)
        rm_machine_true_orbit(rig->machine, b, &change[b], &change[BPMS + b]);
    rm_machine_set(rig->machine, knob, share);
    look(rig);
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
    struct rig *rig = rig_at_rest(state);
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
    check(rig, rm_twin_find_orbit(rig->twin, NULL, start, ends, 2, orbit, &rig->error));
    struct rm_element const *e = rm_twin_element(rig->twin, element);
    double const strength = e->polynom_b[1] * share * e->length_m;
    /* the beam in the middle of the magnet, and the response there with half of the change */
    double const beam[2] = {(orbit[0][0] + orbit[1][0]) / 2, (orbit[0][2] + orbit[1][2]) / 2};
    double const kick[2] = {strength * (centre[0] - beam[0]), -strength * (centre[1] - beam[1])};
    check(rig, rm_twin_set_polynom(rig->twin, element, RM_NORMAL, 1, e->polynom_b[1] * (1 + share / 2), &rig->error));
    struct rm_steerer const steerers[2] = {{element, RM_HORIZONTAL}, {element, RM_VERTICAL}};
    check(rig, rm_twin_response(rig->twin, NULL, bpm, BPMS, steerers, 2, &matrix[0][0][0], &rig->error));
    move_gradient(rig, NAME, share, change);
    double const moved = length_of(change, 2 * BPMS);
    assert_true(moved > 0.2e-6 * sqrt(2 * BPMS));
    for (uint32_t row = 0; row < 2 * BPMS; ++row)
        for (int plane = 0; plane < 2; ++plane)
            change[row] -= matrix[row / BPMS][row % BPMS][plane] * kick[plane];
    assert_true(length_of(change, 2 * BPMS) < 0.02 * moved);
}

static void the_same_seed_draws_the_same(void **state) {
    struct rig const *one = *state;
    struct rig again, other;
    rig_make(&again, 7);
    rig_make(&other, 8);
    assert_string_equal(one->truth, again.truth);
    assert_string_not_equal(one->truth, other.truth);
    rig_free(&again);
    rig_free(&other);
}

/** What the electronics do is in the file as the configuration has it. */
static void electronics_are_told(void **state) {
    struct rig *rig = rig_at_rest(state);
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
        cmocka_unit_test(the_same_seed_draws_the_same),
        cmocka_unit_test(electronics_are_told),
        cmocka_unit_test(supplies_are_told),
    };
    return cmocka_run_group_tests(tests, rig_open, rig_close);
}
