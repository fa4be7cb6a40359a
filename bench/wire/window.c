// SPDX-License-Identifier: Apache-2.0
#include "window.h"

#include <math.h>

static uint64_t const UNKNOWN = UINT64_MAX;

void rm_window_start(struct rm_window *window, struct rm_window_plan const *plan, uint64_t tsc) {
    *window = (struct rm_window){.plan = *plan, .range = {UNKNOWN, UNKNOWN}, .start_tsc = tsc, .last_tsc = tsc};
}

uint64_t rm_window_cycles(struct rm_window_plan const *plan) {
    double const cycles = round(plan->seconds * plan->rate_hz);
    return plan->rate_hz > 0 && cycles < 1 ? 1 : (uint64_t)cycles;
}

void rm_window_first(struct rm_window *window, uint64_t cycle, uint64_t tsc) {
    struct rm_window_plan const *const plan = &window->plan;
    window->state = RM_WINDOW_WARMING;
    window->first_tsc = tsc;
    if (plan->rate_hz > 0) {
        window->range.begin = cycle + (uint64_t)round(plan->warm_up_s * plan->rate_hz);
        window->range.end = window->range.begin + rm_window_cycles(plan);
    } else if (plan->warm_up_s == 0) {
        window->range.begin = cycle;
    }
}

static bool window_has_passed(struct rm_window const *window, uint64_t since, uint64_t now, double seconds) {
    return now > since && (double)(now - since) > seconds * window->plan.tsc_hz;
}

static void window_warm_up(struct rm_window *window, uint64_t now) {
    if (window->range.begin == UNKNOWN && window_has_passed(window, window->first_tsc, now, window->plan.warm_up_s))
        window->range.begin = window->next;
    if (window->next > window->range.begin) {
        window->state = RM_WINDOW_COUNTING;
        window->counting_tsc = now;
    }
}

static bool window_is_quiet(struct rm_window const *window, uint64_t now) {
    return window_has_passed(window, window->last_tsc, now, RM_WINDOW_QUIET_S);
}

static void window_update_counting(struct rm_window *window, bool stop, uint64_t now) {
    double const seconds = window->plan.rate_hz > 0 ? 1.5 * window->plan.seconds + 1 : window->plan.seconds;
    bool const time_is_over =
        window_has_passed(window, window->counting_tsc, now, seconds) && !window_is_quiet(window, now);
    if ((stop || time_is_over) && window->next < window->range.end)
        window->range.end = window->next;
    if (window->next >= window->range.end) {
        window->state = RM_WINDOW_DRAINING;
        window->draining_tsc = now;
    }
}

static bool window_is_finished(struct rm_window const *window, struct rm_window_news const *news, uint64_t now) {
    bool const draining = window->state == RM_WINDOW_DRAINING;
    if (window->state < RM_WINDOW_COUNTING && news->stop)
        return true;
    if (window->state == RM_WINDOW_WAITING)
        return false;
    return news->over || ((draining || news->ended) && window_is_quiet(window, now)) ||
           (draining && window_has_passed(window, window->draining_tsc, now, RM_WINDOW_DRAIN_S));
}

bool rm_window_look(struct rm_window *window, struct rm_window_news const *news, uint64_t tsc) {
    if (window->state == RM_WINDOW_CLOSED)
        return false;
    if (window->state == RM_WINDOW_WARMING)
        window_warm_up(window, tsc);
    if (window->state == RM_WINDOW_COUNTING)
        window_update_counting(window, news->stop, tsc);
    window->idle =
        window->state < RM_WINDOW_DRAINING && window_has_passed(window, window->last_tsc, tsc, window->plan.idle_s);
    if (window_is_finished(window, news, tsc))
        window->idle = false;
    else if (!window->idle)
        return true;
    window->state = RM_WINDOW_CLOSED;
    if (window->range.end > window->next)
        window->range.end = window->next;
    return false;
}
