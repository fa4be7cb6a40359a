// SPDX-License-Identifier: Apache-2.0
#include "publish.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "fabric/parameter_writer.h"

static rm_planned_index plan_number(struct rm_publication *publication, char const *name, char const *unit,
                                    char const *description) {
    return rm_plan_parameter(&publication->plan, name, unit, description, RM_ELEMENT_F64, 1, NULL);
}

static void write_number(struct rm_publication *publication, rm_planned_index index, double value) {
    rm_parameter_write_f64(rm_segment_memory(&publication->segment, &publication->plan, index), value, RM_TURN_NONE);
}

static enum rm_code publish(char const *workspace, struct rm_virtual_instrument const *instruments, double turn_rate_hz,
                            struct rm_beam_config const *beam, struct rm_publication *publication,
                            struct rm_error *error) {
    struct rm_segment_plan *plan = &publication->plan;
    for (uint32_t i = 0; i < publication->count; ++i) {
        char name[RM_NAME_BYTES];
        snprintf(name, sizeof name, "counters/sender/%s", instruments[i].name);
        rm_plan_counters(plan, name, "what this virtual instrument sent", RM_COUNTER_SET_SENDER, RM_SENDER_COUNTERS);
    }
    rm_planned_index const rate =
        plan_number(publication, "ring/turn_rate_hz", "Hz", "turns per second that the ring sends; 0: unpaced");
    rm_planned_index tune_x = 0, tune_y = 0;
    if (beam != NULL) {
        tune_x = plan_number(publication, "ring/tune_x", "1/turn", "horizontal betatron tune as simulated");
        tune_y = plan_number(publication, "ring/tune_y", "1/turn", "vertical betatron tune as simulated");
    }
    enum rm_code const code = rm_segment_open(workspace, "ring", plan, &publication->segment, error);
    if (code != RM_OK)
        return code;
    for (uint32_t i = 0; i < publication->count; ++i)
        publication->counters[i] = rm_segment_memory(&publication->segment, plan, i);
    write_number(publication, rate, turn_rate_hz);
    if (beam != NULL) {
        write_number(publication, tune_x, beam->tune_x);
        write_number(publication, tune_y, beam->tune_y);
    }
    rm_segment_finish(&publication->segment);
    publication->shared = true;
    return RM_OK;
}

static enum rm_code keep_private(struct rm_publication *publication, struct rm_error *error) {
    rm_counter *counters = calloc((size_t)publication->count * RM_SENDER_COUNTERS, sizeof *counters);
    if (counters == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the counters of %u instruments", publication->count);
    for (uint32_t i = 0; i < publication->count; ++i)
        publication->counters[i] = counters + (size_t)i * RM_SENDER_COUNTERS;
    publication->private_counters = (void *)counters;
    return RM_OK;
}

enum rm_code rm_publication_open(char const *workspace, struct rm_virtual_instrument const *instruments, uint32_t count,
                                 double turn_rate_hz, struct rm_beam_config const *beam,
                                 struct rm_publication *publication, struct rm_error *error) {
    *publication = (struct rm_publication){.count = count};
    rm_plan_init(&publication->plan);
    publication->counters = calloc(count, sizeof *publication->counters);
    enum rm_code code;
    if (publication->counters == NULL)
        code = rm_fail(error, RM_E_NO_SPACE, "no memory for %u instruments", count);
    else if (workspace[0] == '\0')
        code = keep_private(publication, error);
    else
        code = publish(workspace, instruments, turn_rate_hz, beam, publication, error);
    if (code != RM_OK)
        rm_publication_close(publication);
    return code;
}

void rm_publication_close(struct rm_publication *publication) {
    if (publication->shared)
        rm_segment_close(&publication->segment);
    rm_plan_free(&publication->plan);
    free(publication->private_counters);
    free(publication->counters);
    *publication = (struct rm_publication){0};
}
