// SPDX-License-Identifier: Apache-2.0
#include "test_truth_rig.h"

#include <unistd.h>

#define CHAINS(name, id)                                                                                               \
    "  - {name: " name ", count: 6, id: " id "1, port: ring, address: 10.30.0." id                                     \
    "1, supplies: [{count: 28, unit: A, "                                                                              \
    "limits: [-10, 10], slew: 100, name: \"" name "{chain}_\"}]}\n"

static char const RING[] =
    "instruments: [{name: bpm, kind: bpm, id: 1, count: 84, port: ring, source: 10.20.0.1}]\n"
    "setpoints: {period_turns: 12}\n"
    "chains:\n" CHAINS("cx", "1") CHAINS(
        "cy", "2") "  - {name: q, count: 4, id: 31, port: ring, address: 10.30.0.31, supplies: [{count: 24, unit: A, "
                   "limits: [-10, 10], slew: 100, name: \"q{chain}_\"}]}\n";
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
    "  strengths:\n"
    "    - {elements: \"QF1_*\", supplies: q01, per_unit: 0.001}\n"
    "    - {elements: \"QD2_*\", supplies: q02, per_unit: 0.001}\n"
    "    - {elements: \"SD1_*\", change: sextupole, supplies: q03, per_unit: 0.01}\n"
    "    - {elements: \"SF1_*\", change: skew, supplies: q04, per_unit: 0.001}\n"
    "  disturbances: {mains: [{hz: 50, orbit_um: 0}]}\n";

void truth_check(struct rig const *rig, enum rm_code code) {
    if (code != RM_OK)
        fail_msg("%s", rig->error.text);
}

/** Text of the file, to be freed. */
static char *read_truth(struct rig *rig) {
    char path[] = "/tmp/ringmaster-truth-XXXXXX", *text = calloc(1, 1 << 20);
    close(mkstemp(path));
    truth_check(rig, rm_truth_write(&rig->ring, rig->machine, path, &rig->error));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 10000);
    fclose(file);
    unlink(path);
    return text;
}

void truth_rig_make(struct rig *rig, unsigned seed) {
    char overlay[2000];
    *rig = (struct rig){0};
    snprintf(overlay, sizeof overlay, OVERLAY, seed);
    test_files_load_good(RING, overlay, &rig->ring);
    truth_check(rig, rm_machine_make(&rig->ring.machine, 1e6, &rig->machine, &rig->error));
    rig->truth = read_truth(rig);
}

void truth_rig_free(struct rig *rig) {
    rm_machine_free(rig->machine);
    rm_twin_free(rig->twin);
    rm_lattice_free(rig->lattice);
    rm_ring_config_free(&rig->ring);
    free(rig->truth);
}

void truth_look(struct rig *rig) {
    rm_machine_step(rig->machine, (double)rig->steps++ / 1e4, rig->current);
    truth_check(rig, rm_machine_refresh(rig->machine, &rig->error));
    rm_machine_step(rig->machine, (double)rig->steps++ / 1e4, rig->current);
}

int truth_rig_open(void **state) {
    struct rig *rig = malloc(sizeof *rig);
    assert_non_null(rig);
    truth_rig_make(rig, 7);
    *state = rig;
    return 0;
}

int truth_rig_close(void **state) {
    truth_rig_free(*state);
    free(*state);
    return 0;
}

struct rig *truth_rig_at_rest(void **state) {
    struct rig *rig = *state;
    memset(rig->current, 0, sizeof rig->current);
    truth_look(rig);
    return rig;
}

bool next_object(char const **at, char *object, size_t room) {
    char const *start = *at + strcspn(*at, "{]"), *end = start + strcspn(start, "}");
    if (*start != '{')
        return false;
    assert_true((size_t)(end - start) < room);
    memcpy(object, start, (size_t)(end - start));
    object[end - start] = '\0';
    *at = end;
    return true;
}

char const *list_of(struct rig const *rig, char const *name) {
    char key[40];
    snprintf(key, sizeof key, "\"%s\": [", name);
    char const *at = strstr(rig->truth, key);
    assert_non_null(at);
    return at + strlen(key);
}

double number_of(char const *object, char const *name) {
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
            truth_check(rig,
                        rm_twin_set_misalignment(rig->twin, i, number_of(object, "dx_m"), number_of(object, "dy_m"), 0,
                                                 number_of(object, "roll_rad"), &rig->error));
            if (kind == RM_ELEMENT_SEXTUPOLE)
                truth_check(rig,
                            rm_twin_set_polynom(rig->twin, i, RM_NORMAL, 2,
                                                e->polynom_b[2] * (1 + number_of(object, "sextupole")), &rig->error));
            if (kind != RM_ELEMENT_DIPOLE)
                truth_check(rig, rm_twin_set_polynom(rig->twin, i, RM_SKEW, 1, number_of(object, "skew_per_m") / length,
                                                     &rig->error));
        }
    }
    assert_true(count == 480);
    for (char const *at = list_of(rig, "gradients"); next_object(&at, object, sizeof object);) {
        uint32_t const element = (uint32_t)number_of(object, "element");
        double const design = rm_lattice_element(rig->lattice, element)->polynom_b[1];
        truth_check(rig, rm_twin_set_polynom(rig->twin, element, RM_NORMAL, 1,
                                             design * (1 + number_of(object, "relative")), &rig->error));
    }
}

void set_kicks(struct rig *rig) {
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
            truth_check(rig, rm_twin_set_kick(rig->twin, e, kick[e][0], kick[e][1], &rig->error));
}

void make_twin(struct rig *rig) {
    rm_twin_free(rig->twin);
    rm_lattice_free(rig->lattice);
    truth_check(rig, rm_lattice_read(rig->ring.machine.lattice, NULL, &rig->lattice, &rig->error));
    truth_check(rig, rm_twin_make(rig->lattice, &rig->twin, &rig->error));
    truth_check(rig, rm_twin_enable_6d(rig->twin, &rig->error));
    set_magnets(rig);
    set_kicks(rig);
}

double reading_difference(struct rig *rig) {
    uint32_t bpm[BPMS], b = 0;
    double start[6], orbit[BPMS][RM_COORDINATES], most = 0;
    char object[1000];
    assert_int_equal(rm_lattice_find(rig->lattice, "BPM_*", RM_ELEMENT_KINDS, bpm, BPMS), BPMS);
    truth_check(rig, rm_twin_find_orbit(rig->twin, NULL, start, bpm, BPMS, orbit, &rig->error));
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
