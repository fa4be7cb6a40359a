// SPDX-License-Identifier: Apache-2.0
/* Two networks that bring the same instruments, each with its own losses. */
#include <stdlib.h>

#include "engine/test_receive_steps.h"
#include "wire/frame.h"

enum { INSTRUMENTS = 3, MIRROR_SOURCE = 0x0A1F0001, TURNS = 60000 };

struct mirrored {
    struct receive_rig *rig;
    struct rm_mirror_path path[INSTRUMENTS][RM_NETWORKS];
    rm_counter counters[INSTRUMENTS][RM_NETWORKS][RM_PATH_COUNTERS];
    uint64_t random;
};

/** Every instrument comes by port 0 from its own address, and again from another address, in the same port: for the
 * role it is all one which port a network is. */
static struct mirrored *make(void) {
    struct mirrored *mirrored = calloc(1, sizeof *mirrored);
    mirrored->rig = rig_make(&(struct receive_rig_config){.instruments = INSTRUMENTS});
    mirrored->random = 1;
    for (uint32_t i = 0; i < INSTRUMENTS; ++i)
        for (int network = 0; network < RM_NETWORKS; ++network) {
            struct rm_mirror_path *path = &mirrored->path[i][network];
            assert_true(rm_mirror_path_init(path, mirrored->counters[i][network]));
            mirrored->rig->instrument[i]->path[network] = path;
            rig_know(mirrored->rig, 0, MIRROR_SOURCE + i + 256 * (uint32_t)network, mirrored->rig->id[i], i, path);
        }
    return mirrored;
}

static void end(struct mirrored *mirrored) {
    for (uint32_t i = 0; i < INSTRUMENTS; ++i)
        for (int network = 0; network < RM_NETWORKS; ++network)
            rm_mirror_path_free(&mirrored->path[i][network]);
    rig_free(mirrored->rig);
    free(mirrored);
}

static bool lost(struct mirrored *mirrored, uint32_t per_thousand) {
    mirrored->random = mirrored->random * 6364136223846793005ull + 1442695040888963407ull;
    return (mirrored->random >> 33) % 1000 < per_thousand;
}

static void send(struct mirrored *mirrored, uint32_t instrument, int network, rm_turn turn) {
    uint8_t frame[256];
    uint32_t const length = rig_frame(mirrored->rig, instrument, turn, frame);
    struct rm_flow const flow = {.source_ipv4 = MIRROR_SOURCE + instrument + 256 * (uint32_t)network,
                                 .destination_port = RIG_UDP_PORT};
    rm_frame_write_header(frame, &flow, length - RM_FRAME_HEADER_BYTES);
    rig_push(mirrored->rig, 0, 0, frame, length);
}

static uint64_t count(struct mirrored const *mirrored, uint32_t i, int network, enum rm_path_counter counter) {
    return rm_counter_get(mirrored->counters[i][network], counter);
}

/** The second network is three turns behind, as if its cable were longer. */
static void the_stream_is_whole_while_one_copy_arrives(void **state) {
    (void)state;
    struct mirrored *mirrored = make();
    struct receive_rig *rig = mirrored->rig;
    static bool gone[TURNS];
    uint64_t both = 0, once[RM_NETWORKS] = {0};
    for (rm_turn turn = 0; turn < TURNS; ++turn) {
        rig_set_tsc(rig_tsc_of(START + turn));
        gone[turn] = lost(mirrored, 30);
        once[0] += gone[turn];
        if (!gone[turn])
            send(mirrored, 0, 0, START + turn);
        if (turn >= 3) {
            bool const second = lost(mirrored, 20);
            once[1] += second;
            both += second && gone[turn - 3];
            if (!second)
                send(mirrored, 0, 1, START + turn - 3);
        }
        assert_null(rig_poll(rig));
    }
    rig_set_tsc(rig_tsc_of(START + TURNS + 2 * RIG_FOLLOW_TURNS));
    assert_null(rig_idle(rig));
    uint64_t const stored = rig_count(rig, 0, RM_STREAM_ACCEPTED) + rig_count(rig, 0, RM_STREAM_OUT_OF_ORDER);
    assert_in_range(stored, TURNS - both - 4, TURNS - both);
    assert_int_equal(rig_count(rig, 0, RM_STREAM_DUPLICATE), 0);
    assert_int_equal(rig_count(rig, 0, RM_STREAM_MIRRORED),
                     count(mirrored, 0, 0, RM_PATH_SECOND) + count(mirrored, 0, 1, RM_PATH_SECOND));
    assert_int_equal(count(mirrored, 0, 0, RM_PATH_FIRST) + count(mirrored, 0, 1, RM_PATH_FIRST), stored);
    assert_in_range(rig_count(rig, 0, RM_STREAM_SKIPPED) - rig_count(rig, 0, RM_STREAM_OUT_OF_ORDER), both, both + 4);
    for (int network = 0; network < RM_NETWORKS; ++network) { /* all but the late window, which is not reconciled */
        assert_true(count(mirrored, 0, network, RM_PATH_LOST) > once[network] * 9 / 10);
        assert_true(count(mirrored, 0, network, RM_PATH_LOST) <= once[network] + 1);
    }
    end(mirrored);
}

