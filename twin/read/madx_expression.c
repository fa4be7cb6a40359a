// SPDX-License-Identifier: Apache-2.0
/** Arithmetic of MAD-X. A power binds to the right, as in pyAT. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "madx.h"

/** What is being computed. */
struct expression {
    struct rm_madx *madx;
    char const *at;
    bool *quiet; /**< see rm_madx_compute */
};

static double const light_m_per_s = 299792458.0;

/* CODATA 2018 and 2022 as scipy has them, in MAD-X's units: GeV, m, s. */
static struct {
    char const *name;
    double value;
} const constants[] = {
    {"pi", M_PI},
    {"twopi", 2 * M_PI},
    {"degrad", 180 / M_PI},
    {"raddeg", M_PI / 180},
    {"e", M_E},
    {"true", 1},
    {"false", 0},
    {"emass", 0.00051099895069},
    {"pmass", 0.9382720894300001},
    {"nmass", 0.93956542194},
    {"umass", 0.93149410372},
    {"mumass", 0.10565837550000001},
    {"hbar", 6.582119569509068e-25},
    {"erad", 2.8179403205e-15},
    {"prad", 1.5346982640795809e-18},
    {"clight", light_m_per_s},
    {"qelect", 1.602176634e-19},
};

static double madx_expression_sinc(double x) { return x == 0 ? 1 : sin(x) / x; }

static struct {
    char const *name;
    double (*of)(double);
} const functions[] = {{"abs", fabs},  {"sqrt", sqrt}, {"exp", exp},     {"log", log},   {"log10", log10},
                       {"sin", sin},   {"cos", cos},   {"tan", tan},     {"asin", asin}, {"acos", acos},
                       {"atan", atan}, {"sinh", sinh}, {"cosh", cosh},   {"tanh", tanh}, {"sinc", madx_expression_sinc},
                       {"erf", erf},   {"erfc", erfc}, {"floor", floor}, {"ceil", ceil}, {"round", round}};

static bool read_sum(struct expression *sum, double *number);

static void madx_expression_skip_space(struct expression *sum) {
    while (isspace((unsigned char)*sum->at))
        ++sum->at;
}

static bool madx_expression_accept_mark(struct expression *sum, char mark) {
    madx_expression_skip_space(sum);
    if (*sum->at != mark || mark == '\0')
        return false;
    ++sum->at;
    return true;
}

/** Fails, or only tells that it cannot be computed now. */
static bool fail_expression(struct expression *sum, char const *why, char const *what) {
    if (sum->quiet != NULL)
        *sum->quiet = true;
    else
        rm_reading_fail(sum->madx->reading, why, what);
    return false;
}

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$'; }

static bool read_name(struct expression *sum, char name[RM_MADX_NAME_BYTES]) {
    size_t length = 0;
    while (is_name(*sum->at) && length < RM_MADX_NAME_BYTES - 1)
        name[length++] = *sum->at++;
    name[length] = '\0';
    return is_name(*sum->at) ? fail_expression(sum, "a name is too long: %.40s...", name) : length != 0;
}

static bool compute_variable(struct expression *sum, struct rm_madx_object *variable, double *number) {
    struct rm_madx *const madx = sum->madx;
    if (variable->value.fixed) {
        *number = variable->value.count == 1 ? variable->value.numbers[0] : 0;
        return variable->value.count == 1 ? true : fail_expression(sum, "%.60s is no single number", variable->name);
    }
    if (variable->busy || madx->depth >= RM_MOST_DEPTH)
        return fail_expression(sum, "variable %.60s is defined by itself; give it a value of its own", variable->name);
    variable->busy = true;
    ++madx->depth;
    bool const held = rm_madx_compute(madx, variable->value.text, number, sum->quiet);
    --madx->depth;
    variable->busy = false;
    return held;
}

/** `element->attribute` */
static bool compute_attribute(struct expression *sum, struct rm_madx_object *element, double *number) {
    char name[RM_MADX_NAME_BYTES];
    if (!read_name(sum, name))
        return fail_expression(sum, "%.60s-> has no attribute behind it", element->name);
    for (char *c = name; *c != '\0'; ++c)
        *c = (char)tolower((unsigned char)*c);
    struct rm_madx_attribute_value const *const attribute = rm_madx_attribute(&element->attributes, name);
    if (attribute == NULL)
        return fail_expression(sum, "element %.60s has no such attribute as is asked for here", element->name);
    if (attribute->fixed && attribute->count == 1) {
        *number = attribute->numbers[0];
        return true;
    }
    if (element->busy || sum->madx->depth >= RM_MOST_DEPTH)
        return fail_expression(sum, "an attribute of element %.60s is defined by itself", element->name);
    element->busy = true;
    ++sum->madx->depth;
    bool const held = rm_madx_compute(sum->madx, attribute->text, number, sum->quiet);
    --sum->madx->depth;
    element->busy = false;
    return held;
}

static bool call_function(struct expression *sum, char const *name, double *number) {
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i)
        if (strcasecmp(name, functions[i].name) == 0) {
            if (!read_sum(sum, number) || !madx_expression_accept_mark(sum, ')'))
                return fail_expression(sum, "function %s: expected one number in parentheses", functions[i].name);
            *number = functions[i].of(*number);
            return true;
        }
    return fail_expression(sum, "%.60s is no function that is read here; write its result", name);
}

