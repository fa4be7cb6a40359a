// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "lane_names.h"
#include "ring_resolve.h"

static char const RESPONSES[] = "responses";

/** "c01/3" is the third supply of c01. */
static enum rm_code find_supply(struct rm_resolve *resolve, uint32_t index, uint32_t *supply) {
    char const *text = resolve->file->responses[index].supply;
    struct rm_ring_supplies const *supplies = &resolve->config->supplies;
    uint32_t *chosen = calloc(supplies->supply_count + 1, sizeof *chosen);
    if (chosen == NULL)
        return rm_resolve_fail_plain(resolve, RM_E_NO_SPACE, "%s: no memory for the supplies", resolve->path);
    uint32_t const count = rm_ring_choose_supplies(resolve->config, text, chosen);
    *supply = chosen[0];
    free(chosen);
    if (count == 1)
        return RM_OK;
    return rm_resolve_fail(resolve, RESPONSES, index, "supply",
                           "found \"%s\", which means %u supplies, expected one: its name, or that of a chain and the "
                           "supply's number in it, such as c01/1",
                           text, count);
}

static enum rm_code find_lane(struct rm_resolve *resolve, uint32_t index, struct rm_ring_response *to) {
    struct rm_ring_file_response const *from = &resolve->file->responses[index];
    for (uint32_t i = 0; i < resolve->config->instrument_count; ++i) {
        struct rm_virtual_instrument const *instrument = &resolve->config->instruments[i];
        if (strcmp(instrument->name, from->instrument) != 0)
            continue;
        to->instrument = i;
        to->lane = rm_virtual_lane_find(instrument->kind, from->lane);
        if (to->lane != RM_KIND_LANE_NONE)
            return RM_OK;
        return rm_resolve_fail(resolve, RESPONSES, index, "lane", "found \"%s\", which \"%s\" has not", from->lane,
                               instrument->name);
    }
    return rm_resolve_fail(resolve, RESPONSES, index, "instrument", "found \"%s\", expected the name of one instrument",
                           from->instrument);
}

static int by_instrument(void const *one, void const *other) {
    struct rm_ring_response const *a = one, *b = other;
    return (a->instrument > b->instrument) - (a->instrument < b->instrument);
}

enum rm_code rm_resolve_responses(struct rm_resolve *resolve) {
    struct rm_ring_supplies *supplies = &resolve->config->supplies;
    supplies->responses = calloc(resolve->file->responses_count + 1, sizeof *supplies->responses);
    if (supplies->responses == NULL)
        return rm_resolve_fail_plain(resolve, RM_E_NO_SPACE, "%s: no memory for the responses", resolve->path);
    enum rm_code code = RM_OK;
    for (uint32_t r = 0; r < resolve->file->responses_count; ++r) {
        struct rm_ring_response *to = &supplies->responses[supplies->response_count++];
        to->per_unit = resolve->file->responses[r].per_unit;
        if (!(fabs(to->per_unit) <= 1e9))
            code = rm_resolve_fail(resolve, RESPONSES, r, "per_unit", "found %g, expected -1e9 to 1e9", to->per_unit);
        code = rm_code_first(code, find_supply(resolve, r, &to->supply));
        code = rm_code_first(code, find_lane(resolve, r, to));
    }
    qsort(supplies->responses, supplies->response_count, sizeof *supplies->responses, by_instrument);
    return code;
}
