// SPDX-License-Identifier: Apache-2.0
/** GigE Vision control (GVCP) as a device has it: commands read, acknowledges written. Numbers are big-endian. Sources: the
 * dissector of Wireshark, and Aravis' client, which read and write the same.
 *
 *     command      offset 0  u8  0x42
 *                         1  u8  flags: 0x01 an acknowledge is wanted
 *                         2  u16 command
 *                         4  u16 bytes that follow
 *                         6  u16 id, not 0
 *     acknowledge  offset 0  u16 status: 0, or an error
 *                         2  u16 the command's number + 1
 *                         4  u16 bytes that follow
 *                         6  u16 the command's id
 *
 * What follows:
 *
 *     DISCOVERY  nothing; acknowledged by the first RM_GVCP_DISCOVERY_BYTES of the device's registers
 *     READREG    u32 addresses; acknowledged by their values
 *     WRITEREG   u32 address, u32 value, …; acknowledged by u16 0, u16 how many were written
 *     READMEM    u32 address, u16 0, u16 bytes; acknowledged by u32 address and the bytes
 *     WRITEMEM   u32 address, bytes; acknowledged by u16 0, u16 how many bytes were written
 *     RESEND     u16 channel, u16 block, u32 first packet, u32 last packet; with flag 0x10, u64 block behind it
 *
 * Pure functions. */
#ifndef RM_CAMERAS_GVCP_H
#define RM_CAMERAS_GVCP_H

#include <stdbool.h>
#include <stdint.h>

#include "frames/gvsp.h"

enum {
    RM_GVCP_PORT = 3956,
    RM_GVCP_HEADER_BYTES = 8,
    /** Longest command and acknowledge. */
    RM_GVCP_LONGEST = 548,
    /** Of memory that is read or written at once. */
    RM_GVCP_MEMORY_MAX = 536,
    RM_GVCP_DISCOVERY_BYTES = 0xF8,
};

enum rm_gvcp_command_number {
    RM_GVCP_DISCOVERY = 0x0002,
    RM_GVCP_RESEND = 0x0040,
    RM_GVCP_READREG = 0x0080,
    RM_GVCP_WRITEREG = 0x0082,
    RM_GVCP_READMEM = 0x0084,
    RM_GVCP_WRITEMEM = 0x0086,
};

enum rm_gvcp_status {
    RM_GVCP_SUCCESS = 0,
    RM_GVCP_NOT_IMPLEMENTED = 0x8001,
    RM_GVCP_INVALID_PARAMETER = 0x8002,
    RM_GVCP_INVALID_ADDRESS = 0x8003,
    RM_GVCP_WRITE_PROTECT = 0x8004,
    RM_GVCP_BAD_ALIGNMENT = 0x8005,
    RM_GVCP_ACCESS_DENIED = 0x8006,
    RM_GVCP_INVALID_HEADER = 0x800E,
};

struct rm_gvcp_command {
    uint8_t flags;
    bool wants_acknowledge;
    uint16_t number, id;
    /** What follows the header. */
    uint8_t const *bytes;
    uint32_t length;
};

/** Reads a command, and no byte beyond it. False: it is none that could be answered: too short for its header, another
 * first byte, an id of 0, or fewer bytes than it says. */
bool rm_gvcp_parse(uint8_t const *payload, uint32_t length, struct rm_gvcp_command *command);

/** Reads the request of a RESEND. False: it is too short, or its last packet is before the first one. */
bool rm_gvcp_read_resend(struct rm_gvcp_command const *command, struct rm_gvcp_resend *resend);

/** Writes the header of an acknowledge behind which `length` bytes follow; returns its length. */
uint32_t rm_gvcp_write_acknowledge(uint8_t *payload, enum rm_gvcp_status status, struct rm_gvcp_command const *command,
                                   uint32_t length);

#endif
