// SPDX-License-Identifier: Apache-2.0
/** Elements of MAD-X as the Accelerator Toolbox's. MAD-X's k_n is n! times a polynom's coefficient. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "madx.h"

enum { MOST_FIELDS = 20 };

/** Fields that are being collected for rm_reading_add_fields. */
struct field_collection {
    struct rm_madx *madx;
    struct rm_madx_view const *view;
    char const *name;
    bool failed;
    struct rm_value_field fields[MOST_FIELDS];
    uint32_t count;
};

/** How a class becomes an element. */
struct class {
    char const *name;
    bool (*add)(struct field_collection *making);
};

static void put_text(struct field_collection *making, char const *field, char const *text) {
    making->fields[making->count++] =
        (struct rm_value_field){field, {.kind = RM_VALUE_TEXT, .count = (uint32_t)strlen(text), .text = text}};
}

static void put_numbers(struct field_collection *making, char const *field, uint32_t rows, uint32_t columns,
                        double const *numbers) {
    uint32_t const count = rows * columns;
    double *const copy = rm_reading_take(making->madx->reading, (size_t)count + 1, sizeof *copy);
    making->failed = making->failed || copy == NULL;
    if (copy == NULL)
        return;
    memcpy(copy, numbers, count * sizeof *copy);
    making->fields[making->count++] = (struct rm_value_field){
        field, {.kind = RM_VALUE_NUMBERS, .rows = rows, .columns = columns, .count = count, .numbers = copy}};
}

static void put_number_field(struct field_collection *making, char const *field, double number) {
    put_numbers(making, field, 1, 1, &number);
}

/** The attribute, or `otherwise`. */
static double number_of_attribute(struct field_collection *making, char const *attribute, double otherwise) {
    double value = otherwise;
    if (!making->failed && !rm_madx_take(making->madx, making->view, attribute, &value))
        making->failed = true;
    return value;
}

static void begin_element(struct field_collection *making, char const *class, char const *name) {
    making->count = 0;
    put_text(making, "Class", class);
    put_text(making, "FamName", name);
}

/** Turned about the beam axis: as pyAT's loader writes R1 and R2. */
static void put_tilt(struct field_collection *making) {
    double const tilt_rad = number_of_attribute(making, "tilt", 0);
    if (tilt_rad == 0)
        return;
    double const c = cos(tilt_rad);
    double const s = sin(tilt_rad);
    double const turn[36] = {c, 0,  s, 0, 0, 0, 0, c, 0, s, 0, 0, -s, 0, c, 0, 0, 0,
                             0, -s, 0, c, 0, 0, 0, 0, 0, 0, 1, 0, 0,  0, 0, 0, 0, 1};
    double const back[36] = {c, 0, -s, 0, 0, 0, 0, c, 0, -s, 0, 0, s, 0, c, 0, 0, 0,
                             0, s, 0,  c, 0, 0, 0, 0, 0, 0,  1, 0, 0, 0, 0, 0, 0, 1};
    put_numbers(making, "R1", 6, 6, turn);
    put_numbers(making, "R2", 6, 6, back);
}

static bool add_fields(struct field_collection *making) {
    struct rm_value const fields = {.kind = RM_VALUE_FIELDS, .count = making->count, .fields = making->fields};
    return !making->failed && rm_reading_add_fields(making->madx->reading, &fields);
}

static bool finish_element(struct field_collection *making) {
    put_tilt(making);
    return add_fields(making);
}

/** What would change the beam and is not read. */
static void refuse_unless_zero(struct field_collection *making, char const *attribute) {
    double const value = number_of_attribute(making, attribute, 0);
    if (!making->failed && value != 0) {
        making->failed = true;
        rm_reading_fail(making->madx->reading, "%s = %g is not read; set it to 0, or write the element in another way",
                        attribute, value);
    }
}

static bool add_marker(struct field_collection *making) {
    begin_element(making, "Marker", making->name);
    return finish_element(making);
}

static bool add_drift(struct field_collection *making) {
    begin_element(making, "Drift", making->name);
    put_number_field(making, "Length", number_of_attribute(making, "l", 0));
    return finish_element(making);
}

/** Nothing that acts on the beam here: a marker, or a drift when it is long. */
static bool add_passive(struct field_collection *making) {
    static char const *const active[] = {"volt", "ex", "ey", "exl", "eyl", "h", "angle", "dx", "dy", "ds", "charge"};
    for (size_t i = 0; i < sizeof active / sizeof active[0]; ++i)
        refuse_unless_zero(making, active[i]);
    return number_of_attribute(making, "l", 0) == 0 ? add_marker(making) : add_drift(making);
}

