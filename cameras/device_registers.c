// SPDX-License-Identifier: Apache-2.0
#include "device_registers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "frames/pixels.h"
#include "genicam.h"
#include "packets.h"
#include "wire/network_order.h"

enum {
    WORD = 4,
    MODE_BIG_ENDIAN_UTF8 = (int32_t)0x80000001,
    GEV_1_2 = 0x00010002,
    GEV_2_0 = 0x00020000,
    /** WRITEMEM and PACKETRESEND; serial number and user's name are there. */
    CAPABILITY = (int32_t)0xC0000006,
    PERSISTENT_IP = 0x5,
    HEARTBEAT_MS = 3000,
    HEARTBEAT_LEAST_MS = 500,
    NANOSECONDS = 1000000000,
    PACKET_SIZE_MASK = 0xFFFF,
    PACKET_LEAST = 576,
    PACKET_MOST = 9500,
    RATE_MOST_HZ = 100000,
    EXPOSURE_MOST_US = 10000000,
};

static uint8_t *register_place(struct rm_device_registers const *registers, uint32_t address, uint32_t length) {
    struct {
        uint32_t from, bytes;
        void const *memory;
    } const parts[] = {
        {0, sizeof registers->bootstrap, registers->bootstrap},
        {RM_DEVICE_SENSOR_WIDTH, sizeof registers->own, registers->own},
        {RM_DEVICE_XML, registers->xml_bytes, registers->xml},
    };
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; ++p)
        if (address >= parts[p].from && length <= parts[p].bytes && address - parts[p].from <= parts[p].bytes - length)
            return (uint8_t *)(uintptr_t)parts[p].memory + (address - parts[p].from);
    return NULL;
}

uint32_t rm_device_register(struct rm_device_registers const *registers, enum rm_device_register address) {
    return rm_load32(register_place(registers, address, WORD));
}

void rm_device_register_set(struct rm_device_registers *registers, enum rm_device_register address, uint32_t value) {
    rm_store32(register_place(registers, address, WORD), value);
}

