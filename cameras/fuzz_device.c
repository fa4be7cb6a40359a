// SPDX-License-Identifier: Apache-2.0
/** Plays bytes to the device of a virtual camera as datagrams of two programs: u8 how long, bit 7: by which program; then the
 * bytes. Answers stay within their buffer, and registers within what a camera may be. */
#include <stdlib.h>

#include "device.h"
#include "test_camera.h"

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

static void device_check(struct rm_camera_device const *device, struct rm_device_answer const *answer) {
    struct rm_virtual_camera const camera = rm_device_registers_camera(&device->registers);
    if (answer->length > RM_GVCP_LONGEST || camera.frame_bytes == 0 || camera.packet_bytes == 0 ||
        camera.geometry.width > 50 || camera.geometry.height > 20 || camera.pattern > RM_CAMERA_SPOT ||
        !(camera.rate_hz > 0 && camera.rate_hz < 1e6))
        abort();
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    struct rm_virtual_camera const camera = test_camera(RM_CAMERA_GVSP, "Mono12p");
    struct rm_camera_device device;
    if (rm_camera_device_new(&camera, &device, NULL) != RM_OK)
        return 0;
    uint64_t now_ns = 0;
    while (size > 0) {
        uint32_t const wanted = data[0] & 0x7F, length = wanted < size - 1 ? wanted : (uint32_t)(size - 1);
        struct rm_device_client const from = {0x7F000001, data[0] & 0x80 ? 1000 : 2000};
        struct rm_device_answer answer;
        rm_camera_device_take(&device, from, data + 1, length, now_ns += 100000000, &answer);
        if (answer.action == RM_DEVICE_STREAM_BEGINS || answer.action == RM_DEVICE_STREAM_ENDS)
            device.registers.running = answer.action == RM_DEVICE_STREAM_BEGINS;
        if (rm_camera_device_expire(&device, now_ns))
            device.registers.running = false;
        device_check(&device, &answer);
        data += length + 1;
        size -= length + 1;
    }
    rm_camera_device_free(&device);
    return 0;
}
