// SPDX-License-Identifier: Apache-2.0
#include "cameras/test_camera_rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t const LONG_NS = 60000000000;

static int rig_socket(char const *address) {
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(address)};
    int const file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(file >= 0);
    assert_int_equal(bind(file, (struct sockaddr *)&from, sizeof from), 0);
    return file;
}

/** A port that nobody has just now. */
static uint16_t rig_free_port(void) {
    struct sockaddr_in at = {.sin_port = 0};
    socklen_t length = sizeof at;
    int const file = rig_socket("127.0.0.1");
    assert_int_equal(getsockname(file, (struct sockaddr *)&at, &length), 0);
    close(file);
    return ntohs(at.sin_port);
}

static void rig_write(struct camera_rig const *rig, char const *port, char const *cameras) {
    FILE *const file = fopen(rig->file, "we");
    assert_non_null(file);
    fprintf(file, "workspace: test\nturn_rate_hz: 1.157e6\npolling: {naps: true}\nports:\n%scameras:\n%s", port,
            cameras);
    fclose(file);
}

void rig_begin(struct camera_rig *rig) {
    strcpy(rig->folder, "/tmp/test_cameras.XXXXXX");
    assert_non_null(mkdtemp(rig->folder));
    setenv("RINGMASTER_WORKSPACES", rig->folder, 1);
}

void rig_open_on(struct camera_rig *rig, char const *port, char const *cameras) {
    struct rm_error error = {.text = ""};
    snprintf(rig->file, sizeof rig->file, "%s/cameras.yaml", rig->folder);
    rig->socket = rig_socket("127.0.0.1");
    rig->other = rig_socket("127.0.0.2");
    rig_write(rig, port, cameras);
    if (rm_frames_open(rig->file, &rig->frames, &error) != RM_OK)
        fail_msg("%s", error.text);
    if (rm_workspace_attach("test", RM_ATTACH_SERVERLESS, &rig->workspace, &error) != RM_OK)
        fail_msg("%s", error.text);
}

void rig_open(struct camera_rig *rig, char const *cameras) {
    char port[128];
    rig_begin(rig);
    rig->udp_port = rig_free_port();
    snprintf(port, sizeof port, "  - {name: wire, kind: udp, address: \"127.0.0.1:%u\"}\n", rig->udp_port);
    rig_open_on(rig, port, cameras);
}

