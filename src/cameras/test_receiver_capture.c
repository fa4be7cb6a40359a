// SPDX-License-Identifier: Apache-2.0
/** Cameras behind capture devices, TECMP and ASAM CMP on one packet port: every vector of vectors/tecmp.txt and cmp.txt
 * (the arguments), and whole frames, with lines in parts and behind VLAN tags. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cameras/test_frame_sender.h"
#include "frames/cmp.h"
#include "frames/tecmp.h"
#include "frames/test_frames_vectors.h"

enum {
    DEVICES = 2,
    WIDTH = 8,
    LINE_BYTES = WIDTH * 3 / 2,
    TECMP_DEVICE = 0x90,
    CMP_DEVICE = 0x4711,
    INTERFACE = 9,
    TECMP_CHANNEL = 1,
    CMP_CHANNEL = 13,
    TIME = 1000,
};

/* The vectors' interface, and one of our own. */
#define CAMERA(name, keys)                                                                                             \
    "  - {name: " name ", port: wire, " keys ", pixel_format: RAW12, width: 8, frame_bytes: 4096, deadline_ms: "       \
    "60000}\n"
#define VECTORS_CAMERAS                                                                                                \
    CAMERA("tecmp-vector", "format: tecmp, device: 144, channel: 1, id: 305419896, height: 1")                         \
    CAMERA("cmp-vector", "format: cmp, device: 18193, channel: 13, first_line: 700, id: 305419896, height: 1")
#define DEVICES_CAMERAS                                                                                                \
    CAMERA("tecmp", "format: tecmp, device: 144, channel: 1, id: 9, height: 5")                                        \
    CAMERA("cmp", "format: cmp, device: 18193, channel: 13, id: 9, height: 5")

static struct { char const *tecmp, *cmp; } files;

/** One for all tests: DPDK starts once per process. */
static struct {
    struct camera_rig rig;
    struct rm_port *sender;
} bench;

static int bench_open(void **state) {
    (void)state;
    bench.sender = frame_sender_open(&bench.rig, VECTORS_CAMERAS DEVICES_CAMERAS);
    return 0;
}

static int bench_close(void **state) {
    (void)state;
    frame_sender_close(bench.sender, &bench.rig);
    return 0;
}

/** What follows the EtherType, as a frame, behind `tags` VLAN tags. */
static void send_packet(struct rm_port *sender, uint8_t const *packet, uint32_t length, uint32_t tags) {
    uint8_t frame[RM_SEND_BYTES] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};
    uint32_t at = 12;
    for (uint32_t i = 0; i < tags; ++i) {
        memcpy(frame + at, (uint8_t const[]){0x81, 0x00, 0x00, 0x07}, 4);
        at += 4;
    }
    frame[at++] = 0x99;
    frame[at++] = 0xFE;
    memcpy(frame + at, packet, length);
    frame_sender_send(sender, frame, at + length < 60 ? 60 : at + length);
}

static void send_vectors(struct rm_port *sender, char const *path, uint64_t *sent) {
    struct frames_vector vector;
    FILE *const file = fopen(path, "re");
    assert_non_null(file);
    while (frames_vector_read(file, &vector)) {
        send_packet(sender, vector.payload, vector.length, 0);
        ++*sent;
    }
    fclose(file);
}

/** A frame of one line that the vectors have. */
static void vector_frame_is(struct camera_rig *rig, char const *camera, uint64_t number) {
    static uint8_t const pixels[LINE_BYTES] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    struct rm_frame frame;
    uint32_t const index = rig_next(rig, &frame);
    assert_string_equal(rm_frames_name(rig->frames, index), camera);
    assert_int_equal(frame.slot->number, number);
    assert_int_equal(frame.slot->status, RM_IMAGE_WHOLE);
    assert_int_equal(frame.slot->length, LINE_BYTES);
    assert_int_equal(frame.slot->width, WIDTH);
    assert_true(frame.slot->device_time == 0x188866bcae608ee4);
    assert_memory_equal(frame.bytes, pixels, LINE_BYTES);
    rm_frames_release(rig->frames, index, &frame);
}

