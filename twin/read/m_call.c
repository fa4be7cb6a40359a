// SPDX-License-Identifier: Apache-2.0
/** Constants, functions, and the constructors of the Accelerator Toolbox: atNAME(family, positions…, [pass], 'Field',
 * value, …). */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "fields.h"
#include "kinds.h"
#include "m.h"

enum { MOST_POSITIONS = 7 };

/** What the positions of a constructor mean, by kind; as far as they are no texts. */
static char const *const positions[RM_ELEMENT_KINDS + 1][MOST_POSITIONS] = {
    [RM_ELEMENT_DRIFT] = {"Length", "RApertures"},
    [RM_ELEMENT_DIPOLE] = {"Length", "BendingAngle", "K"},
    [RM_ELEMENT_QUADRUPOLE] = {"Length", "K"},
    [RM_ELEMENT_SEXTUPOLE] = {"Length", "H"},
    [RM_ELEMENT_OCTUPOLE] = {"Length", "PolynomA", "PolynomB"},
    [RM_ELEMENT_MULTIPOLE] = {"Length", "PolynomA", "PolynomB"},
    [RM_ELEMENT_THIN_MULTIPOLE] = {"PolynomA", "PolynomB"},
    [RM_ELEMENT_CORRECTOR] = {"Length", "KickAngle"},
    [RM_ELEMENT_CAVITY] = {"Length", "Voltage", "Frequency", "HarmNumber", "Energy"},
    [RM_ELEMENT_MATRIX] = {"M66"},
    [RM_ELEMENT_APERTURE] = {"Limits"},
    [RM_ELEMENT_SOLENOID] = {"Length", "KS"},
    [RM_ELEMENT_WIGGLER] = {"Length", "Lw", "Bmax", "Nstep", "Nmeth", "By", "Bx"},
    [RM_KIND_RING] = {"Energy", "Periodicity"},
};

/** Fields that are being collected. */
struct collected {
    struct rm_value_field *fields;
    uint32_t count;
};

static void put_collected(struct collected *to, char const *name, struct rm_value const *value) {
    to->fields[to->count++] = (struct rm_value_field){name, *value};
}

static bool ends_with_pass(char const *text) {
    size_t const length = strlen(text);
    return length >= 4 && strcmp(text + length - 4, "Pass") == 0;
}

/** 'Field', value, … from `from` on. */
static bool put_pairs(struct rm_m_parser *parser, char const *name, struct rm_value const *arguments, uint32_t from,
                      uint32_t count, struct collected *to) {
    for (uint32_t i = from; i < count; i += 2) {
        if (arguments[i].kind != RM_VALUE_TEXT)
            return rm_reading_fail(parser->reading,
                                   "argument %u of %s is no text; expected the name of a field, and then "
                                   "its value",
                                   i + 1, name);
        if (i + 1 == count)
            return rm_reading_fail(parser->reading, "%s: field %.40s has no value", name, arguments[i].text);
        put_collected(to, arguments[i].text, &arguments[i + 1]);
    }
    return true;
}

static bool make_struct(struct rm_m_parser *parser, char const *name, struct rm_value const *arguments, uint32_t count,
                        struct rm_value *value) {
    struct collected made = {rm_reading_take(parser->reading, count + 1, sizeof *made.fields), 0};
    if (made.fields == NULL || !put_pairs(parser, name, arguments, 0, count, &made))
        return false;
    *value = (struct rm_value){.kind = RM_VALUE_FIELDS, .count = made.count, .fields = made.fields};
    return true;
}

/** A rectangular bend is a sector with half of its angle at each face, unless it says otherwise. */
static bool put_faces(struct rm_m_parser *parser, char const *class, struct collected *to) {
    struct rm_value const so_far = {.kind = RM_VALUE_FIELDS, .count = to->count, .fields = to->fields};
    double angle_rad = 0;
    struct rm_value half;
    if (strcasecmp(class, "rbend") != 0 || !rm_value_number(&so_far, "BendingAngle", &angle_rad))
        return true;
    if (!rm_m_number(parser, angle_rad / 2, &half))
        return false;
    if (rm_value_find(&so_far, "EntranceAngle") == NULL)
        put_collected(to, "EntranceAngle", &half);
    if (rm_value_find(&so_far, "ExitAngle") == NULL)
        put_collected(to, "ExitAngle", &half);
    return true;
}

