// SPDX-License-Identifier: Apache-2.0
#include "cameras/test_frame_sender.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void sender_rest(void) { nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); }

static void sender_await_link(struct rm_port *sender) {
    struct rm_port_statistics totals = {.link_up = false};
    struct rm_burst burst = {.count = 0};
    while (!totals.link_up) {
        rm_port_receive(sender, 0, &burst);
        rm_port_release(sender, 0, &burst);
        rm_port_totals(sender, &totals);
        sender_rest();
    }
}

struct rm_port *frame_sender_open(struct camera_rig *rig, char const *cameras) {
    struct rm_port_config config = {.name = "sender", .kind = RM_PORT_MEMIF, .queues = 1};
    struct rm_error error = {.text = ""};
    struct rm_port *sender = NULL;
    char port[160];
    rig_begin(rig);
    snprintf(port, sizeof port, "  - {name: wire, kind: memif, socket: %s/memif.sock, role: server}\n", rig->folder);
    rig_open_on(rig, port, cameras);
    snprintf(config.socket_path, sizeof config.socket_path, "%s/memif.sock", rig->folder);
    if (rm_port_open(&config, &sender, &error) != RM_OK)
        fail_msg("%s", error.text);
    sender_await_link(sender);
    return sender;
}

void frame_sender_send(struct rm_port *sender, uint8_t const *frame, uint32_t length) {
    struct rm_burst burst = {.count = 0};
    while (rm_port_reserve(sender, 0, &burst, 1) == 0)
        sender_rest();
    memcpy(burst.data[0], frame, length);
    burst.length[0] = length;
    while (rm_port_send(sender, 0, &burst) == 0)
        sender_rest();
}

void frame_sender_close(struct rm_port *sender, struct camera_rig *rig) {
    rm_port_close(sender);
    rig_close(rig);
}