static bool add_quadrupole(struct field_collection *making) {
    double const skew[] = {0, number_of_attribute(making, "k1s", 0)};
    begin_element(making, "Quadrupole", making->name);
    put_number_field(making, "Length", number_of_attribute(making, "l", 0));
    put_number_field(making, "K", number_of_attribute(making, "k1", 0));
    put_numbers(making, "PolynomA", 1, 2, skew);
    return finish_element(making);
}

static bool add_sextupole(struct field_collection *making) {
    double const skew[] = {0, 0, number_of_attribute(making, "k2s", 0) / 2};
    begin_element(making, "Sextupole", making->name);
    put_number_field(making, "Length", number_of_attribute(making, "l", 0));
    put_number_field(making, "H", number_of_attribute(making, "k2", 0) / 2);
    put_numbers(making, "PolynomA", 1, 3, skew);
    return finish_element(making);
}

static bool add_octupole(struct field_collection *making) {
    double const skew[] = {0, 0, 0, number_of_attribute(making, "k3s", 0) / 6};
    double const normal[] = {0, 0, 0, number_of_attribute(making, "k3", 0) / 6};
    begin_element(making, "Octupole", making->name);
    put_number_field(making, "Length", number_of_attribute(making, "l", 0));
    put_numbers(making, "PolynomA", 1, 4, skew);
    put_numbers(making, "PolynomB", 1, 4, normal);
    return finish_element(making);
}

static void put_integrated(struct field_collection *making, char const *attribute, char const *field) {
    struct rm_madx_attribute_value const *const found = rm_madx_look(making->madx, making->view, attribute);
    double numbers[RM_MADX_MOST_NUMBERS];
    uint32_t count = 0;
    if (found != NULL && !making->failed && !rm_madx_numbers(making->madx, found, numbers, &count)) {
        making->failed = true;
        return;
    }
    double factorial = 1;
    for (uint32_t n = 0; n < count; ++n) {
        numbers[n] /= factorial;
        factorial *= n + 1;
    }
    put_numbers(making, field, count != 0 ? 1 : 0, count, numbers);
}

static bool add_multipole(struct field_collection *making) {
    begin_element(making, "ThinMultipole", making->name);
    put_integrated(making, "ksl", "PolynomA");
    put_integrated(making, "knl", "PolynomB");
    return finish_element(making);
}

static bool add_bend(struct field_collection *making, double length_m, double face_rad) {
    double const gradient = number_of_attribute(making, "k1", 0);
    double const normal[] = {0, gradient, number_of_attribute(making, "k2", 0) / 2};
    double const skew[] = {0, number_of_attribute(making, "k1s", 0)};
    begin_element(making, "Bend", making->name);
    put_number_field(making, "Length", length_m);
    put_number_field(making, "BendingAngle", number_of_attribute(making, "angle", 0));
    put_number_field(making, "EntranceAngle", number_of_attribute(making, "e1", 0) + face_rad);
    put_number_field(making, "ExitAngle", number_of_attribute(making, "e2", 0) + face_rad);
    put_numbers(making, "PolynomB", 1, 3, normal);
    put_numbers(making, "PolynomA", 1, 2, skew);
    if (rm_madx_look(making->madx, making->view, "hgap") != NULL) {
        double const extent = number_of_attribute(making, "fint", 0);
        put_number_field(making, "FullGap", 2 * number_of_attribute(making, "hgap", 0));
        put_number_field(making, "FringeInt1", extent);
        put_number_field(making, "FringeInt2", number_of_attribute(making, "fintx", extent));
    }
    refuse_unless_zero(making, "h1");
    refuse_unless_zero(making, "h2");
    return finish_element(making);
}

static bool add_sbend(struct field_collection *making) {
    return add_bend(making, number_of_attribute(making, "l", 0), 0);
}

static double half_angle(struct field_collection *making) { return number_of_attribute(making, "angle", 0) / 2; }

/** The faces of a negative bend lean the other way, which pyAT's loader does not do. */
static bool add_rbend(struct field_collection *making) {
    double const half_rad = half_angle(making);
    return add_bend(making, rm_madx_arc(number_of_attribute(making, "l", 0), half_rad), half_rad);
}

static bool add_corrector(struct field_collection *making, double horizontal_rad, double vertical_rad) {
    double const kick[] = {horizontal_rad, vertical_rad};
    begin_element(making, "Corrector", making->name);
    put_number_field(making, "Length", number_of_attribute(making, "l", 0));
    put_numbers(making, "KickAngle", 1, 2, kick);
    return finish_element(making);
}