static bool construct_element(struct rm_m_parser *parser, char const *class, int kind, struct rm_value const *arguments,
                              uint32_t count, struct rm_value *value) {
    struct collected made = {rm_reading_take(parser->reading, count + 6, sizeof *made.fields), 0};
    char *const class_text = rm_reading_text(parser->reading, class, strlen(class));
    if (made.fields == NULL || class_text == NULL)
        return false;
    if (count == 0 || arguments[0].kind != RM_VALUE_TEXT)
        return rm_reading_fail(parser->reading, "at%s needs a family name first, in quotes", class);
    rm_reading_at(parser->reading, "line %u (%.60s)", arguments[0].line, arguments[0].text);
    put_collected(&made, "Class",
                  &(struct rm_value){.kind = RM_VALUE_TEXT, .count = (uint32_t)strlen(class), .text = class_text});
    put_collected(&made, "FamName", &arguments[0]);
    uint32_t next = 1;
    for (int p = 0; p < MOST_POSITIONS && positions[kind][p] != NULL; ++p, ++next) {
        if (next >= count || arguments[next].kind == RM_VALUE_TEXT)
            break;
        put_collected(&made, positions[kind][p], &arguments[next]);
    }
    if (next < count && arguments[next].kind == RM_VALUE_TEXT && ends_with_pass(arguments[next].text))
        put_collected(&made, "PassMethod", &arguments[next++]);
    if (!put_pairs(parser, class, arguments, next, count, &made) || !put_faces(parser, class, &made))
        return false;
    *value = (struct rm_value){.kind = RM_VALUE_FIELDS, .count = made.count, .fields = made.fields};
    return true;
}

static bool single_number_argument(struct rm_value const *arguments, uint32_t count, uint32_t index, double *number) {
    if (index >= count || arguments[index].kind != RM_VALUE_NUMBERS || arguments[index].count != 1)
        return false;
    *number = arguments[index].numbers[0];
    return true;
}

/** zeros, ones and eye. */
static bool fill_matrix(struct rm_m_parser *parser, char const *name, struct rm_value const *arguments, uint32_t count,
                        struct rm_value *value) {
    double rows = 1;
    double columns = 1;
    if (single_number_argument(arguments, count, 0, &rows) && !single_number_argument(arguments, count, 1, &columns))
        columns = rows;
    if (!(rows >= 0 && columns >= 0 && rows <= RM_M_MOST_NUMBERS && columns <= RM_M_MOST_NUMBERS) ||
        rows * columns > RM_M_MOST_NUMBERS)
        return rm_reading_fail(parser->reading, "%s(%g, %g) is too large", name, rows, columns);
    uint32_t const r = (uint32_t)rows;
    uint32_t const c = (uint32_t)columns;
    double *const numbers = rm_reading_take(parser->reading, (size_t)r * c, sizeof *numbers);
    if (numbers == NULL)
        return false;
    for (uint32_t i = 0; i < r * c; ++i)
        numbers[i] = strcmp(name, "ones") == 0 || (strcmp(name, "eye") == 0 && i / c == i % c) ? 1 : 0;
    *value = (struct rm_value){.kind = RM_VALUE_NUMBERS, .rows = r, .columns = c, .count = r * c, .numbers = numbers};
    return true;
}

static bool m_constant_of(char const *name, double *number) {
    static struct {
        char const *name;
        double number;
    } const constants[] = {{"pi", M_PI}, {"Inf", INFINITY}, {"inf", INFINITY}, {"NaN", NAN}, {"nan", NAN},
                           {"true", 1},  {"True", 1},       {"false", 0},      {"False", 0}};
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; ++i)
        if (strcmp(name, constants[i].name) == 0) {
            *number = constants[i].number;
            return true;
        }
    return false;
}

static bool apply_function(char const *name, double *number) {
    static struct {
        char const *name;
        double (*of)(double);
    } const functions[] = {{"sqrt", sqrt}, {"sin", sin},   {"cos", cos},  {"tan", tan}, {"asin", asin},
                           {"acos", acos}, {"atan", atan}, {"abs", fabs}, {"exp", exp}, {"log", log}};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i)
        if (strcmp(name, functions[i].name) == 0) {
            *number = functions[i].of(*number);
            return true;
        }
    return false;
}

bool rm_m_call(struct rm_m_parser *parser, char const *name, struct rm_value const *arguments, uint32_t count,
               struct rm_value *value) {
    double number;
    if (count == 0 && m_constant_of(name, &number))
        return rm_m_number(parser, number, value);
    if (count == 1 && single_number_argument(arguments, count, 0, &number) && apply_function(name, &number))
        return rm_m_number(parser, number, value);
    if (strcmp(name, "zeros") == 0 || strcmp(name, "ones") == 0 || strcmp(name, "eye") == 0)
        return fill_matrix(parser, name, arguments, count, value);
    if (strcmp(name, "struct") == 0)
        return make_struct(parser, name, arguments, count, value);
    int const kind = strncmp(name, "at", 2) == 0 ? rm_kind_by_class(name + 2) : -1;
    if (kind >= 0)
        return construct_element(parser, name + 2, kind, arguments, count, value);
    rm_m_here(parser);
    char const *const first = count != 0 && arguments[0].kind == RM_VALUE_TEXT ? arguments[0].text : NULL;
    if (strncmp(name, "at", 2) == 0 && !rm_refuse_untracked(parser->reading, name + 2, first))
        return false;
    return rm_reading_fail(parser->reading,
                           "%s is no variable set before, and no function that is read here; a lattice "
                           "may use atdrift, atquadrupole, atsbend, ..., struct, zeros, pi",
                           name);
}
