// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/parameter.h>

#include <math.h>

enum { STEPS_MAX = 2200 /**< halvings that lead from any bracket of doubles to two neighbours, and some */ };

static double conversion_polynomial(double const c[4], double v) { return c[0] + v * (c[1] + v * (c[2] + v * c[3])); }

static double conversion_slope(double const c[4], double v) { return c[1] + v * (2.0 * c[2] + v * 3.0 * c[3]); }

static bool conversion_is_linear(double const c[4]) { return c[2] == 0.0 && c[3] == 0.0; }

double rm_convert(struct rm_conversion const *conversion, double value) {
    return conversion->unit[0] == '\0' ? value : conversion_polynomial(conversion->c, value);
}

/** Where the polynomial crosses `other`, and between which two values that is. `best` misses it by least. */
struct crossing_search {
    double const *c;
    double other;
    double low, high; /**< the crossing lies between them */
    bool rising;
    double best, miss;
};

/** Looks at `v`: the bracket becomes smaller. Returns by how much the polynomial is above `other` there. */
static double conversion_search_narrow(struct crossing_search *search, double v) {
    double const above = conversion_polynomial(search->c, v) - search->other;
    if (fabs(above) < search->miss) {
        search->best = v;
        search->miss = fabs(above);
    }
    if ((above < 0.0) == search->rising)
        search->low = v;
    else
        search->high = v;
    return above;
}

/** Newton's step from `v`, or the middle where that leads out of the bracket or would not make it smaller. */
static double conversion_search_next(struct crossing_search const *search, double v, double above, bool halve) {
    double const newton = v - above / conversion_slope(search->c, v);
    if (!halve && newton > search->low && newton < search->high)
        return newton;
    return search->low + (search->high - search->low) / 2.0;
}

static double conversion_solve(double const c[4], double low, double high, double other) {
    double const at_low = conversion_polynomial(c, low), at_high = conversion_polynomial(c, high);
    struct crossing_search search = {c, other, low, high, at_low < at_high, low, INFINITY};
    if (!(other >= fmin(at_low, at_high) && other <= fmax(at_low, at_high)))
        return NAN;
    if (other == at_low || other == at_high)
        return other == at_low ? low : high;
    double v = low + (high - low) / 2.0;
    for (int steps = 0; steps < STEPS_MAX && search.miss > 0.0; ++steps) {
        double const before = search.high - search.low;
        double const above = conversion_search_narrow(&search, v);
        v = conversion_search_next(&search, v, above, search.high - search.low > before / 2.0 && steps % 2 == 1);
        if (v <= search.low || v >= search.high)
            break; // two neighbours: there is no double between them
    }
    return search.best;
}

double rm_convert_back(struct rm_conversion const *conversion, struct rm_limits const *limits, double other) {
    double const *c = conversion->c;
    if (conversion->unit[0] == '\0')
        return other;
    if (!conversion_is_linear(c))
        return conversion_solve(c, limits->control_low, limits->control_high, other);
    /* A limit that is none bounds nothing: comparing with NaN is false. */
    double const low = conversion_polynomial(c, c[1] > 0.0 ? limits->control_low : limits->control_high);
    double const high = conversion_polynomial(c, c[1] > 0.0 ? limits->control_high : limits->control_low);
    if (other < low || other > high || isnan(other))
        return NAN;
    double const value = (other - c[0]) / c[1];
    return fmin(fmax(value, limits->control_low), limits->control_high); // rounding leads nowhere outside
}

/** Rising or flat everywhere between the limits, if `sign` is 1; falling or flat, if -1. */
static bool one_way(double const c[4], double low, double high, double sign) {
    double const turning = -c[2] / (3.0 * c[3]); // of the slope; NaN or infinite where it has none
    bool const inside = turning > low && turning < high;
    return sign * conversion_slope(c, low) >= 0.0 && sign * conversion_slope(c, high) >= 0.0 &&
           (!inside || sign * conversion_slope(c, turning) >= 0.0);
}

bool rm_conversion_is_good(struct rm_conversion const *conversion, struct rm_limits const *limits) {
    double const *c = conversion->c;
    double const low = limits->control_low, high = limits->control_high;
    if (conversion->unit[0] == '\0')
        return true;
    if (!isfinite(c[0]) || !isfinite(c[1]) || !isfinite(c[2]) || !isfinite(c[3]))
        return false;
    if (conversion_is_linear(c))
        return c[1] != 0.0;
    return isfinite(low) && isfinite(high) && low < high && isfinite(conversion_polynomial(c, low)) &&
           isfinite(conversion_polynomial(c, high)) && (one_way(c, low, high, 1.0) || one_way(c, low, high, -1.0));
}
