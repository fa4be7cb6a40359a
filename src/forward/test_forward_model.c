// SPDX-License-Identifier: Apache-2.0
/* The burst function against a slow model, over random frames of which most are nearly right: it looks for a route from
 * end to end, and makes every checksum anew. Frames that go on must be alike, byte by byte; all others must have ended in
 * the same counter. Bursts are mixed, so that a frame cannot depend on its neighbours. */
#include "forward/test_rig.h"

enum { ROUNDS = 3000, MODEL_HOPS = 4, MODEL_ROUTES = 40, FRAME_BYTES_MAX = 2200, MTU = 1500 };

struct model_route {
    struct rm_prefix prefix;
    uint32_t hop;
};

struct model {
    struct model_route route[MODEL_ROUTES + 32];
    uint32_t count;
};

/** What shall become of a frame. */
struct model_end {
    enum rm_forward_counter counter;
    uint32_t port;
    uint32_t length;
    uint8_t frame[FRAME_BYTES_MAX + 4];
};

static uint64_t random_state = 20261126;

static uint32_t draw(uint32_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

static bool prefix_fits(struct rm_prefix const *prefix, uint8_t const *address, bool ipv6) {
    if (prefix->ip.ipv6 != ipv6)
        return false;
    for (uint32_t bit = 0; bit < prefix->length; ++bit)
        if ((prefix->ip.byte[bit / 8] ^ address[bit / 8]) >> (7 - bit % 8) & 1)
            return false;
    return true;
}

static uint32_t model_hop(struct model const *model, uint8_t const *address, bool ipv6) {
    int longest = -1;
    uint32_t hop = RM_HOP_NO_ROUTE;
    for (uint32_t i = 0; i < model->count; ++i)
        if (model->route[i].prefix.length > longest && prefix_fits(&model->route[i].prefix, address, ipv6)) {
            longest = model->route[i].prefix.length;
            hop = model->route[i].hop;
        }
    return hop;
}

static uint16_t model_checksum(uint8_t const *bytes, uint32_t length) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < length; i += 2)
        sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
    while (sum > 0xFFFF)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)~sum;
}

static enum rm_forward_counter model_check_ipv4(uint8_t const *ip, uint32_t available, uint32_t *packet_bytes) {
    if (available < 20)
        return RM_FORWARD_TRUNCATED;
    uint32_t const header_bytes = (ip[0] & 15u) * 4;
    *packet_bytes = (uint32_t)ip[2] << 8 | ip[3];
    if (ip[0] >> 4 != 4 || header_bytes < 20 || *packet_bytes < header_bytes)
        return RM_FORWARD_BAD_HEADER;
    if (available < *packet_bytes)
        return RM_FORWARD_TRUNCATED;
    if (model_checksum(ip, header_bytes) != 0)
        return RM_FORWARD_BAD_HEADER;
    uint8_t const from = ip[12], to = ip[16];
    bool const to_all = rm_load32(ip + 16) == 0xFFFFFFFF;
    if (from == 0 || from == 127 || from >= 224)
        return rm_load32(ip + 12) == 0 && to_all ? RM_FORWARD_TO_KERNEL : RM_FORWARD_MARTIAN;
    if (to_all || (to >= 224 && to < 240))
        return RM_FORWARD_TO_KERNEL;
    return to == 0 || to == 127 || to >= 240 ? RM_FORWARD_MARTIAN : RM_FORWARD_FORWARDED;
}

static bool model_is_nothing(uint8_t const *address) {
    uint32_t other = 0;
    for (uint32_t i = 0; i < 15; ++i)
        other |= address[i];
    return other == 0 && address[15] < 2;
}