static float float_register(struct rm_device_registers const *registers, enum rm_device_register address) {
    uint32_t const bits = rm_device_register(registers, address);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void set_float(struct rm_device_registers *registers, enum rm_device_register address, double number) {
    float const value = (float)number;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    rm_device_register_set(registers, address, bits);
}

/** What is longer than a register's `bytes` is cut; a zero ends it. */
static void set_text(struct rm_device_registers *registers, enum rm_device_register address, uint32_t bytes,
                     char const *text) {
    size_t const whole = strlen(text), length = whole < bytes ? whole : bytes - 1;
    memcpy(registers->bootstrap + address, text, length);
    registers->bootstrap[address + length] = 0;
}

static void set_bootstrap(struct rm_device_registers *registers) {
    struct rm_virtual_camera const *const camera = &registers->camera;
    struct {
        enum rm_device_register address;
        uint32_t value;
    } const words[] = {
        {RM_DEVICE_VERSION, camera->extended_ids ? GEV_2_0 : GEV_1_2},
        {RM_DEVICE_MODE, (uint32_t)MODE_BIG_ENDIAN_UTF8},
        {RM_DEVICE_MAC_HIGH, 0x0252},
        {RM_DEVICE_MAC_LOW, camera->ipv4},
        {RM_DEVICE_IP_OPTIONS, PERSISTENT_IP},
        {RM_DEVICE_IP_CONFIGURATION, PERSISTENT_IP},
        {RM_DEVICE_IP_ADDRESS, camera->ipv4},
        {RM_DEVICE_SUBNET_MASK, 0xFF000000},
        {RM_DEVICE_INTERFACES, 1},
        {RM_DEVICE_STREAM_CHANNELS, 1},
        {RM_DEVICE_CAPABILITY, (uint32_t)CAPABILITY},
        {RM_DEVICE_HEARTBEAT_MS, HEARTBEAT_MS},
        {RM_DEVICE_TICK_HZ_LOW, NANOSECONDS},
        {RM_DEVICE_PACKET_SIZE, camera->mtu},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
        rm_device_register_set(registers, words[i].address, words[i].value);
    set_text(registers, RM_DEVICE_VENDOR, 32, "Ringmaster");
    set_text(registers, RM_DEVICE_MODEL, 32, "virtual camera");
    set_text(registers, RM_DEVICE_DEVICE_VERSION, 32, "1");
    set_text(registers, RM_DEVICE_MANUFACTURER, 48, "no hardware");
    set_text(registers, RM_DEVICE_SERIAL, 16, camera->name);
    set_text(registers, RM_DEVICE_USER_NAME, 16, camera->name);
}

static void set_own(struct rm_device_registers *registers) {
    struct rm_virtual_camera const *const camera = &registers->camera;
    rm_device_register_set(registers, RM_DEVICE_SENSOR_WIDTH, camera->geometry.width);
    rm_device_register_set(registers, RM_DEVICE_SENSOR_HEIGHT, camera->geometry.height);
    rm_device_register_set(registers, RM_DEVICE_WIDTH, camera->geometry.width);
    rm_device_register_set(registers, RM_DEVICE_HEIGHT, camera->geometry.height);
    rm_device_register_set(registers, RM_DEVICE_PIXEL_FORMAT, camera->geometry.pixel_format);
    rm_device_register_set(registers, RM_DEVICE_PATTERN, camera->pattern);
    rm_device_register_set(registers, RM_DEVICE_PAYLOAD_SIZE, (uint32_t)camera->frame_bytes);
    set_float(registers, RM_DEVICE_FRAME_RATE, camera->rate_hz);
    set_float(registers, RM_DEVICE_EXPOSURE, 1e6 * camera->exposure_s);
}

enum rm_code rm_device_registers_new(struct rm_virtual_camera const *camera, struct rm_device_registers *registers,
                                     struct rm_error *error) {
    *registers = (struct rm_device_registers){.camera = *camera};
    size_t bytes;
    registers->xml = rm_genicam_write(&bytes);
    if (registers->xml == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "camera \"%s\": no memory for its description", camera->name);
    registers->xml_bytes = (uint32_t)bytes;
    set_bootstrap(registers);
    set_own(registers);
    char url[64];
    snprintf(url, sizeof url, "Local:ringmaster-virtual-camera.xml;%X;%X", RM_DEVICE_XML,
             (unsigned)strlen(registers->xml));
    set_text(registers, RM_DEVICE_URL, 512, url);
    return RM_OK;
}

void rm_device_registers_free(struct rm_device_registers *registers) {
    free(registers->xml);
    registers->xml = NULL;
}

enum rm_gvcp_status rm_device_registers_read(struct rm_device_registers const *registers, uint32_t address,
                                             uint8_t *bytes, uint32_t length) {
    uint8_t const *const place = register_place(registers, address, length);
    if (place == NULL)
        return RM_GVCP_INVALID_ADDRESS;
    memcpy(bytes, place, length);
    return RM_GVCP_SUCCESS;
}

/** Whether a number that is written as a float is one from `least` to `most`. */
static bool float_is_in_range(uint32_t bits, double least, double most) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value >= least && (double)value <= most;
}

/** Whether a register that may be written may have that value. */
static enum rm_gvcp_status judge_value(struct rm_device_registers const *registers, uint32_t address, uint32_t value) {
    bool good;
    switch (address) {
    case RM_DEVICE_WIDTH:
        good = value >= 1 && value <= registers->camera.geometry.width;
        break;
    case RM_DEVICE_HEIGHT:
        good = value >= 1 && value <= registers->camera.geometry.height;
        break;
    case RM_DEVICE_PIXEL_FORMAT:
        good = rm_pixel_format_of(value) != NULL;
        break;
    case RM_DEVICE_PATTERN:
        good = value <= RM_CAMERA_SPOT;
        break;
    case RM_DEVICE_ACQUISITION_MODE:
        good = value == 0;
        break;
    case RM_DEVICE_FRAME_RATE:
        good = float_is_in_range(value, 0.1, RATE_MOST_HZ);
        break;
    case RM_DEVICE_EXPOSURE:
        good = float_is_in_range(value, 0, EXPOSURE_MOST_US);
        break;
    case RM_DEVICE_PACKET_SIZE:
        good = (value & PACKET_SIZE_MASK) >= PACKET_LEAST && (value & PACKET_SIZE_MASK) <= PACKET_MOST;
        break;
    case RM_DEVICE_STREAM_PORT:
        good = value <= UINT16_MAX;
        break;
    case RM_DEVICE_START:
    case RM_DEVICE_STOP:
    case RM_DEVICE_HEARTBEAT_MS:
    case RM_DEVICE_TIME_CONTROL:
    case RM_DEVICE_PRIVILEGE:
    case RM_DEVICE_PACKET_DELAY:
    case RM_DEVICE_STREAM_ADDRESS:
        good = true;
        break;
    default:
        return RM_GVCP_WRITE_PROTECT;
    }
    return good ? RM_GVCP_SUCCESS : RM_GVCP_INVALID_PARAMETER;
}

/** What stays as it is while frames are sent. */
static bool register_is_locked(uint32_t address) {
    return address == RM_DEVICE_WIDTH || address == RM_DEVICE_HEIGHT || address == RM_DEVICE_PIXEL_FORMAT ||
           address == RM_DEVICE_PATTERN || address == RM_DEVICE_PACKET_SIZE;
}

/** No more than the file's: its port has memory for such packets. */
static uint32_t packet_size(struct rm_device_registers const *registers, uint32_t value) {
    uint32_t const wanted = value & PACKET_SIZE_MASK;
    return wanted < registers->camera.mtu ? wanted : registers->camera.mtu;
}

enum rm_gvcp_status rm_device_registers_write(struct rm_device_registers *registers, uint32_t address, uint32_t value) {
    if (address % WORD != 0)
        return RM_GVCP_BAD_ALIGNMENT;
    if (register_place(registers, address, WORD) == NULL)
        return RM_GVCP_INVALID_ADDRESS;
    enum rm_gvcp_status const status = judge_value(registers, address, value);
    if (status != RM_GVCP_SUCCESS)
        return status;
    if (registers->running && register_is_locked(address))
        return RM_GVCP_ACCESS_DENIED;
    if (address == RM_DEVICE_PACKET_SIZE)
        value = packet_size(registers, value);
    if (address == RM_DEVICE_HEARTBEAT_MS && value < HEARTBEAT_LEAST_MS)
        value = HEARTBEAT_LEAST_MS;
    rm_device_register_set(registers, (enum rm_device_register)address, value);
    struct rm_virtual_camera const camera = rm_device_registers_camera(registers);
    rm_device_register_set(registers, RM_DEVICE_PAYLOAD_SIZE, (uint32_t)camera.frame_bytes);
    return RM_GVCP_SUCCESS;
}

struct rm_virtual_camera rm_device_registers_camera(struct rm_device_registers const *registers) {
    struct rm_virtual_camera camera = registers->camera;
    camera.geometry.width = rm_device_register(registers, RM_DEVICE_WIDTH);
    camera.geometry.height = rm_device_register(registers, RM_DEVICE_HEIGHT);
    camera.geometry.pixel_format = rm_device_register(registers, RM_DEVICE_PIXEL_FORMAT);
    camera.frame_bytes = rm_image_bytes(&camera.geometry);
    camera.pattern = (enum rm_camera_pattern)rm_device_register(registers, RM_DEVICE_PATTERN);
    camera.rate_hz = (double)float_register(registers, RM_DEVICE_FRAME_RATE);
    camera.exposure_s = 1e-6 * (double)float_register(registers, RM_DEVICE_EXPOSURE);
    camera.mtu = rm_device_register(registers, RM_DEVICE_PACKET_SIZE);
    camera.packet_bytes = rm_camera_packet_bytes(camera.format, camera.extended_ids, camera.mtu);
    return camera;
}