static void every_vector_comes_to_what_it_says(void **state) {
    (void)state;
    struct camera_rig *const rig = &bench.rig;
    struct rm_port *const sender = bench.sender;
    uint64_t sent = 0;
    send_vectors(sender, files.tecmp, &sent);
    vector_frame_is(rig, "tecmp-vector", 77);
    send_vectors(sender, files.cmp, &sent);
    vector_frame_is(rig, "cmp-vector", 300);
    rig_await_received(rig, sent);
    /* Each packet is of one device, or of none that a camera is behind. */
    uint64_t const ours =
        rig_count(rig, "tecmp-vector", RM_CAMERA_RECEIVED) + rig_count(rig, "cmp-vector", RM_CAMERA_RECEIVED);
    assert_int_equal(rig_port_count(rig, RM_PORT_DECODED), ours);
    assert_int_equal(rig_port_count(rig, RM_PORT_UNKNOWN_INSTRUMENT), sent - ours);
    assert_int_equal(rig_count(rig, "tecmp-vector", RM_CAMERA_PUBLISHED), 1);
    assert_int_equal(rig_count(rig, "cmp-vector", RM_CAMERA_PUBLISHED), 1);
    assert_true(rig_count(rig, "tecmp-vector", RM_CAMERA_GATHERED) > 3);
}

enum { FRAMES = 12, HEIGHT = 5, PACKET_MAX = 256 };

/** A capture device: TECMP or ASAM CMP. */
struct device {
    struct rm_port *sender;
    bool is_cmp;
    uint16_t counter;
};

static uint8_t line_byte(bool is_cmp, uint64_t frame, uint32_t line, uint32_t at) {
    return (uint8_t)(frame * 37 + line * 11 + at + (is_cmp ? 128 : 0));
}

static void device_send(struct device *device, enum rm_message_part part, uint8_t const *bytes, uint32_t length,
                        uint32_t tags) {
    static uint16_t const flags[] = {
        [RM_PART_WHOLE] = 0x000F, [RM_PART_FIRST] = 2, [RM_PART_MIDDLE] = 0, [RM_PART_LAST] = 1};
    uint8_t packet[PACKET_MAX];
    uint32_t at;
    if (device->is_cmp) {
        at = rm_cmp_write(packet, &(struct rm_cmp_header){RM_CMP_VERSION, CMP_DEVICE, 1, device->counter++});
        at += rm_cmp_write_message(
            packet + at,
            &(struct rm_cmp_message){
                .time_ns = TIME, .interface = INTERFACE, .part = part, .payload_type = RM_CMP_CSI2, .length = length});
    } else {
        at = rm_tecmp_write(packet, &(struct rm_tecmp_header){TECMP_DEVICE, device->counter++, RM_TECMP_VERSION,
                                                              RM_TECMP_CAPTURED, RM_TECMP_CSI2_V, flags[part]});
        at += rm_tecmp_write_entry(packet + at,
                                   &(struct rm_tecmp_entry){.interface = INTERFACE, .time_ns = TIME, .length = length});
    }
    memcpy(packet + at, bytes, length);
    send_packet(device->sender, packet, at + length, tags);
}