static enum rm_forward_counter model_check_ipv6(uint8_t const *ip, uint32_t available, uint32_t *packet_bytes) {
    if (available < 40)
        return RM_FORWARD_TRUNCATED;
    if (ip[0] >> 4 != 6)
        return RM_FORWARD_BAD_HEADER;
    *packet_bytes = 40 + ((uint32_t)ip[4] << 8 | ip[5]);
    if (available < *packet_bytes)
        return RM_FORWARD_TRUNCATED;
    if (ip[8] == 0xFF)
        return RM_FORWARD_MARTIAN;
    if (ip[24] == 0xFF)
        return RM_FORWARD_TO_KERNEL;
    if (model_is_nothing(ip + 8) || model_is_nothing(ip + 24))
        return RM_FORWARD_MARTIAN;
    return ip[24] == 0xFE && ip[25] >> 6 == 2 ? RM_FORWARD_TO_KERNEL : RM_FORWARD_FORWARDED;
}

/** By the hop that was found. The way out of a hop is its interface: RIG_TAGGED has a tag. */
static enum rm_forward_counter model_verdict(uint8_t const *frame, uint8_t const *ip, bool ipv6, uint32_t packet_bytes,
                                             uint32_t hop) {
    bool const link_local = ipv6 && ip[8] == 0xFE && ip[9] >> 6 == 2;
    uint8_t const hops_left = ip[ipv6 ? 7 : 8];
    if (hop == RM_HOP_LOCAL)
        return RM_FORWARD_TO_KERNEL;
    if (link_local || (ipv6 && (frame[0] & 1)))
        return RM_FORWARD_MARTIAN;
    if (hop == RM_HOP_NO_ROUTE)
        return RM_FORWARD_NO_ROUTE;
    if (hop == RM_HOP_UNREACHABLE)
        return RM_FORWARD_NO_NEIGHBOUR;
    if (hop == RM_HOP_BLACKHOLE || hop == RM_HOP_PROHIBITED)
        return RM_FORWARD_BY_RULE;
    if (frame[0] & 1)
        return RM_FORWARD_MARTIAN;
    if (hops_left <= 1)
        return RM_FORWARD_TTL_EXPIRED;
    return packet_bytes > MTU && (ipv6 || (ip[6] & 0x40)) ? RM_FORWARD_TOO_BIG : RM_FORWARD_FORWARDED;
}

static void model_rewrite(struct model_end *end, struct rm_next_hop const *hop, uint8_t const *ip,
                          uint32_t packet_bytes, bool ipv6) {
    bool const tagged = hop->interface == RIG_TAGGED;
    uint32_t const ethernet_bytes = tagged ? 18 : 14;
    uint8_t *const out = end->frame + ethernet_bytes;
    rig_mac(end->frame, hop->interface, true);
    rig_mac(end->frame + 6, hop->port, false);
    if (tagged)
        memcpy(end->frame + 12, (uint8_t[]){0x81, 0, 0, RIG_VLAN}, 4);
    rm_store16(out - 2, ipv6 ? 0x86DD : 0x0800);
    memcpy(out, ip, packet_bytes);
    --out[ipv6 ? 7 : 8];
    if (!ipv6) {
        rm_store16(out + 10, 0);
        rm_store16(out + 10, model_checksum(out, (out[0] & 15u) * 4));
    }
    end->port = hop->port;
    end->length = ethernet_bytes + packet_bytes;
}

