// SPDX-License-Identifier: Apache-2.0
/** Captures of a router's ports, by commands, while two cores put frames wherever they are told to. A frame of port n is
 * 60 bytes of n. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/timebase.h"
#include "base/zeroed.h"
#include "capture/pcap_frames.h"
#include "forward/captures.h"

enum { CORES = 2, PORTS = 3, LONGEST = 1514, FRAME_BYTES = 60, PUT_EACH = 3 };

struct core {
    pthread_t thread;
    struct rm_captures_core *captures;
    /** [port]: frames that were put. */
    _Atomic uint32_t put[PORTS];
};

struct rig {
    struct rm_captures *captures;
    struct rm_command_table table;
    atomic_bool stop;
    struct core core[CORES];
    char path[2][32];
    char answer[4096];
    struct rm_error error;
};

static struct rig *rig_of_cores;

/** As fast as the files take them, so that none is lost: the ring is full otherwise. */
static void *core_run(void *context) {
    struct core *const core = context;
    while (!atomic_load(&rig_of_cores->stop)) {
        rm_captures_obey(core->captures);
        for (uint32_t port = 0; port < PORTS; ++port) {
            uint8_t frame[FRAME_BYTES];
            memset(frame, (int)port, sizeof frame);
            if (core->captures->ring[port] != NULL &&
                rm_capture_ring_put(core->captures->ring[port], frame, sizeof frame, rm_tsc()))
                atomic_fetch_add(&core->put[port], 1);
        }
        sched_yield();
    }
    return NULL;
}

static int rig_make(void **state) {
    struct rig *const rig = *state = rig_of_cores = rm_zeroed(1, sizeof *rig);
    struct rm_captures_setup const setup = {.core_count = CORES,
                                            .port = {"west", "east", "south"},
                                            .longest_frame = LONGEST,
                                            .tsc_hz = rm_tsc_hz_measure()};
    if (rig == NULL)
        return -1;
    rig->captures = rm_captures_make(&setup);
    rm_captures_commands(rig->captures, &rig->table);
    for (uint32_t i = 0; i < 2; ++i) {
        strcpy(rig->path[i], "/tmp/test-captures-XXXXXX");
        close(mkstemp(rig->path[i]));
    }
    for (uint32_t i = 0; i < CORES; ++i) {
        rig->core[i].captures = rm_captures_core(rig->captures, i);
        if (pthread_create(&rig->core[i].thread, NULL, core_run, &rig->core[i]) != 0)
            return -1;
    }
    return 0;
}

static int rig_free(void **state) {
    struct rig *const rig = *state;
    atomic_store(&rig->stop, true);
    for (uint32_t i = 0; i < CORES; ++i)
        pthread_join(rig->core[i].thread, NULL);
    rm_captures_free(rig->captures);
    for (uint32_t i = 0; i < 2; ++i)
        unlink(rig->path[i]);
    free(rig);
    return 0;
}

/** Says "capture WHAT PATH". */
static enum rm_code say(struct rig *rig, char const *what, char const *path) {
    char line[128];
    FILE *const answer = fmemopen(rig->answer, sizeof rig->answer, "w");
    snprintf(line, sizeof line, "capture %s %s", what, path);
    rig->error.text[0] = rig->answer[0] = '\0';
    enum rm_code const code = rm_command_run(&rig->table, 1, line, answer, &rig->error);
    fclose(answer);
    return code;
}

static void say_well(struct rig *rig, char const *what, char const *path) {
    if (say(rig, what, path) != RM_OK)
        fail_msg("%s", rig->error.text);
}

/** Until each core has put some frames of a port since now. */
static void wait_for_frames(struct rig *rig, uint32_t port) {
    for (uint32_t i = 0; i < CORES; ++i) {
        uint32_t const before = atomic_load(&rig->core[i].put[port]);
        while (atomic_load(&rig->core[i].put[port]) - before < PUT_EACH)
            sched_yield();
    }
}

