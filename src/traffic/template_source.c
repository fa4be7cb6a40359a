// SPDX-License-Identifier: Apache-2.0
#include "traffic/template_source.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "traffic/template.h"

struct template_source {
    struct rm_source source;
    uint64_t seed;
    /** The template whose turn it is. */
    uint32_t next;
    uint32_t count;
    struct rm_template template[];
};

static struct template_source *template_source_self(struct rm_source *source) {
    return (struct template_source *)source;
}

static void template_source_start(struct rm_source *source, uint64_t tsc) {
    (void)tsc;
    struct template_source *const self = template_source_self(source);
    self->next = 0;
    for (uint32_t i = 0; i < self->count; ++i)
        rm_template_restart(&self->template[i], self -> seed + i);
}

/** Frames `first`, `first` + count of templates, … of the burst are the template's. */
static void fill_template(struct template_source *self, struct rm_template *template, struct rm_burst *burst,
                          uint32_t first, uint64_t tsc) {
    uint32_t length[RM_TRAFFIC_BURST_MAX];
    uint32_t const count = (burst->count - first + self->count - 1) / self->count;
    rm_template_make(template, length, count, tsc);
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t const at = first + i * self->count;
        burst->length[at] = length[i];
        if (self->source.lends)
            burst->data[at] = rm_template_frame(template, i);
        else
            memcpy(burst->data[at], rm_template_frame(template, i), length[i]);
    }
}

static uint32_t template_source_fill(struct rm_source *source, struct rm_burst *burst, uint64_t tsc) {
    struct template_source *const self = template_source_self(source);
    for (uint32_t i = 0; i < self->count && i < burst->count; ++i)
        fill_template(self, &self->template[(self->next + i) % self->count], burst, i, tsc);
    if (self->count > 1)
        self->next = (self->next + burst->count) % self->count;
    return burst->count;
}

static void template_source_free(struct rm_source *source) {
    struct template_source *const self = template_source_self(source);
    for (uint32_t i = 0; i < self->count; ++i)
        rm_template_free(&self->template[i]);
    free(self);
}

static struct rm_source_ops const TEMPLATE_SOURCE = {
    .start = template_source_start, .fill = template_source_fill, .free = template_source_free};

enum rm_code rm_template_source_new(struct rm_traffic const *traffic, uint32_t port, struct rm_flow_sent *sent,
                                    uint16_t key, struct rm_source **source, struct rm_error *error) {
    struct template_source *const self =
        rm_zeroed(1, sizeof *self + traffic->template_count * sizeof self->template[0]);
    if (self == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u templates; free some memory", traffic->template_count);
    self->source.ops = &TEMPLATE_SOURCE;
    self->seed = traffic->seed * RM_TRAFFIC_TEMPLATES_MAX;
    struct rm_template_flows flows = {port * RM_TRAFFIC_FLOWS_MAX, sent, key};
    enum rm_code code = RM_OK;
    for (; self->count < traffic->template_count && code == RM_OK; ++self->count) {
        struct rm_traffic_template const *const description = &traffic->template[self->count];
        code = rm_template_init(&self->template[self->count], description, self -> seed + self -> count, &flows, error);
        flows.first += description->flow_count;
        flows.sent += description->flow_count;
    }
    if (code != RM_OK)
        template_source_free(&self->source);
    else
        *source = &self->source;
    return code;
}
