// SPDX-License-Identifier: Apache-2.0
#include "sender_group.h"

#include <string.h>

#include "fragments.h"
#include "wire/fragment.h"

/** Bytes of the Ethernet header. */
static uint32_t before_ipv4(struct rm_sender_path const *path) {
    return path->template.header_bytes - RM_IPV4_BYTES - RM_UDP_BYTES;
}

static enum rm_code make_path(struct rm_sender_group *group, struct rm_virtual_group const *from,
                              struct rm_sender_way const *way, struct rm_error *error) {
    struct rm_sender_path *path = &group->path[group->path_count++];
    enum rm_framing const framing = rm_port_framing(way->link->port);
    *path = (struct rm_sender_path){.link = way->link, .counters = way->counters, .mtu = way->mtu, .buffers = 1};
    rm_datagram_template_make(&path->template, from->format, group->payload.bytes, framing, &way->flow,
                              way->udp_checksum);
    path->longest = UINT32_MAX; /* the kernel cuts by itself */
    if (framing == RM_FRAMING_ETHERNET)
        path->longest = way->mtu + before_ipv4(path);
    if (rm_datagram_bytes(&path->template) > path->longest) {
        uint32_t const room = (way->mtu - RM_IPV4_BYTES) / 8 * 8; /* in which fragments are cut */
        path->buffers = (RM_UDP_BYTES + group->payload.bytes + room - 1) / room;
    }
    uint64_t const span_turns = (uint64_t)group->payload.turns * group->payload.period_turns;
    enum rm_code code = RM_OK;
    if (group->path_count == 1)
        code = rm_counter_faults_make(way->faults, way->fault_count, span_turns, way->counters, &group->counter_faults,
                                      error);
    if (code == RM_OK)
        code = rm_faults_make(way->faults, way->fault_count, span_turns, group->payload.bytes, way->counters,
                              &path->faults, error);
    return code;
}

enum rm_code rm_sender_group_make(struct rm_virtual_group const *from, struct rm_virtual_instrument const *instruments,
                                  struct rm_sender_way const *ways, uint32_t way_count, struct rm_sender_desk *desk,
                                  struct rm_sender_group *group, struct rm_error *error) {
    *group = (struct rm_sender_group){.desk = desk};
    enum rm_code code = rm_payload_make(from, &instruments[from->first], &group->payload, error);
    for (uint32_t w = 0; w < way_count && code == RM_OK; ++w)
        code = make_path(group, from, &ways[w], error);
    group->undisturbed_native = group->payload.layout == NULL && group->counter_faults == NULL;
    for (uint32_t p = 0; p < group->path_count; ++p)
        group->undisturbed_native = group->undisturbed_native && group->path[p].faults == NULL;
    return code;
}

void rm_sender_group_free(struct rm_sender_group *group) {
    for (uint32_t p = 0; p < group->path_count; ++p)
        rm_faults_free(group->path[p].faults);
    rm_counter_faults_free(group->counter_faults);
    rm_payload_free(&group->payload);
}

/** Cuts the `length` bytes on the desk into fragments and sends those. */
static void send_cut(struct rm_sender_path *path, struct rm_sender_desk *desk, uint32_t length, unsigned faults,
                     uint64_t random) {
    struct rm_fragment plan[RM_FRAGMENTS_MAX];
    uint32_t const cut = rm_fragment_count(desk->whole, length, path->mtu);
    uint32_t const count = rm_fragments_plan(cut, faults, random, plan);
    rm_fragment_faults_count(cut == 1 ? 0 : faults, path->counters);
    for (uint32_t f = 0; f < count; ++f) {
        uint8_t *data = rm_sender_link_buffer(path->link);
        if (data == NULL)
            return;
        uint32_t const bytes =
            rm_fragment_write(desk->whole, length, path->mtu, desk->identification, plan[f].index, data);
        if (plan[f].overlaps)
            rm_fragment_overlap(data + before_ipv4(path));
        rm_sender_link_commit(path->link, bytes, path->counters, f + 1 == count);
    }
    ++desk->identification;
}