static void a_network_that_repeats_itself_is_reported_from_the_other(void **state) {
    (void)state;
    struct mirrored *mirrored = make();
    for (int copy = 0; copy < 3; ++copy)
        send(mirrored, 1, 0, START);
    send(mirrored, 1, 1, START);
    assert_null(rig_poll(mirrored->rig));
    expect(mirrored->rig, 1, RM_STREAM_ACCEPTED, 1);
    expect(mirrored->rig, 1, RM_STREAM_DUPLICATE, 2);
    expect(mirrored->rig, 1, RM_STREAM_MIRRORED, 1);
    assert_int_equal(count(mirrored, 1, 0, RM_PATH_DUPLICATE), 2);
    end(mirrored);
}

static void a_network_that_falls_silent_costs_nothing(void **state) {
    (void)state;
    struct mirrored *mirrored = make();
    struct receive_rig *rig = mirrored->rig;
    for (rm_turn turn = 0; turn < TURNS; ++turn) {
        rig_set_tsc(rig_tsc_of(START + turn));
        send(mirrored, 2, 0, START + turn);
        if (turn < 1000)
            send(mirrored, 2, 1, START + turn);
        assert_null(rig_poll(rig));
    }
    expect(rig, 2, RM_STREAM_ACCEPTED, TURNS);
    expect(rig, 2, RM_STREAM_SKIPPED, 0);
    assert_true(count(mirrored, 2, 1, RM_PATH_LOST) > 40000);
    assert_int_equal(count(mirrored, 2, 0, RM_PATH_LOST), 0);
    end(mirrored);
}

static void both_networks_survive_a_restart_of_the_machine(void **state) {
    (void)state;
    struct mirrored *mirrored = make();
    struct receive_rig *rig = mirrored->rig;
    rm_turn const counter[] = {START, 10}; /* the turn counter begins again, far below */
    for (int epoch = 0; epoch < 2; ++epoch)
        for (rm_turn turn = 0; turn < LEARNT; ++turn) {
            rig_set_tsc(rig_tsc_of(START + (rm_turn)epoch * LEARNT + turn));
            for (uint32_t i = 0; i < INSTRUMENTS; ++i)
                for (int network = 0; network < RM_NETWORKS; ++network)
                    send(mirrored, i, network, counter[epoch] + turn);
            assert_null(rig_poll(rig));
        }
    for (uint32_t i = 0; i < INSTRUMENTS; ++i) {
        expect(rig, i, RM_STREAM_TURN_EPOCHS, 1);
        assert_int_equal(rig_head(rig, i), 10 + LEARNT - 1);
        expect(rig, i, RM_STREAM_DUPLICATE, 0);
        assert_int_equal(count(mirrored, i, 0, RM_PATH_LOST), 0);
        assert_int_equal(count(mirrored, i, 1, RM_PATH_LOST), 0);
    }
    end(mirrored);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(the_stream_is_whole_while_one_copy_arrives),
        cmocka_unit_test(a_network_that_repeats_itself_is_reported_from_the_other),
        cmocka_unit_test(a_network_that_falls_silent_costs_nothing),
        cmocka_unit_test(both_networks_survive_a_restart_of_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