static bool add_kicker(struct field_collection *making) {
    return add_corrector(making, number_of_attribute(making, "hkick", 0), number_of_attribute(making, "vkick", 0));
}

static bool add_hkicker(struct field_collection *making) {
    return add_corrector(making, number_of_attribute(making, "kick", 0), 0);
}

static bool add_vkicker(struct field_collection *making) {
    return add_corrector(making, 0, number_of_attribute(making, "kick", 0));
}

/** Off, as pyAT makes it: BEAM, RADIATE or the user switches it on. The lag is not read: the closed orbit finds its
 * phase. Without a frequency it is NaN, and madx_beam.c sets it from the harmonic number. */
static bool add_cavity(struct field_collection *making) {
    double const length_m = number_of_attribute(making, "l", 0);
    begin_element(making, "RFCavity", making->name);
    put_number_field(making, "Length", length_m);
    put_number_field(making, "Voltage", 1e6 * number_of_attribute(making, "volt", 0));
    put_number_field(making, "Frequency", 1e6 * number_of_attribute(making, "freq", NAN));
    put_number_field(making, "HarmNumber", number_of_attribute(making, "harmon", 0));
    put_text(making, "PassMethod", length_m == 0 ? "IdentityPass" : "DriftPass");
    return finish_element(making);
}

/** In the middle of its length. */
static bool add_monitor(struct field_collection *making) {
    double const half_m = number_of_attribute(making, "l", 0) / 2;
    char part[RM_MADX_NAME_BYTES + 2];
    snprintf(part, sizeof part, "%.*s.1", RM_MADX_NAME_BYTES - 1, making->name);
    for (int i = 0; i < 3; ++i) {
        bool const middle = i == 1;
        if (!middle && half_m == 0)
            continue;
        begin_element(making, middle ? "Monitor" : "Drift", middle ? making->name : part);
        put_number_field(making, "Length", middle ? 0 : half_m);
        if (!add_fields(making))
            return false;
    }
    return true;
}

/** pyAT's loader makes it a drift; here it focuses. */
static bool add_solenoid(struct field_collection *making) {
    refuse_unless_zero(making, "ksi");
    begin_element(making, "Solenoid", making->name);
    put_number_field(making, "Length", number_of_attribute(making, "l", 0));
    put_number_field(making, "K", number_of_attribute(making, "ks", 0));
    return finish_element(making);
}

static struct class const classes[] = {
    {"drift", add_drift},         {"marker", add_marker},       {"quadrupole", add_quadrupole},
    {"sextupole", add_sextupole}, {"octupole", add_octupole},   {"multipole", add_multipole},
    {"sbend", add_sbend},         {"rbend", add_rbend},         {"kicker", add_kicker},
    {"tkicker", add_kicker},      {"hkicker", add_hkicker},     {"vkicker", add_vkicker},
    {"rfcavity", add_cavity},     {"monitor", add_monitor},     {"hmonitor", add_monitor},
    {"vmonitor", add_monitor},    {"instrument", add_monitor},  {"placeholder", add_passive},
    {"solenoid", add_solenoid},   {"collimator", add_passive},  {"ecollimator", add_passive},
    {"rcollimator", add_passive}, {"elseparator", add_passive}, {"crabcavity", add_passive},
    {"dipedge", add_passive},     {"beambeam", add_passive},    {"srotation", add_passive},
    {"yrotation", add_passive},   {"xrotation", add_passive},   {"translation", add_passive},
};

static struct class const *find_class(char const *name) {
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; ++i)
        if (strcasecmp(name, classes[i].name) == 0)
            return &classes[i];
    return NULL;
}

char const *rm_madx_class_name(char const *name) {
    struct class const *const found = find_class(name);
    return found != NULL ? found->name : NULL;
}

bool rm_madx_add(struct rm_madx *madx, struct rm_madx_view const *view) {
    struct field_collection making = {.madx = madx, .view = view, .name = view->object->name};
    char const *name = NULL;
    rm_madx_at(madx, &view->object->where, view->object->name);
    struct class const *const class = rm_madx_class(madx, view->object, &name) ? find_class(name) : NULL;
    if (class == NULL)
        return false;
    refuse_unless_zero(&making, "ktap");
    return !making.failed && class->add(&making);
}

bool rm_madx_add_drift(struct rm_madx *madx, double length_m) {
    struct field_collection making = {.madx = madx};
    char name[32];
    snprintf(name, sizeof name, "drift_%u", madx->drifts++);
    begin_element(&making, "Drift", name);
    put_number_field(&making, "Length", length_m);
    return add_fields(&making);
}
