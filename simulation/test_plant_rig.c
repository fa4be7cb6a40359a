// SPDX-License-Identifier: Apache-2.0
#include "test_plant_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char const HEAD[] = "workspace: test\n"
                           "turn_rate_hz: 1048576\n"
                           "ports: [{name: ring, kind: memif, socket: /run/ringmaster/nowhere.sock, answer: "
                           "10.20.255.1}]\n"
                           "roles: [{role: receive, core: 0, ports: [ring]}]\n";

static void write_file(char *path, char const *text, char const *more) {
    strcpy(path, "/tmp/ringmaster-plant-XXXXXX");
    int const file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    assert_int_equal(write(file, more, strlen(more)), strlen(more));
    close(file);
}

void test_plant_open(struct rm_plant *plant, char const *described, char const *overlay, char const *more) {
    char config[40], own[40];
    struct rm_error error;
    write_file(config, HEAD, described);
    write_file(own, overlay, more);
    struct rm_ring_files const files = {.config = config, .overlay = own};
    enum rm_code const code = rm_plant_open(&files, true, 0, plant, &error);
    unlink(config);
    unlink(own);
    if (code != RM_OK)
        fail_msg("%s", error.text);
}

void test_plant_reach(struct rm_plant *plant, uint64_t index) {
    struct rm_error error;
    if (rm_plant_advance(plant, (double)index / plant->config.beam.turn_rate_hz, &error) != RM_OK)
        fail_msg("%s", error.text);
}

void test_plant_event(struct rm_plant *plant, char const *words) {
    struct rm_error error;
    if (rm_plant_event(plant, words, &error) != RM_OK)
        fail_msg("%s", error.text);
}
