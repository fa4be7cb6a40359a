// SPDX-License-Identifier: Apache-2.0
/** The device of a virtual camera answers commands, byte by byte, and lets one program at a time control it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device.h"
#include "test_camera.h"
#include "wire/network_order.h"

static struct rm_device_client const alice = {0x7F000001, 40000}, bob = {0x7F000002, 40001};

enum { SECOND = 1000000000, HEAD = RM_GVCP_HEADER_BYTES };

struct rig {
    struct rm_camera_device device;
    struct rm_device_answer answer;
    uint64_t now_ns;
};

static int rig_begin(void **state) {
    struct rig *const rig = calloc(1, sizeof *rig);
    struct rm_virtual_camera const camera = test_camera(RM_CAMERA_GVSP, "Mono12p");
    *state = rig;
    rig->now_ns = SECOND;
    return rig == NULL || rm_camera_device_new(&camera, &rig->device, NULL) != RM_OK;
}

static int rig_end(void **state) {
    struct rig *const rig = *state;
    rm_camera_device_free(&rig->device);
    free(rig);
    return 0;
}

/** Sends a command with an acknowledge; returns its status. */
static uint16_t tell(struct rig *rig, struct rm_device_client from, uint16_t number, uint32_t const *words,
                     uint32_t count) {
    uint8_t command[RM_GVCP_LONGEST] = {0x42, 1};
    rm_store16(command + 2, number);
    rm_store16(command + 4, (uint16_t)(4 * count));
    rm_store16(command + 6, 77);
    for (uint32_t i = 0; i < count; ++i)
        rm_store32(command + HEAD + 4 * i, words[i]);
    rm_camera_device_take(&rig->device, from, command, HEAD + 4 * count, rig->now_ns, &rig->answer);
    if (rig->answer.length == 0)
        return 0xFFFF;
    assert_int_equal(rm_load16(rig->answer.bytes + 2), number + 1);
    assert_int_equal(rm_load16(rig->answer.bytes + 4), rig->answer.length - HEAD);
    assert_int_equal(rm_load16(rig->answer.bytes + 6), 77);
    return rm_load16(rig->answer.bytes);
}

static uint16_t put(struct rig *rig, struct rm_device_client from, uint32_t address, uint32_t value) {
    return tell(rig, from, RM_GVCP_WRITEREG, (uint32_t const[]){address, value}, 2);
}

static uint32_t get(struct rig *rig, uint32_t address) {
    assert_int_equal(tell(rig, bob, RM_GVCP_READREG, &address, 1), RM_GVCP_SUCCESS);
    assert_int_equal(rig->answer.length, HEAD + 4);
    return rm_load32(rig->answer.bytes + HEAD);
}

static void a_discovery_tells_who_it_is(void **state) {
    struct rig *const rig = *state;
    static uint8_t const command[] = {0x42, 0x01, 0x00, 0x02, 0x00, 0x00, 0x12, 0x34};
    static uint8_t const head[] = {0x00, 0x00, 0x00, 0x03, 0x00, 0xF8, 0x12, 0x34, 0x00, 0x01, 0x00, 0x02};
    rm_camera_device_take(&rig->device, bob, command, sizeof command, rig->now_ns, &rig->answer);
    assert_int_equal(rig->answer.length, HEAD + RM_GVCP_DISCOVERY_BYTES);
    assert_memory_equal(rig->answer.bytes, head, sizeof head);
    assert_int_equal(rm_load32(rig->answer.bytes + HEAD + RM_DEVICE_IP_ADDRESS), 0x7F00000B);
    assert_string_equal((char *)rig->answer.bytes + HEAD + RM_DEVICE_VENDOR, "Ringmaster");
    assert_string_equal((char *)rig->answer.bytes + HEAD + RM_DEVICE_SERIAL, "cam01");
}