/** A CSI-2 packet, in `parts` parts. */
static void device_send_csi2(struct device *device, uint16_t frame, uint16_t line, struct rm_csi2_packet packet,
                             uint32_t parts) {
    uint8_t bytes[PACKET_MAX / 2];
    uint32_t length;
    packet.channel = device->is_cmp ? CMP_CHANNEL : TECMP_CHANNEL;
    if (device->is_cmp) {
        length = rm_cmp_write_csi2(bytes, &(struct rm_cmp_csi2){.frame = frame, .line = line, .packet = packet});
        if (packet.length != 0)
            memcpy(bytes + length, packet.bytes, packet.length);
        length += packet.length;
    } else {
        length = rm_csi2_write(bytes, &packet);
    }
    for (uint32_t part = 0, at = 0; part < parts; ++part) {
        bool const last = part + 1 == parts;
        uint32_t const piece = last ? length - at : length / parts;
        enum rm_message_part const kind = parts == 1  ? RM_PART_WHOLE
                                          : part == 0 ? RM_PART_FIRST
                                          : last      ? RM_PART_LAST
                                                      : RM_PART_MIDDLE;
        device_send(device, kind, bytes + at, piece, line % 3);
        at += piece;
    }
}

static void device_send_frame(struct device *device, uint16_t number) {
    device_send_csi2(device, number, 0, (struct rm_csi2_packet){.data_type = RM_CSI2_FRAME_START, .number = number}, 1);
    for (uint32_t line = 0; line < HEIGHT; ++line) {
        uint8_t pixels[LINE_BYTES];
        for (uint32_t at = 0; at < LINE_BYTES; ++at)
            pixels[at] = line_byte(device->is_cmp, number, line, at);
        device_send_csi2(device, number, (uint16_t)line,
                         (struct rm_csi2_packet){.data_type = RM_CSI2_RAW12, .bytes = pixels, .length = LINE_BYTES},
                         1 + line % 4);
    }
    device_send_csi2(device, number, 0, (struct rm_csi2_packet){.data_type = RM_CSI2_FRAME_END, .number = number}, 1);
}

static void device_frame_is(struct camera_rig *rig, bool is_cmp, uint16_t number) {
    struct rm_frame frame;
    uint32_t const index = rig_next(rig, &frame);
    assert_string_equal(rm_frames_name(rig->frames, index), is_cmp ? "cmp" : "tecmp");
    assert_int_equal(frame.slot->number, number);
    assert_int_equal(frame.slot->status, RM_IMAGE_WHOLE);
    assert_int_equal(frame.slot->height, HEIGHT);
    assert_int_equal(frame.slot->device_time, TIME);
    assert_int_equal(frame.slot->length, HEIGHT * LINE_BYTES);
    for (uint32_t at = 0; at < HEIGHT * LINE_BYTES; ++at)
        assert_int_equal(frame.bytes[at], line_byte(is_cmp, number, at / LINE_BYTES, at % LINE_BYTES));
    rm_frames_release(rig->frames, index, &frame);
}

/** The numbers of both wrap: that of frames from 65535 to 1, and that of packets. */
static void frames_of_both_devices_come_whole(void **state) {
    (void)state;
    struct camera_rig *const rig = &bench.rig;
    struct rm_port *const sender = bench.sender;
    struct device device[DEVICES] = {{.sender = sender, .counter = 65500}, {.sender = sender, .is_cmp = true}};
    uint16_t number = 65530;
    for (uint32_t i = 0; i < FRAMES; ++i) {
        for (uint32_t j = 0; j < DEVICES; ++j) {
            device_send_frame(&device[j], number);
            device_frame_is(rig, device[j].is_cmp, number);
        }
        number = number == 65535 ? 1 : (uint16_t)(number + 1);
    }
    assert_int_equal(rig_count(rig, "tecmp", RM_CAMERA_WHOLE), FRAMES);
    assert_int_equal(rig_count(rig, "cmp", RM_CAMERA_WHOLE), FRAMES);
    assert_int_equal(rig_count(rig, "cmp", RM_CAMERA_RENUMBERINGS), 0);
}

int main(int argc, char **argv) {
    assert_int_equal(argc, 3);
    files.tecmp = argv[1];
    files.cmp = argv[2];
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_vector_comes_to_what_it_says),
        cmocka_unit_test(frames_of_both_devices_come_whole),
    };
    return cmocka_run_group_tests(tests, bench_open, bench_close);
}
