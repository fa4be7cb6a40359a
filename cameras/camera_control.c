// SPDX-License-Identifier: Apache-2.0
#include "camera_control.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "wire/address.h"

/** Most commands of one poll, and most packets that one request has sent again. */
enum { COMMANDS = 32, AGAIN_MAX = 4096 };

/** `shared`: several cameras of one host hear the same, which are broadcasts. */
static int control_socket(uint32_t ipv4, bool shared) {
    int const file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_in const address = {
        .sin_family = AF_INET, .sin_port = htons(RM_GVCP_PORT), .sin_addr.s_addr = htonl(ipv4)};
    int const reuse = shared;
    if (file >= 0 && (setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) != 0 ||
                      bind(file, (struct sockaddr const *)&address, sizeof address) != 0)) {
        int const why = errno;
        close(file);
        errno = why;
        return -1;
    }
    return file;
}

enum rm_code rm_camera_control_open(struct rm_camera_control *control, struct rm_camera_sender *sender,
                                    struct rm_error *error) {
    char address[16];
    rm_ipv4_format(sender->camera.ipv4, address);
    *control = (struct rm_camera_control){.sender = sender, .broadcasts = -1};
    control->socket = control_socket(sender->camera.ipv4, false);
    if (control->socket < 0)
        return rm_fail(
            error, RM_E_SYSTEM,
            "camera \"%s\": cannot listen at %s:%d: %s; `ip address` shows the addresses there are, `ss -ulnp` "
            "the sockets",
            sender->camera.name, address, RM_GVCP_PORT, strerror(errno));
    control->broadcasts = control_socket(INADDR_BROADCAST, true);
    return rm_camera_device_new(&sender->camera, &control->device, error);
}

void rm_camera_control_close(struct rm_camera_control *control) {
    if (control->socket >= 0)
        close(control->socket);
    if (control->broadcasts >= 0)
        close(control->broadcasts);
    rm_camera_device_free(&control->device);
}

static void stream_end(struct rm_camera_control *control) {
    control->device.registers.running = false;
    rm_camera_sender_stop(control->sender);
}

static void stream_begin(struct rm_camera_control *control) {
    struct rm_camera_device *const device = &control->device;
    uint32_t const port = rm_device_register(&device->registers, RM_DEVICE_STREAM_PORT);
    uint32_t const address = rm_device_register(&device->registers, RM_DEVICE_STREAM_ADDRESS);
    if (device->registers.running || port == 0)
        return;
    struct rm_virtual_camera const camera = rm_device_registers_camera(&device->registers);
    struct rm_error error;
    if (rm_camera_sender_change(control->sender, &camera, &error) != RM_OK) {
        fprintf(stderr, "ringmaster-virtual-cameras: %s\n", error.text);
        return;
    }
    if (!control->lead(control->state, address == 0 ? device->owner_ipv4 : address, (uint16_t)port))
        return;
    device->registers.running = true;
    rm_camera_sender_start(control->sender);
}

static void send_again(struct rm_camera_control *control, struct rm_gvcp_resend const *resend) {
    for (uint32_t i = 0; i < AGAIN_MAX && i <= resend->last - resend->first; ++i)
        rm_camera_sender_resend(control->sender, resend->block, resend->first + i);
}

static void control_act(struct rm_camera_control *control, struct rm_device_answer const *answer) {
    if (answer->action == RM_DEVICE_STREAM_BEGINS)
        stream_begin(control);
    if (answer->action == RM_DEVICE_STREAM_ENDS)
        stream_end(control);
    if (answer->action == RM_DEVICE_SENDS_AGAIN)
        send_again(control, &answer->resend);
}

/** Answers one datagram; false: there is none. All answers come from the camera's address. */
static bool control_take(struct rm_camera_control *control, int socket) {
    uint8_t bytes[RM_GVCP_LONGEST];
    struct sockaddr_in from = {0};
    socklen_t from_bytes = sizeof from;
    ssize_t const length = recvfrom(socket, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &from_bytes);
    if (length < 0)
        return false;
    struct rm_device_client const client = {ntohl(from.sin_addr.s_addr), ntohs(from.sin_port)};
    struct rm_device_answer answer;
    rm_camera_device_take(&control->device, client, bytes, (uint32_t)length, rm_monotonic_ns(), &answer);
    control_act(control, &answer);
    if (answer.length != 0)
        sendto(control->socket, answer.bytes, answer.length, 0, (struct sockaddr *)&from, sizeof from);
    return true;
}

void rm_camera_control_poll(struct rm_camera_control *control) {
    for (int i = 0; i < COMMANDS && control_take(control, control->socket); ++i)
        ;
    for (int i = 0; i < COMMANDS && control->broadcasts >= 0 && control_take(control, control->broadcasts); ++i)
        ;
    if (rm_camera_device_expire(&control->device, rm_monotonic_ns()))
        stream_end(control);
}