static void model_run(struct rig *rig, struct model const *model, uint32_t port, uint8_t const *frame, uint32_t length,
                      struct model_end *end) {
    end->counter = RM_FORWARD_TRUNCATED;
    if (length < 14)
        return;
    bool const tagged = rm_load16(frame + 12) == 0x8100;
    if (tagged && length < 18)
        return;
    uint16_t const vlan = tagged ? rm_load16(frame + 14) & 0xFFF : 0;
    uint8_t mac[6];
    rig_mac(mac, port, false);
    end->counter = RM_FORWARD_WRONG_VLAN;
    if (vlan != 0 && !(port == 2 && vlan == RIG_VLAN))
        return;
    end->counter = RM_FORWARD_NOT_OURS;
    if (memcmp(frame, mac, 6) != 0 && (frame[0] & 1) == 0)
        return;
    uint32_t const ethernet_bytes = tagged ? 18 : 14;
    uint8_t const *const ip = frame + ethernet_bytes;
    uint16_t const type = rm_load16(ip - 2);
    uint32_t packet_bytes = 0;
    end->counter = RM_FORWARD_TO_KERNEL;
    if (type != 0x0800 && type != 0x86DD)
        return;
    bool const ipv6 = type == 0x86DD;
    end->counter = ipv6 ? model_check_ipv6(ip, length - ethernet_bytes, &packet_bytes)
                        : model_check_ipv4(ip, length - ethernet_bytes, &packet_bytes);
    if (end->counter != RM_FORWARD_FORWARDED)
        return;
    uint32_t const hop = model_hop(model, ip + (ipv6 ? 24 : 16), ipv6);
    end->counter = model_verdict(frame, ip, ipv6, packet_bytes, hop);
    if (end->counter == RM_FORWARD_FORWARDED && packet_bytes <= MTU)
        model_rewrite(end, rm_routes_hop(rig->routes, hop), ip, packet_bytes, ipv6);
    else
        end->length = 0; // cut: test_forward.c looks at fragments
}

static struct rm_ip draw_destination(bool ipv6) {
    uint32_t const network = draw(8);
    struct rm_ip ip = ipv6 ? rig_ipv6(network, draw(4)) : rig_ipv4(network, draw(4));
    if (draw(20) == 0)
        ip.byte[0] = (uint8_t)draw(256);
    return ip;
}