static void send_damaged(struct rm_sender_path *path, struct rm_sender_desk *desk, uint8_t const *payload,
                         struct rm_outgoing const *outgoing) {
    uint32_t length = rm_datagram_bytes(&path->template);
    bool const whole = length <= path->longest;
    uint8_t *data = whole ? rm_sender_link_buffer(path->link) : desk->whole;
    if (data == NULL)
        return;
    memcpy(rm_datagram_begin(&path->template, data), payload, path->template.payload_bytes);
    rm_datagram_finish(&path->template, data);
    if (outgoing->damage != 0)
        length = rm_datagram_damage(&path->template, data, outgoing->damage, outgoing->random);
    if (whole)
        rm_sender_link_commit(path->link, length, path->counters, true);
    else
        send_cut(path, desk, length, outgoing->fragments, outgoing->random);
}

static void send_outgoing(struct rm_sender_path *path, struct rm_sender_desk *desk, uint64_t number) {
    struct rm_outgoing const *outgoing;
    while ((outgoing = rm_faults_next(path->faults, number)) != NULL)
        for (uint32_t copy = 0; copy < outgoing->copies; ++copy)
            send_damaged(path, desk, outgoing->payload, outgoing);
}

static void send_datagram(struct rm_sender_group *group, rm_turn first_turn) {
    static struct rm_outgoing const as_it_is = {.copies = 1};
    for (uint32_t p = 0; p < group->path_count; ++p) {
        struct rm_sender_path *path = &group->path[p];
        if (path->faults == NULL) {
            send_damaged(path, group->desk, group->payload.data, &as_it_is);
        } else {
            rm_faults_push(path->faults, group->number, first_turn, group->payload.data);
            send_outgoing(path, group->desk, group->number);
        }
    }
}

/** A native datagram on its undisturbed way; it is never so long that it is cut. */
static void send_native(struct rm_sender_path *path, struct rm_payload const *payload, rm_turn turn,
                        union rm_lane const *lanes) {
    uint8_t *data = rm_sender_link_buffer(path->link);
    if (data == NULL)
        return;
    rm_payload_write_native(payload, rm_datagram_begin(&path->template, data), turn, lanes);
    rm_datagram_finish(&path->template, data);
    rm_sender_link_commit(path->link, rm_datagram_bytes(&path->template), path->counters, true);
}

static void sender_group_begin(struct rm_sender_group *group, rm_turn turn) {
    group->begun = true;
    group->counter_error = group->counter_faults == NULL ? 0 : rm_counter_faults_error(group->counter_faults, turn);
}

static void put_turn(struct rm_sender_group *group, uint64_t reading, rm_turn turn, union rm_lane const *lanes) {
    uint32_t const turns = group->payload.turns;
    group->number = turns == 1 ? reading : reading / turns;
    uint32_t const place = (uint32_t)(reading - group->number * turns);
    if (place == 0)
        sender_group_begin(group, turn);
    if (!group->begun)
        return;
    rm_payload_put(&group->payload, place, turn + group->counter_error, lanes);
    if (place + 1 == turns)
        send_datagram(group, turn - (uint64_t)place * group->payload.period_turns);
}

void rm_sender_group_turn(struct rm_sender_group *group, uint64_t reading, rm_turn turn, union rm_lane const *lanes) {
    if (group->undisturbed_native)
        for (uint32_t p = 0; p < group->path_count; ++p)
            send_native(&group->path[p], &group->payload, turn, lanes);
    else
        put_turn(group, reading, turn, lanes);
}

void rm_sender_group_held(struct rm_sender_group *group, uint64_t ahead) {
    for (uint32_t p = 0; p < group->path_count; ++p)
        if (group->path[p].faults != NULL)
            send_outgoing(&group->path[p], group->desk, group->number + ahead);
}

uint64_t rm_sender_group_longest_delay(struct rm_sender_group const *group) {
    uint64_t longest = 0;
    for (uint32_t p = 0; p < group->path_count; ++p) {
        uint64_t const delay = group->path[p].faults == NULL ? 0 : rm_faults_longest_delay(group->path[p].faults);
        longest = delay > longest ? delay : longest;
    }
    return longest;
}

void rm_sender_group_forget(struct rm_sender_group *group) {
    group->begun = false;
    for (uint32_t p = 0; p < group->path_count; ++p)
        if (group->path[p].faults != NULL)
            rm_faults_forget(group->path[p].faults);
}
