// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kind_lanes.h"
#include "ring_resolve.h"

static char const RESPONSES[] = "supplies.responses";

/** "c01/3" is the third supply of c01. */
static enum rm_code find_supply(struct rm_resolve const *resolve, uint32_t index, uint32_t *supply) {
    char const *text = resolve->file->supplies->responses[index].supply;
    struct rm_ring_supplies const *supplies = &resolve->config->supplies;
    char const *slash = strchr(text, '/');
    size_t const length = slash == NULL ? 0 : (size_t)(slash - text);
    char *end = NULL;
    unsigned long const number = slash == NULL ? 0 : strtoul(slash + 1, &end, 10);
    for (uint32_t c = 0; c < supplies->chain_count && length != 0; ++c) {
        struct rm_ring_chain const *chain = &supplies->chains[c];
        if (strlen(chain->name) != length || strncmp(chain->name, text, length) != 0)
            continue;
        *supply = chain->first + (uint32_t)number - 1;
        if (*end == '\0' && number >= 1 && number <= chain->config.supply_count)
            return RM_OK;
        return rm_resolve_fail(resolve, RESPONSES, index, "supply", "found \"%s\", expected %s/1 to %s/%u", text,
                               chain->name, chain->name, chain->config.supply_count);
    }
    return rm_resolve_fail(resolve, RESPONSES, index, "supply",
                           "found \"%s\", expected the name of a chain and the number of its supply, such as %s/1",
                           text, supplies->chains[0].name);
}

static enum rm_code find_lane(struct rm_resolve const *resolve, uint32_t index, struct rm_ring_response *to) {
    struct rm_ring_file_response const *from = &resolve->file->supplies->responses[index];
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

enum rm_code rm_resolve_responses(struct rm_resolve const *resolve) {
    struct rm_ring_supplies *supplies = &resolve->config->supplies;
    for (uint32_t r = 0; r < resolve->file->supplies->responses_count; ++r) {
        struct rm_ring_response *to = &supplies->responses[supplies->response_count++];
        to->per_unit = resolve->file->supplies->responses[r].per_unit;
        if (!(fabs(to->per_unit) <= 1e9))
            return rm_resolve_fail(resolve, RESPONSES, r, "per_unit", "found %g, expected -1e9 to 1e9", to->per_unit);
        enum rm_code code = find_supply(resolve, r, &to->supply);
        if (code == RM_OK)
            code = find_lane(resolve, r, to);
        if (code != RM_OK)
            return code;
    }
    qsort(supplies->responses, supplies->response_count, sizeof *supplies->responses, by_instrument);
    return RM_OK;
}
