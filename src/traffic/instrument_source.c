// SPDX-License-Identifier: Apache-2.0
#include "traffic/instrument_source.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "traffic/turn_schedule.h"

struct instrument_source {
    struct rm_source source;
    struct rm_config *config;
    struct rm_instrument_groups groups;
    struct rm_turn_schedule schedule;
    double turn_rate_hz;
    double ticks_per_turn;
    /** `anchor_turn` is due at `anchor_tsc`, once anchored. */
    bool anchored;
    uint64_t anchor_tsc;
    rm_turn anchor_turn;
};

/** A source is the first member of its kind. */
static struct instrument_source *instrument_source_of(struct rm_source *source) {
    return (struct instrument_source *)source;
}

/** The newest turn that is due. */
static rm_turn instrument_turn_at(struct instrument_source const *instruments, uint64_t tsc) {
    if (tsc <= instruments->anchor_tsc)
        return instruments->anchor_turn;
    return instruments->anchor_turn + (rm_turn)((double)(tsc - instruments->anchor_tsc) / instruments->ticks_per_turn);
}

static void instrument_source_start(struct rm_source *source, uint64_t tsc) {
    struct instrument_source *const instruments = instrument_source_of(source);
    if (!instruments->anchored)
        instruments->anchor_tsc = tsc;
    instruments->anchored = true;
    rm_turn_schedule_go_to(&instruments->schedule, instrument_turn_at(instruments, tsc));
}

static uint32_t instrument_source_fill(struct rm_source *source, struct rm_burst *burst, uint64_t tsc) {
    (void)tsc;
    struct instrument_source *const instruments = instrument_source_of(source);
    struct rm_turn_schedule *const schedule = &instruments->schedule;
    for (uint32_t i = 0; i < burst->count; ++i) {
        struct rm_instrument_group *const group = &instruments->groups.group[rm_turn_schedule_group(schedule)];
        burst->length[i] = rm_instrument_group_write(&instruments->groups, group, schedule->turn, burst->data[i]);
        rm_turn_schedule_advance(schedule);
    }
    return burst->count;
}

static uint64_t instrument_source_due(struct rm_source *source, uint64_t tsc) {
    struct instrument_source const *const instruments = instrument_source_of(source);
    return rm_turn_schedule_due(&instruments->schedule, instrument_turn_at(instruments, tsc));
}

static void instrument_source_skip(struct rm_source *source, uint64_t count) {
    rm_turn_schedule_skip(&instrument_source_of(source)->schedule, count);
}

static void instrument_source_free(struct rm_source *source) {
    struct instrument_source *const instruments = instrument_source_of(source);
    rm_instrument_groups_free(&instruments->groups);
    rm_config_free(instruments->config);
    free(instruments);
}

static struct rm_source_ops const instrument_source_ops = {.start = instrument_source_start,
                                                           .fill = instrument_source_fill,
                                                           .due = instrument_source_due,
                                                           .skip = instrument_source_skip,
                                                           .free = instrument_source_free};

static int compare_groups(void const *one, void const *other) {
    struct rm_instrument_group const *const left = one, *const right = other;
    uint64_t const left_span = (uint64_t)left->period_turns * left->readings;
    uint64_t const right_span = (uint64_t)right->period_turns * right->readings;
    if (left_span != right_span)
        return left_span < right_span ? -1 : 1;
    if (left->period_turns != right->period_turns)
        return left->period_turns < right->period_turns ? -1 : 1;
    return left->first < right->first ? -1 : 1;
}

/** Sorts the groups by their turns, and makes the classes of them. */
static enum rm_code schedule_make(struct instrument_source *instruments, struct rm_error *error) {
    struct rm_turn_schedule *const schedule = &instruments->schedule;
    struct rm_instrument_groups const *const groups = &instruments->groups;
    qsort(groups->group, groups->group_count, sizeof *groups->group, compare_groups);
    for (uint32_t g = 0; g < groups->group_count; ++g) {
        struct rm_instrument_group const *const group = &groups->group[g];
        uint64_t const span = (uint64_t)group->period_turns * group->readings;
        struct rm_turn_class *const last =
            schedule->class_count != 0 ? &schedule->class[schedule->class_count - 1] : NULL;
        if (last != NULL && last->span_turns == span && last->period_turns == group->period_turns) {
            ++last->count;
            continue;
        }
        if (schedule->class_count == RM_TURN_CLASSES_MAX)
            return rm_fail(error, RM_E_CONFIG,
                           "%s: its instruments have more than %d periods, expected so many at most",
                           instruments->config->source_path, RM_TURN_CLASSES_MAX);
        schedule->class[schedule->class_count++] = (struct rm_turn_class){span, group->period_turns, g, 1};
    }
    return RM_OK;
}

static enum rm_code config_load(char const *path, struct rm_config **config, struct rm_error *error) {
    struct rm_errors errors = {.count = 0};
    enum rm_code const code = rm_config_load_machine(path, config, &errors);
    if (code != RM_OK && error != NULL && errors.count != 0)
        *error = errors.first[0];
    return code;
}

/** Without a first turn: that of TAI, now. */
static void set_time(struct instrument_source *instruments, struct rm_instrument_plan const *plan) {
    instruments->turn_rate_hz = plan->turn_rate_hz != 0 ? plan->turn_rate_hz : instruments->config->turn_rate_hz;
    instruments->ticks_per_turn = plan->tsc_hz / instruments->turn_rate_hz;
    instruments->anchored = plan->first_turn == RM_TURN_NONE;
    instruments->anchor_turn = plan->first_turn;
    if (!instruments->anchored)
        return;
    instruments->anchor_tsc = rm_tsc();
    instruments->anchor_turn = (rm_turn)((long double)rm_tai_ns() * 1e-9L * instruments->turn_rate_hz);
}

enum rm_code rm_instrument_source_make(struct rm_instrument_plan const *plan, struct rm_source **source,
                                       struct rm_error *error) {
    if (plan->first_turn >= RM_TURN_END && plan->first_turn != RM_TURN_NONE)
        return rm_fail(error, RM_E_ARGUMENT, "first turn: found %llu, expected one below 2^62",
                       (unsigned long long)plan->first_turn);
    struct instrument_source *const instruments = calloc(1, sizeof *instruments);
    if (instruments == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory for its instruments", plan->path);
    instruments->source.ops = &instrument_source_ops;
    enum rm_code code = config_load(plan->path, &instruments->config, error);
    if (code == RM_OK)
        code = rm_instrument_groups_make(instruments->config, &plan->datagrams, &instruments->groups, error);
    if (code == RM_OK)
        code = schedule_make(instruments, error);
    if (code != RM_OK) {
        instrument_source_free(&instruments->source);
        return code;
    }
    set_time(instruments, plan);
    *source = &instruments->source;
    return RM_OK;
}

struct rm_instrument_groups const *rm_instrument_source_groups(struct rm_source const *source) {
    return &((struct instrument_source const *)source)->groups;
}

double rm_instrument_source_packets_per_s(struct rm_source const *source) {
    struct instrument_source const *const instruments = (struct instrument_source const *)source;
    double sum = 0;
    for (uint32_t g = 0; g < instruments->groups.group_count; ++g)
        sum += instruments->turn_rate_hz /
               ((double)instruments->groups.group[g].period_turns * instruments->groups.group[g].readings);
    return sum;
}