static void model_add(struct rig *rig, struct model *model, struct rm_ip ip, uint8_t length, uint32_t hop) {
    struct rm_prefix prefix = {.ip = ip, .length = length};
    for (uint32_t bit = length; bit < 128; ++bit)
        prefix.ip.byte[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
    for (uint32_t i = 0; i < model->count; ++i)
        if (memcmp(&model->route[i].prefix, &prefix, sizeof prefix) == 0) {
            model->route[i].hop = hop;
            rig_route(rig, ip, length, hop);
            return;
        }
    model->route[model->count++] = (struct model_route){prefix, hop};
    rig_route(rig, ip, length, hop);
}

/** The rig's own routes, and random ones. */
static void draw_routes(struct rig *rig, struct model *model) {
    uint32_t hop[MODEL_HOPS + 4] = {RM_HOP_LOCAL, RM_HOP_BLACKHOLE, RM_HOP_UNREACHABLE, RM_HOP_PROHIBITED};
    for (uint32_t i = 0; i < MODEL_HOPS; ++i) {
        hop[4 + i] = rig_neighbour(rig, i, rig_ipv4(i, 2));
        model_add(rig, model, rig_ipv4(i, 0), 16, hop[4 + i]);
        model_add(rig, model, rig_ipv6(i, 0), 64, rig_neighbour(rig, i, rig_ipv6(i, 2)));
        model_add(rig, model, rig_ipv4(i, 1), 32, RM_HOP_LOCAL);
        model_add(rig, model, rig_ipv6(i, 1), 128, RM_HOP_LOCAL);
    }
    for (uint32_t i = 0; i < MODEL_ROUTES; ++i) {
        bool const ipv6 = draw(2);
        model_add(rig, model, draw_destination(ipv6), (uint8_t)(12 + draw(ipv6 ? 117 : 21)), hop[draw(MODEL_HOPS + 4)]);
    }
    rm_routes_publish(rig->routes);
}

/** Writes a frame that is mostly right; returns its length. */
static uint32_t draw_frame(uint8_t *frame, uint32_t port) {
    bool const ipv6 = draw(2);
    uint32_t const payload = draw(10) == 0 ? 1400 + draw(600) : draw(100);
    uint32_t length = ipv6 ? rig_ipv6_frame(frame, port, rig_ipv6(draw(4), 9), draw_destination(true), payload)
                           : rig_ipv4_frame(frame, port, rig_ipv4(draw(4), 9), draw_destination(false), payload);
    if (draw(4) == 0)
        frame[ipv6 ? 21 : 22] = (uint8_t)draw(3);
    if (!ipv6 && draw(3) == 0)
        rm_store16(frame + 20, (uint16_t)draw(0x10000));
    for (uint32_t i = draw(8) == 0 ? draw(4) : 0; i > 0; --i)
        frame[draw(length < 60 ? length : 60)] ^= (uint8_t)(1u << draw(8));
    if (!ipv6 && draw(8) != 0) {
        rm_store16(frame + 24, 0);
        uint32_t const bytes = (frame[14] & 15u) * 4 <= length - 14 ? (frame[14] & 15u) * 4 : 20;
        rm_store16(frame + 24, model_checksum(frame + 14, bytes));
    }
    if (draw(4) == 0)
        length = rig_tag(frame, length, draw(3) == 0 ? (uint16_t)draw(9) : RIG_VLAN);
    if (draw(8) == 0)
        frame[0] ^= 1;
    return draw(10) == 0 ? 1 + draw(length) : length;
}

/** Frames that left are in the order of their ports: finds this one among them. */
static bool has_left(struct rig const *rig, struct model_end const *end) {
    for (uint32_t i = 0; i < rig->left_count; ++i)
        if (rig->left[i].port == end->port && rig->left[i].length >= end->length &&
            memcmp(rig->left[i].frame, end->frame, end->length) == 0)
            return true;
    return false;
}

static void bursts_agree_with_the_model(void **state) {
    (void)state;
    struct rig *const rig = rig_make();
    static struct model model;
    static struct model_end end[RM_BURST];
    static uint8_t frames[RM_BURST][FRAME_BYTES_MAX];
    uint64_t wanted[RM_FORWARD_COUNTERS] = {0};
    draw_routes(rig, &model);
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        struct rm_burst burst = {.count = 1 + draw(RM_BURST)};
        uint32_t const port = draw(RIG_PORTS);
        for (uint32_t i = 0; i < burst.count; ++i) {
            burst.data[i] = frames[i];
            burst.length[i] = draw_frame(frames[i], port);
            model_run(rig, &model, port, frames[i], burst.length[i], &end[i]);
            ++wanted[end[i].counter];
        }
        wanted[RM_FORWARD_RECEIVED] += burst.count;
        rig->left_count = 0;
        rm_forward_burst(&rig->forward, port, &burst, rig->now_ns);
        for (uint32_t i = 0; i < burst.count; ++i)
            if (end[i].counter == RM_FORWARD_FORWARDED && end[i].length != 0)
                assert_true(has_left(rig, &end[i]));
        struct rm_handoff_packet packet;
        while (rm_handoff_see(&rig->handoff, &packet))
            rm_handoff_done(&rig->handoff);
    }
    for (uint32_t i = RM_FORWARD_RECEIVED; i <= RM_FORWARD_SAME_PORT; ++i) {
        uint64_t found = 0;
        for (uint32_t port = 0; port < RIG_PORTS; ++port)
            found += rm_counter_get(rig->counters[port], i);
        assert_int_equal(found, wanted[i]);
    }
    for (uint32_t i = RM_FORWARD_FORWARDED; i <= RM_FORWARD_WRONG_VLAN; ++i)
        if (i != RM_FORWARD_WAITING && i != RM_FORWARD_HANDOFF_FULL)
            assert_true(wanted[i] > 0); // else the test looks at less than it says
    rig_free(rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {cmocka_unit_test(bursts_agree_with_the_model)};
    tables_start(64 + rm_routes_memory_mib(&RIG_LIMITS));
    int const failed = cmocka_run_group_tests(tests, NULL, NULL);
    rm_net_stop();
    return failed;
}
