// SPDX-License-Identifier: Apache-2.0
/** Conditions of IF and WHILE. && binds stronger than ||. */
#include <ctype.h>
#include <string.h>

#include "madx.h"

/** A part of a condition's text. */
struct part {
    char const *at, *end;
};

static struct part trim_part(struct part part) {
    while (part.at < part.end && isspace((unsigned char)*part.at))
        ++part.at;
    while (part.end > part.at && isspace((unsigned char)part.end[-1]))
        --part.end;
    return part;
}

/** Where one of the marks stands outside parentheses; the end: nowhere. */
static char const *find_mark(struct part part, char const *const *marks, size_t count, size_t *which) {
    int depth = 0;
    for (char const *at = part.at; at < part.end; ++at) {
        depth += (*at == '(') - (*at == ')');
        for (*which = 0; depth == 0 && *which < count; ++*which)
            if ((size_t)(part.end - at) >= strlen(marks[*which]) &&
                strncmp(at, marks[*which], strlen(marks[*which])) == 0 &&
                !(at > part.at && at[-1] == '-' && *at == '>')) /* element->attribute */
                return at;
    }
    return part.end;
}

/** True when it is all in one pair of parentheses. */
static bool is_wrapped(struct part part) {
    int depth = 0;
    for (char const *at = part.at; at < part.end; ++at) {
        depth += (*at == '(') - (*at == ')');
        if (depth == 0)
            return at + 1 == part.end && *at == ')';
    }
    return false;
}

static bool compute_part(struct rm_madx *madx, struct part part, double *number) {
    char const *const text = rm_reading_text(madx->reading, part.at, (size_t)(part.end - part.at));
    return text != NULL && rm_madx_compute(madx, text, number, NULL);
}

static bool compare_sides(double left, double right, size_t which) {
    switch (which) {
    case 0:
        return left <= right;
    case 1:
        return left >= right;
    case 2:
        return left == right;
    case 3:
        return left != right;
    case 4:
        return left < right;
    default:
        return left > right;
    }
}

static bool decide_part(struct rm_madx *madx, struct part part, bool *holds);

static bool decide_comparison(struct rm_madx *madx, struct part part, bool *holds) {
    static char const *const marks[] = {"<=", ">=", "==", "<>", "<", ">"};
    size_t which;
    double left;
    double right;
    char const *const mark = find_mark(part, marks, 6, &which);
    if (mark == part.end)
        return rm_reading_fail(madx->reading, "\"%.*s\" is no comparison; expected <, <=, ==, <>, >= or > in it",
                               (int)(part.end - part.at > 40 ? 40 : part.end - part.at), part.at);
    struct part const before = {part.at, mark};
    struct part const behind = {mark + strlen(marks[which]), part.end};
    if (!compute_part(madx, before, &left) || !compute_part(madx, behind, &right))
        return false;
    *holds = compare_sides(left, right, which);
    return true;
}

/** One side decides alone: the other one is not computed. */
static bool decide_part(struct rm_madx *madx, struct part part, bool *holds) {
    static char const *const or_mark[] = {"||"};
    static char const *const and_mark[] = {"&&"};
    size_t which;
    part = trim_part(part);
    if (madx->depth >= RM_MOST_DEPTH)
        return rm_reading_fail(madx->reading, "a condition stands in itself more than %d deep", RM_MOST_DEPTH);
    bool either = true;
    char const *mark = find_mark(part, or_mark, 1, &which);
    if (mark == part.end) {
        either = false;
        mark = find_mark(part, and_mark, 1, &which);
    }
    bool const single = mark == part.end;
    if (single && !is_wrapped(part))
        return decide_comparison(madx, part, holds);
    ++madx->depth;
    bool held;
    if (single) {
        held = decide_part(madx, (struct part){part.at + 1, part.end - 1}, holds);
    } else {
        held = decide_part(madx, (struct part){part.at, mark}, holds);
        if (held && *holds != either)
            held = decide_part(madx, (struct part){mark + 2, part.end}, holds);
    }
    --madx->depth;
    return held;
}

bool rm_madx_condition(struct rm_madx *madx, char const *text, bool *holds) {
    *holds = false;
    return decide_part(madx, (struct part){text, text + strlen(text)}, holds);
}
