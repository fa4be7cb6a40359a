// SPDX-License-Identifier: Apache-2.0
/** The registers of a GigE Vision device: those that the standard has in each (below 0x1000), those of this camera (from
 * RM_DEVICE_SENSOR_WIDTH on), and from RM_DEVICE_XML on the description of its features, which programs read to find
 * them. A register has 4 bytes, big-endian. */
#ifndef RM_CAMERAS_DEVICE_REGISTERS_H
#define RM_CAMERAS_DEVICE_REGISTERS_H

#include <ringmaster/error.h>

#include "gvcp.h"
#include "virtual_camera.h"

enum rm_device_register {
    RM_DEVICE_VERSION = 0x0000,
    RM_DEVICE_MODE = 0x0004,
    RM_DEVICE_MAC_HIGH = 0x0008,
    RM_DEVICE_MAC_LOW = 0x000C,
    RM_DEVICE_IP_OPTIONS = 0x0010,
    RM_DEVICE_IP_CONFIGURATION = 0x0014,
    RM_DEVICE_IP_ADDRESS = 0x0024,
    RM_DEVICE_SUBNET_MASK = 0x0034,
    RM_DEVICE_VENDOR = 0x0048,
    RM_DEVICE_MODEL = 0x0068,
    RM_DEVICE_DEVICE_VERSION = 0x0088,
    RM_DEVICE_MANUFACTURER = 0x00A8,
    RM_DEVICE_SERIAL = 0x00D8,
    RM_DEVICE_USER_NAME = 0x00E8,
    RM_DEVICE_URL = 0x0200,
    RM_DEVICE_INTERFACES = 0x0600,
    RM_DEVICE_STREAM_CHANNELS = 0x0904,
    RM_DEVICE_CAPABILITY = 0x0934,
    RM_DEVICE_HEARTBEAT_MS = 0x0938,
    RM_DEVICE_TICK_HZ_HIGH = 0x093C,
    RM_DEVICE_TICK_HZ_LOW = 0x0940,
    RM_DEVICE_TIME_CONTROL = 0x0944,
    RM_DEVICE_TIME_HIGH = 0x0948,
    RM_DEVICE_TIME_LOW = 0x094C,
    /** Who controls it: enum rm_device_privilege. */
    RM_DEVICE_PRIVILEGE = 0x0A00,
    /** Of the stream: UDP port, packet size, delay, address. */
    RM_DEVICE_STREAM_PORT = 0x0D00,
    RM_DEVICE_PACKET_SIZE = 0x0D04,
    RM_DEVICE_PACKET_DELAY = 0x0D08,
    RM_DEVICE_STREAM_ADDRESS = 0x0D18,
    RM_DEVICE_BOOTSTRAP_BYTES = 0x1000,

    RM_DEVICE_SENSOR_WIDTH = 0x10000,
    RM_DEVICE_SENSOR_HEIGHT = 0x10004,
    RM_DEVICE_WIDTH = 0x10008,
    RM_DEVICE_HEIGHT = 0x1000C,
    RM_DEVICE_OFFSET_X = 0x10010,
    RM_DEVICE_OFFSET_Y = 0x10014,
    RM_DEVICE_PIXEL_FORMAT = 0x10018,
    /** enum rm_camera_pattern */
    RM_DEVICE_PATTERN = 0x1001C,
    RM_DEVICE_PAYLOAD_SIZE = 0x10020,
    RM_DEVICE_ACQUISITION_MODE = 0x10024,
    /** Commands: 1 is written. */
    RM_DEVICE_START = 0x10028,
    RM_DEVICE_STOP = 0x1002C,
    /** As float: Hz, µs. */
    RM_DEVICE_FRAME_RATE = 0x10030,
    RM_DEVICE_EXPOSURE = 0x10034,
    RM_DEVICE_OWN_END = 0x10038,

    RM_DEVICE_XML = 0x20000,
};

enum rm_device_privilege { RM_DEVICE_EXCLUSIVE = 1, RM_DEVICE_CONTROL = 2 };

struct rm_device_registers {
    uint8_t bootstrap[RM_DEVICE_BOOTSTRAP_BYTES];
    uint8_t own[RM_DEVICE_OWN_END - RM_DEVICE_SENSOR_WIDTH];
    /** The description, in whole registers. */
    char *xml;
    uint32_t xml_bytes;
    /** While it sends, its geometry stays. */
    bool running;
    struct rm_virtual_camera camera;
};

/** As of a camera. RM_E_NO_SPACE. */
enum rm_code rm_device_registers_new(struct rm_virtual_camera const *camera, struct rm_device_registers *registers,
                                     struct rm_error *error);
void rm_device_registers_free(struct rm_device_registers *registers);

/** Reads `length` bytes, which are all in one of the three parts. RM_GVCP_INVALID_ADDRESS. */
enum rm_gvcp_status rm_device_registers_read(struct rm_device_registers const *registers, uint32_t address,
                                             uint8_t *bytes, uint32_t length);

/** Writes a register: keeps its value, if that is one that it may have. RM_GVCP_WRITE_PROTECT, _INVALID_ADDRESS,
 * _INVALID_PARAMETER, _ACCESS_DENIED while it sends. */
enum rm_gvcp_status rm_device_registers_write(struct rm_device_registers *registers, uint32_t address, uint32_t value);

/** A register that is there. */
uint32_t rm_device_register(struct rm_device_registers const *registers, enum rm_device_register address);
void rm_device_register_set(struct rm_device_registers *registers, enum rm_device_register address, uint32_t value);

/** The camera as its registers have it now. */
struct rm_virtual_camera rm_device_registers_camera(struct rm_device_registers const *registers);

#endif