/** Its description lies where its URL says, in pieces that programs read. */
static void the_description_can_be_read(void **state) {
    struct rig *const rig = *state;
    assert_int_equal(tell(rig, bob, RM_GVCP_READMEM, (uint32_t const[]){RM_DEVICE_URL, 512}, 2), RM_GVCP_SUCCESS);
    assert_int_equal(rig->answer.length, HEAD + 4 + 512);
    unsigned address, bytes;
    assert_int_equal(
        sscanf((char *)rig->answer.bytes + HEAD + 4, "Local:ringmaster-virtual-camera.xml;%x;%x", &address, &bytes), 2);
    assert_int_equal(address, RM_DEVICE_XML);
    char text[1 << 16] = "";
    assert_true(bytes < sizeof text - 4);
    for (uint32_t at = 0; at < bytes; at += 512) {
        uint32_t const length = bytes - at < 512 ? (bytes - at + 3) / 4 * 4 : 512;
        assert_int_equal(tell(rig, bob, RM_GVCP_READMEM, (uint32_t const[]){address + at, length}, 2), RM_GVCP_SUCCESS);
        memcpy(text + at, rig->answer.bytes + HEAD + 4, length);
    }
    assert_int_equal(strlen(text), bytes);
    assert_non_null(strstr(text, "<RegisterDescription"));
    assert_non_null(strstr(text, "<EnumEntry Name=\"Mono12p\"><Value>17563719</Value>"));
    assert_non_null(strstr(text, "</RegisterDescription>"));
}

static void one_program_controls_it(void **state) {
    struct rig *const rig = *state;
    assert_int_equal(put(rig, alice, RM_DEVICE_WIDTH, 10), RM_GVCP_ACCESS_DENIED);
    assert_int_equal(put(rig, alice, RM_DEVICE_PRIVILEGE, RM_DEVICE_CONTROL), RM_GVCP_SUCCESS);
    assert_int_equal(put(rig, bob, RM_DEVICE_PRIVILEGE, RM_DEVICE_CONTROL), RM_GVCP_ACCESS_DENIED);
    assert_int_equal(put(rig, bob, RM_DEVICE_WIDTH, 10), RM_GVCP_ACCESS_DENIED);
    assert_int_equal(put(rig, alice, RM_DEVICE_WIDTH, 10), RM_GVCP_SUCCESS);
    assert_int_equal(get(rig, RM_DEVICE_WIDTH), 10);
    assert_int_equal(get(rig, RM_DEVICE_PAYLOAD_SIZE), 15 * 20);
    assert_int_equal(put(rig, alice, RM_DEVICE_PRIVILEGE, 0), RM_GVCP_SUCCESS);
    assert_int_equal(rig->answer.action, RM_DEVICE_STREAM_ENDS);
    assert_int_equal(put(rig, bob, RM_DEVICE_PRIVILEGE, RM_DEVICE_EXCLUSIVE), RM_GVCP_SUCCESS);
}

/** Reads of others are no heartbeat. */
static void a_program_that_is_silent_loses_control(void **state) {
    struct rig *const rig = *state;
    put(rig, alice, RM_DEVICE_PRIVILEGE, RM_DEVICE_CONTROL);
    rig->now_ns += 2 * (uint64_t)SECOND;
    assert_false(rm_camera_device_expire(&rig->device, rig->now_ns));
    tell(rig, alice, RM_GVCP_READREG, (uint32_t const[]){RM_DEVICE_PRIVILEGE}, 1);
    rig->now_ns += 2 * (uint64_t)SECOND;
    assert_false(rm_camera_device_expire(&rig->device, rig->now_ns));
    get(rig, RM_DEVICE_PRIVILEGE);
    rig->now_ns += 2 * (uint64_t)SECOND;
    assert_true(rm_camera_device_expire(&rig->device, rig->now_ns));
    assert_false(rm_camera_device_expire(&rig->device, rig->now_ns));
    assert_int_equal(put(rig, bob, RM_DEVICE_PRIVILEGE, RM_DEVICE_CONTROL), RM_GVCP_SUCCESS);
}