static uint32_t put_of(struct rig *rig, uint32_t port) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < CORES; ++i)
        count += atomic_load(&rig->core[i].put[port]);
    return count;
}

/** Frames in a file, by port. */
static void read_file(char const *path, uint32_t count[PORTS]) {
    struct rm_pcap_frames frames;
    struct rm_error error = {.text = ""};
    if (rm_pcap_frames_load(path, LONGEST, RM_PCAP_MEMORY_MAX, &frames, &error) != RM_OK)
        fail_msg("%s", error.text);
    memset(count, 0, PORTS * sizeof *count);
    for (uint32_t i = 0; i < frames.count; ++i) {
        uint8_t const port = frames.bytes[frames.frame[i].offset];
        assert_int_equal(frames.frame[i].length, FRAME_BYTES);
        assert_true(port < PORTS);
        ++count[port];
    }
    rm_pcap_frames_free(&frames);
}

static void ports_of_all_cores_are_in_one_file(void **state) {
    struct rig *const rig = *state;
    uint32_t count[PORTS];
    say_well(rig, "west,south", rig->path[0]);
    wait_for_frames(rig, 0);
    wait_for_frames(rig, 2);
    say_well(rig, "show", "");
    assert_memory_equal(rig->answer, "west south /tmp/", strlen("west south /tmp/"));
    say_well(rig, "all off", "");
    read_file(rig->path[0], count);
    assert_int_equal(count[0], put_of(rig, 0));
    assert_int_equal(count[1], 0);
    assert_int_equal(count[2], put_of(rig, 2));
    say_well(rig, "show", "");
    assert_string_equal(rig->answer, "");
}

static void ports_leave_a_capture_one_by_one(void **state) {
    struct rig *const rig = *state;
    uint32_t count[PORTS];
    say_well(rig, "all", rig->path[0]);
    wait_for_frames(rig, 1);
    say_well(rig, "east", rig->path[1]);
    uint32_t const moved = put_of(rig, 1);
    wait_for_frames(rig, 1);
    say_well(rig, "west,south off", "");
    read_file(rig->path[0], count);
    assert_int_equal(count[0], put_of(rig, 0));
    assert_int_equal(count[2], put_of(rig, 2));
    assert_in_range(count[1], 1, moved);
    uint32_t const first = count[1];
    say_well(rig, "east off", "");
    read_file(rig->path[1], count);
    assert_int_equal(first + count[1], put_of(rig, 1));
    assert_true(count[0] == 0 && count[2] == 0);
}

static void what_cannot_be_done_changes_nothing(void **state) {
    struct rig *const rig = *state;
    say_well(rig, "west", rig->path[0]);
    assert_int_equal(say(rig, "east,north", rig->path[1]), RM_E_ARGUMENT);
    assert_non_null(strstr(rig->error.text, "\"north\" is no port of the router"));
    assert_int_equal(say(rig, "west,", rig->path[1]), RM_E_ARGUMENT);
    assert_int_equal(say(rig, "west", "/nonexistent/a.pcap"), RM_E_SYSTEM);
    assert_int_equal(say(rig, "east", rig->path[0]), RM_E_ARGUMENT);
    assert_non_null(strstr(rig->error.text, "is being written by another capture"));
    say_well(rig, "show", "");
    assert_non_null(strstr(rig->answer, rig->path[0]));
    assert_null(strstr(rig->answer, rig->path[1]));
    wait_for_frames(rig, 0);
    assert_int_equal(put_of(rig, 1), 0);
    say_well(rig, "east off", ""); // is in none
    assert_string_equal(rig->answer, "");
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(ports_of_all_cores_are_in_one_file, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(ports_leave_a_capture_one_by_one, rig_make, rig_free),
        cmocka_unit_test_setup_teardown(what_cannot_be_done_changes_nothing, rig_make, rig_free),
    };
    return cmocka_run_group_tests_name("captures", tests, NULL, NULL);
}