static bool read_named(struct expression *sum, double *number) {
    char name[RM_MADX_NAME_BYTES];
    if (!read_name(sum, name))
        return fail_expression(sum, "expected a number or a name, found \"%.20s\"", sum->at);
    if (madx_expression_accept_mark(sum, '('))
        return call_function(sum, name, number);
    struct rm_madx_object *const object = rm_madx_find(sum->madx, name);
    if (object != NULL && object->kind == RM_MADX_VARIABLE)
        return compute_variable(sum, object, number);
    if (object != NULL && sum->at[0] == '-' && sum->at[1] == '>') {
        sum->at += 2;
        return compute_attribute(sum, object, number);
    }
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; ++i)
        if (strcasecmp(name, constants[i].name) == 0) {
            *number = constants[i].value;
            return true;
        }
    return fail_expression(
        sum, "%.60s is not defined; set it before, or in a file that sets it and then CALLs this one", name);
}

static bool read_primary(struct expression *sum, double *number) {
    madx_expression_skip_space(sum);
    char const *behind;
    *number = rm_reading_number(sum->madx->reading, sum->at, &behind);
    if (behind != sum->at && !(is_name(*behind) && *behind != '.')) {
        sum->at = behind;
        return true;
    }
    if (madx_expression_accept_mark(sum, '('))
        return read_sum(sum, number) &&
               (madx_expression_accept_mark(sum, ')') ? true
                                                      : fail_expression(sum, "expected ')', found \"%.20s\"", sum->at));
    return read_named(sum, number);
}

static bool read_signed(struct expression *sum, double *number) {
    *number = 0;
    if (++sum->madx->depth > RM_MOST_DEPTH) {
        --sum->madx->depth;
        return rm_reading_fail(sum->madx->reading, "an expression stands within itself too deep");
    }
    bool negative = false;
    bool more = true;
    while (more) {
        bool const minus = madx_expression_accept_mark(sum, '-');
        negative = negative != minus;
        more = minus || madx_expression_accept_mark(sum, '+');
    }
    bool held = read_primary(sum, number);
    double exponent = 0;
    if (held && madx_expression_accept_mark(sum, '^')) {
        held = read_signed(sum, &exponent);
        *number = held ? pow(*number, exponent) : 0;
    }
    *number = negative ? -*number : *number;
    --sum->madx->depth;
    return held;
}

static bool read_product(struct expression *sum, double *number) {
    if (!read_signed(sum, number))
        return false;
    double other = 0;
    for (;;) {
        bool const times = madx_expression_accept_mark(sum, '*');
        if (!times && !madx_expression_accept_mark(sum, '/'))
            return true;
        if (!read_signed(sum, &other))
            return false;
        *number = times ? *number * other : *number / other;
    }
}

static bool read_sum(struct expression *sum, double *number) {
    if (!read_product(sum, number))
        return false;
    double other = 0;
    for (;;) {
        bool const plus = madx_expression_accept_mark(sum, '+');
        if (!plus && !madx_expression_accept_mark(sum, '-'))
            return true;
        if (!read_product(sum, &other))
            return false;
        *number = plus ? *number + other : *number - other;
    }
}

bool rm_madx_compute(struct rm_madx *madx, char const *text, double *number, bool *quiet) {
    struct expression sum = {.madx = madx, .at = text};
    sum.quiet = quiet;
    if (!rm_madx_step(madx) || !read_sum(&sum, number))
        return false;
    madx_expression_skip_space(&sum);
    return *sum.at == '\0' ? true : fail_expression(&sum, "what stands here is not understood: \"%.40s\"", sum.at);
}

/** One number, or those in { } or ( ), separated by commas. */
static bool compute_list(struct rm_madx *madx, char const *text, double *numbers, uint32_t *count, bool *quiet) {
    struct expression sum = {madx, text, quiet};
    *count = 0;
    if (*text != '{') {
        *count = 1;
        return rm_madx_compute(madx, text, numbers, quiet);
    }
    (void)madx_expression_accept_mark(&sum, '{');
    if (madx_expression_accept_mark(&sum, '}'))
        return true;
    do {
        if (*count == RM_MADX_MOST_NUMBERS)
            return fail_expression(&sum, "a list has more numbers than a magnet has orders: %.40s", text);
        if (!read_sum(&sum, &numbers[*count]))
            return false;
        ++*count;
    } while (madx_expression_accept_mark(&sum, ','));
    return madx_expression_accept_mark(&sum, '}')
               ? true
               : fail_expression(&sum, "expected ',' or '}', found \"%.20s\"", sum.at);
}

bool rm_madx_numbers(struct rm_madx *madx, struct rm_madx_attribute_value const *attribute, double *numbers,
                     uint32_t *count) {
    if (!attribute->fixed)
        return compute_list(madx, attribute->text, numbers, count, NULL);
    *count = attribute->count;
    if (attribute->count != 0)
        memcpy(numbers, attribute->numbers, attribute->count * sizeof *numbers);
    return true;
}

bool rm_madx_number(struct rm_madx *madx, struct rm_madx_attribute_value const *attribute, double *number) {
    double numbers[RM_MADX_MOST_NUMBERS];
    uint32_t count;
    if (!rm_madx_numbers(madx, attribute, numbers, &count))
        return false;
    if (count != 1)
        return rm_reading_fail(madx->reading, "%s has %u numbers; expected one", attribute->name, count);
    *number = numbers[0];
    return true;
}

bool rm_madx_fix(struct rm_madx *madx, struct rm_madx_attribute_value *attribute) {
    double numbers[RM_MADX_MOST_NUMBERS];
    uint32_t count;
    bool unknown = false;
    if (attribute->text[0] == '"' || attribute->text[0] == '\'')
        return true;
    if (!compute_list(madx, attribute->text, numbers, &count, &unknown))
        return !madx->reading->failed;
    double *const kept = rm_reading_take(madx->reading, (size_t)count + 1, sizeof *kept);
    if (kept == NULL)
        return false;
    memcpy(kept, numbers, count * sizeof *kept);
    attribute->numbers = kept;
    attribute->count = count;
    attribute->fixed = true;
    return true;
}