static void values_out_of_range_are_refused(void **state) {
    struct rig *const rig = *state;
    put(rig, alice, RM_DEVICE_PRIVILEGE, RM_DEVICE_CONTROL);
    assert_int_equal(put(rig, alice, RM_DEVICE_WIDTH, 51), RM_GVCP_INVALID_PARAMETER);
    assert_int_equal(put(rig, alice, RM_DEVICE_WIDTH, 0), RM_GVCP_INVALID_PARAMETER);
    assert_int_equal(put(rig, alice, RM_DEVICE_PIXEL_FORMAT, 5), RM_GVCP_INVALID_PARAMETER);
    assert_int_equal(put(rig, alice, RM_DEVICE_FRAME_RATE, 0x7FC00000), RM_GVCP_INVALID_PARAMETER); /* no number */
    assert_int_equal(put(rig, alice, RM_DEVICE_SENSOR_WIDTH, 5), RM_GVCP_WRITE_PROTECT);
    assert_int_equal(put(rig, alice, RM_DEVICE_WIDTH + 1, 5), RM_GVCP_BAD_ALIGNMENT);
    assert_int_equal(put(rig, alice, 0x3000, 5), RM_GVCP_INVALID_ADDRESS);
    assert_int_equal(tell(rig, alice, 0x00C0, NULL, 0), RM_GVCP_NOT_IMPLEMENTED);
    assert_int_equal(tell(rig, bob, RM_GVCP_READREG, (uint32_t const[]){0xFFFFFFFC}, 1), RM_GVCP_INVALID_ADDRESS);
    assert_int_equal(tell(rig, bob, RM_GVCP_READMEM, (uint32_t const[]){0, 540}, 2), RM_GVCP_INVALID_PARAMETER);
    assert_int_equal(tell(rig, bob, RM_GVCP_READMEM, (uint32_t const[]){RM_DEVICE_BOOTSTRAP_BYTES - 4, 8}, 2),
                     RM_GVCP_INVALID_ADDRESS);
}

/** Of several registers, those before the one that is refused are written, and it says how many. */
/** Its port has memory for packets of its file's `mtu`, and not for those that a program dreams of. */
static void packets_are_no_longer_than_the_file_says(void **state) {
    struct rig *const rig = *state;
    assert_int_equal(put(rig, alice, RM_DEVICE_PRIVILEGE, RM_DEVICE_CONTROL), RM_GVCP_SUCCESS);
    assert_int_equal(put(rig, alice, RM_DEVICE_PACKET_SIZE, 9000), RM_GVCP_SUCCESS);
    assert_int_equal(get(rig, RM_DEVICE_PACKET_SIZE), rig->device.registers.camera.mtu);
}

/** No owner has port 0, and a datagram can come from there. */
static void port_0_is_no_owner(void **state) {
    struct rig *const rig = *state;
    struct rm_device_client const nobody = {.ipv4 = 0, .port = 0};
    assert_int_equal(put(rig, nobody, RM_DEVICE_WIDTH, 10), RM_GVCP_ACCESS_DENIED);
    assert_int_equal(put(rig, nobody, RM_DEVICE_PRIVILEGE, RM_DEVICE_CONTROL), RM_GVCP_ACCESS_DENIED);
    assert_int_equal(get(rig, RM_DEVICE_PRIVILEGE), 0);
}

static void registers_are_written_up_to_a_bad_one(void **state) {
    struct rig *const rig = *state;
    put(rig, alice, RM_DEVICE_PRIVILEGE, RM_DEVICE_CONTROL);
    uint32_t const pairs[] = {RM_DEVICE_WIDTH, 8, RM_DEVICE_HEIGHT, 99, RM_DEVICE_STREAM_PORT, 5000};
    assert_int_equal(tell(rig, alice, RM_GVCP_WRITEREG, pairs, 6), RM_GVCP_INVALID_PARAMETER);
    assert_int_equal(rm_load32(rig->answer.bytes + HEAD), 1);
    assert_int_equal(get(rig, RM_DEVICE_WIDTH), 8);
    assert_int_equal(get(rig, RM_DEVICE_STREAM_PORT), 0);
    uint32_t const memory[] = {RM_DEVICE_WIDTH, 9, 10};
    assert_int_equal(tell(rig, alice, RM_GVCP_WRITEMEM, memory, 3), RM_GVCP_SUCCESS);
    assert_int_equal(rm_load32(rig->answer.bytes + HEAD), 8);
    assert_int_equal(get(rig, RM_DEVICE_HEIGHT), 10);
}