static int rig_remove(char const *path, struct stat const *status, int kind, struct FTW *place) {
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void rig_close(struct camera_rig *rig) {
    rm_workspace_detach(rig->workspace);
    rm_frames_close(rig->frames);
    close(rig->socket);
    close(rig->other);
    nftw(rig->folder, rig_remove, 8, FTW_DEPTH | FTW_PHYS);
}

uint8_t rig_pixel(uint64_t frame, uint32_t at) { return (uint8_t)(1 + (frame * 31 + at * 7 + at / 251) % 255); }

void rig_send(struct camera_rig const *rig, int file, void const *payload, uint32_t length) {
    struct sockaddr_in const to = {
        .sin_family = AF_INET, .sin_port = htons(rig->udp_port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(sendto(file, payload, length, 0, (struct sockaddr const *)&to, sizeof to), length);
}

uint32_t rig_part(uint8_t payload[RIG_PART_BYTES], uint32_t camera, uint64_t frame, int part) {
    struct rm_image_datagram datagram = {
        .kind = part < 0 ? RM_IMAGE_CONFIGURATION : RM_IMAGE_FRAGMENT,
        .flags = RM_IMAGE_TIME_IS_TURN,
        .camera = camera,
        .fragment = {.frame = frame,
                     .fragment_bytes = RIG_EACH,
                     .total_bytes = RIG_BYTES,
                     .time = 1000 * frame,
                     .has_geometry = part < 0,
                     .geometry = {.pixel_format = RIG_MONO8, .width = RIG_WIDTH, .height = RIG_HEIGHT}},
        .exposure_start_ns = 5 * frame,
        .exposure_end_ns = 6 * frame,
    };
    if (part >= 0) {
        datagram.fragment.offset = (uint64_t)part * RIG_EACH;
        uint64_t const left = RIG_BYTES - datagram.fragment.offset;
        datagram.fragment.length = left < RIG_EACH ? (uint32_t)left : RIG_EACH;
    }
    uint32_t const header = rm_image_write(payload, &datagram);
    for (uint32_t i = 0; i < datagram.fragment.length; ++i)
        payload[header + i] = rig_pixel(frame, (uint32_t)datagram.fragment.offset + i);
    return header + datagram.fragment.length;
}

void rig_send_part(struct camera_rig const *rig, int file, uint32_t camera, uint64_t frame, int part) {
    uint8_t payload[RIG_PART_BYTES];
    rig_send(rig, file, payload, rig_part(payload, camera, frame, part));
}

void rig_send_whole(struct camera_rig const *rig, uint32_t camera, uint64_t frame) {
    for (int part = -1; part < RIG_FRAGMENTS; ++part)
        rig_send_part(rig, rig->socket, camera, frame, part);
}

void rig_send_packet(struct camera_rig const *rig, uint64_t block, uint32_t packet) {
    uint8_t payload[RM_GVSP_LONGEST + RIG_EACH];
    struct rm_gvsp_packet sent = {
        .format = packet == 0              ? RM_GVSP_LEADER
                  : packet > RIG_FRAGMENTS ? RM_GVSP_TRAILER
                                           : RM_GVSP_PAYLOAD,
        .block = block,
        .packet = packet,
        .payload_type = RM_GVSP_IMAGE,
        .time = 7 * block,
        .has_geometry = packet == 0,
        .geometry = {.pixel_format = RIG_MONO8, .width = RIG_WIDTH, .height = RIG_HEIGHT},
        .height = RIG_HEIGHT,
    };
    uint32_t length = rm_gvsp_write(payload, &sent);
    for (uint32_t at = (packet - 1) * RIG_EACH;
         sent.format == RM_GVSP_PAYLOAD && at < packet * RIG_EACH && at < RIG_BYTES; ++at)
        payload[length++] = rig_pixel(block, at);
    rig_send(rig, rig->socket, payload, length);
}

uint32_t rig_next(struct camera_rig *rig, struct rm_frame *frame) {
    uint32_t camera = UINT32_MAX;
    assert_int_equal(rm_frames_next(rig->frames, LONG_NS, &camera, frame), RM_FRAME_OK);
    return camera;
}

void rig_check(struct camera_rig *rig, uint32_t camera, struct rm_frame *frame, uint64_t number, uint32_t missing) {
    assert_int_equal(frame->slot->number, number);
    assert_int_equal(frame->slot->length, RIG_BYTES);
    assert_int_equal(frame->slot->fragments, RIG_FRAGMENTS);
    assert_int_equal(frame->slot->placed, RIG_FRAGMENTS - missing);
    assert_int_equal(frame->slot->status, missing == 0 ? RM_IMAGE_WHOLE : RM_IMAGE_INCOMPLETE);
    assert_int_equal(frame->slot->width, RIG_WIDTH);
    assert_int_equal(frame->slot->height, RIG_HEIGHT);
    assert_int_equal(frame->slot->pixel_format, RIG_MONO8);
    assert_true(frame->slot->flags & RM_IMAGE_HAS_GEOMETRY);
    assert_true(frame->slot->first_tsc <= frame->slot->last_tsc && frame->slot->last_tsc <= frame->slot->closed_tsc);
    assert_true(frame->slot->closed_tsc < frame->slot->published_tsc);
    for (uint32_t at = 0; at < RIG_BYTES; ++at) {
        bool const here = frame->map[0] >> at / RIG_EACH & 1;
        assert_int_equal(frame->bytes[at], here ? rig_pixel(number, at) : 0);
    }
    rm_frames_release(rig->frames, camera, frame);
}

static rm_counter const *rig_counters(struct camera_rig const *rig, char const *kind, char const *name) {
    char whole[RM_NAME_BYTES];
    struct rm_object const *object;
    void const *memory;
    struct rm_error error;
    snprintf(whole, sizeof whole, "counters/%s/%s", kind, name);
    if (rm_workspace_find(rig->workspace, RM_OBJECT_COUNTERS, whole, &object, &memory, &error) != RM_OK)
        fail_msg("%s", error.text);
    return memory;
}

uint64_t rig_count(struct camera_rig const *rig, char const *camera, enum rm_camera_counter counter) {
    return rm_counter_get(rig_counters(rig, "camera", camera), counter);
}

uint64_t rig_port_count(struct camera_rig const *rig, enum rm_port_counter counter) {
    return rm_counter_get(rig_counters(rig, "port", "wire"), counter);
}

void rig_await_received(struct camera_rig const *rig, uint64_t datagrams) {
    while (rig_port_count(rig, RM_PORT_RECEIVED) < datagrams)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

void rig_await_shown(struct camera_rig const *rig, char const *camera, enum rm_camera_counter counter, uint64_t least) {
    while (rig_count(rig, camera, counter) < least)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}
