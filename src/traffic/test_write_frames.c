// SPDX-License-Identifier: Apache-2.0
/** Writes frames of templates of every kind to a capture, for test_tshark.py: FILE is its argument. It prints how many.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/timebase.h"
#include "capture/capture.h"
#include "traffic/template_source.h"

enum {
    KINDS = 16,
    LONGEST = 1514,
    KEY = 99,
    /** And those beyond: no protocol has them that tshark would look for. */
    PLAIN_PORT = 40000,
};

static int give_up(struct rm_error const *error) {
    fprintf(stderr, "%s\n", error->text);
    return 1;
}

/** Every field goes through a range or is drawn, sizes too. */
static void make_template(struct rm_traffic_template *template, uint32_t kind) {
    template->tagged = kind & 1;
    template->ipv6 = kind & 2;
    template->protocol = kind & 4 ? RM_TRAFFIC_TCP : RM_TRAFFIC_UDP;
    template->flow_count = kind & 8 ? 3 : 0;
    template->source_ipv6_high = template->destination_ipv6_high = 0xFD00000000000000;
    for (enum rm_traffic_field_name name = 0; name < RM_TRAFFIC_FIELDS; ++name) {
        struct rm_traffic_field *const field = &template->field[name];
        uint64_t const start = name == RM_TRAFFIC_SIZE ? rm_traffic_shortest_size(template) : field->start;
        uint64_t const more = name == RM_TRAFFIC_TTL || name == RM_TRAFFIC_PRIORITY ? 7 : 50;
        *field =
            (struct rm_traffic_field){name % 2 ? RM_TRAFFIC_RANGE : RM_TRAFFIC_RANDOM, start, start, start + more, 3};
    }
    template->field[RM_TRAFFIC_TOS].max = 0xFF;
}

static enum rm_code write_frames(struct rm_source *source, struct rm_capture_ring *ring) {
    struct rm_burst burst = {.count = RM_BURST};
    source->lends = true;
    source->ops->start(source, 0);
    for (uint32_t round = 0; round < KINDS; ++round) {
        source->ops->fill(source, &burst, rm_tsc());
        for (uint32_t i = 0; i < burst.count; ++i)
            if (!rm_capture_ring_put(ring, burst.data[i], burst.length[i], rm_tsc()))
                return RM_E_NO_SPACE;
    }
    return RM_OK;
}

int main(int argc, char **argv) {
    static struct rm_traffic traffic;
    static struct rm_flow_sent sent[RM_TRAFFIC_FLOWS_MAX];
    struct rm_error error = {.text = "the ring of the capture is full"};
    struct rm_source *source;
    struct rm_capture *capture;
    struct rm_capture_counts counts;
    if (argc != 2)
        return 2;
    rm_traffic_default(&traffic, 1);
    traffic.template[0].field[RM_TRAFFIC_SOURCE_PORT].start = PLAIN_PORT;
    traffic.template[0].field[RM_TRAFFIC_DESTINATION_PORT].start = PLAIN_PORT;
    traffic.template_count = KINDS;
    for (uint32_t i = KINDS; i-- > 0;) {
        traffic.template[i] = traffic.template[0];
        make_template(&traffic.template[i], i);
    }
    struct rm_capture_plan const plan = {
        .path = argv[1], .ring_count = 1, .longest_frame = LONGEST, .tsc_hz = rm_tsc_hz_measure()};
    if (rm_traffic_check(&traffic, LONGEST, &error) != RM_OK ||
        rm_template_source_new(&traffic, 0, sent, KEY, &source, &error) != RM_OK ||
        rm_capture_start(&plan, &capture, &error) != RM_OK)
        return give_up(&error);
    enum rm_code const code = write_frames(source, rm_capture_ring_of(capture, 0));
    source->ops->free(source);
    if (rm_capture_stop(capture, &counts, &error) != RM_OK || code != RM_OK)
        return give_up(&error);
    printf("%llu\n", (unsigned long long)counts.written);
    return 0;
}