static void start_and_stop_are_actions(void **state) {
    struct rig *const rig = *state;
    put(rig, alice, RM_DEVICE_PRIVILEGE, RM_DEVICE_CONTROL);
    put(rig, alice, RM_DEVICE_START, 1);
    assert_int_equal(rig->answer.action, RM_DEVICE_STREAM_BEGINS);
    rig->device.registers.running = true;
    assert_int_equal(put(rig, alice, RM_DEVICE_WIDTH, 8), RM_GVCP_ACCESS_DENIED);
    put(rig, alice, RM_DEVICE_STOP, 1);
    assert_int_equal(rig->answer.action, RM_DEVICE_STREAM_ENDS);
}

/** Written by our own client, from a socket that is not the controlling one, of the same host. */
static void packets_are_asked_for_again(void **state) {
    struct rig *const rig = *state;
    struct rm_device_client const stream = {alice.ipv4, 50000};
    struct rm_gvcp_resend const wanted[] = {{.request = 9, .block = 65535, .first = 3, .last = 7},
                                            {9, 0, true, 1ull << 40, 3, 1u << 25}};
    put(rig, alice, RM_DEVICE_PRIVILEGE, RM_DEVICE_CONTROL);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; ++i) {
        uint8_t command[RM_GVCP_RESEND_LONGEST];
        uint32_t const length = rm_gvcp_write_resend(command, &wanted[i]);
        rig->device.registers.running = false;
        rm_camera_device_take(&rig->device, stream, command, length, rig->now_ns, &rig->answer);
        assert_int_equal(rig->answer.action, RM_DEVICE_NO_ACTION);
        rig->device.registers.running = true;
        rm_camera_device_take(&rig->device, bob, command, length, rig->now_ns, &rig->answer);
        assert_int_equal(rig->answer.action, RM_DEVICE_NO_ACTION);
        rm_camera_device_take(&rig->device, stream, command, length, rig->now_ns, &rig->answer);
        assert_int_equal(rig->answer.action, RM_DEVICE_SENDS_AGAIN);
        assert_int_equal(rig->answer.length, 0);
        assert_int_equal(rig->answer.resend.block, wanted[i].block);
        assert_int_equal(rig->answer.resend.first, wanted[i].first);
        assert_int_equal(rig->answer.resend.last, wanted[i].last);
        assert_int_equal(rig->answer.resend.extended_ids, wanted[i].extended_ids);
    }
}

static void what_is_no_command_is_not_answered(void **state) {
    struct rig *const rig = *state;
    static uint8_t const bad[][8] = {
        {0x41, 1, 0, 2, 0, 0, 0, 1}, /* another first byte */
        {0x42, 1, 0, 2, 0, 0, 0, 0}, /* id 0 */
        {0x42, 1, 0, 2, 0, 1, 0, 1}, /* fewer bytes than it says */
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        rm_camera_device_take(&rig->device, bob, bad[i], sizeof bad[i], rig->now_ns, &rig->answer);
        assert_int_equal(rig->answer.length, 0);
        assert_int_equal(rig->device.unreadable, i + 1);
    }
    static uint8_t const silent[] = {0x42, 0, 0, 2, 0, 0, 0, 1};
    rm_camera_device_take(&rig->device, bob, silent, sizeof silent, rig->now_ns, &rig->answer);
    assert_int_equal(rig->answer.length, 0);
    assert_int_equal(rig->device.answered, 1);
}

#define RIG_TEST(name) cmocka_unit_test_setup_teardown(name, rig_begin, rig_end)

int main(void) {
    struct CMUnitTest const tests[] = {
        RIG_TEST(a_discovery_tells_who_it_is),
        RIG_TEST(the_description_can_be_read),
        RIG_TEST(one_program_controls_it),
        RIG_TEST(a_program_that_is_silent_loses_control),
        RIG_TEST(values_out_of_range_are_refused),
        RIG_TEST(packets_are_no_longer_than_the_file_says),
        RIG_TEST(port_0_is_no_owner),
        RIG_TEST(registers_are_written_up_to_a_bad_one),
        RIG_TEST(start_and_stop_are_actions),
        RIG_TEST(packets_are_asked_for_again),
        RIG_TEST(what_is_no_command_is_not_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
