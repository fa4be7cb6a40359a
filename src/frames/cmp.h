// SPDX-License-Identifier: Apache-2.0
/** ASAM CMP, the Capture Module Protocol: TECMP's successor (tecmp.h), under the same EtherType 0x99FE, or in UDP.
 * Big-endian. Source: the public dissectors of newer Wireshark, and a message of the standard's own samples
 * (vectors/cmp.txt).
 *
 *     offset 0  u8  version        1 or more; 0 is TECMP
 *            1  u8  0
 *            2  u16 device
 *            4  u8  message type   1: captured data
 *            5  u8  stream
 *            6  u16 counter        of the stream's packets
 *     then messages:
 *            0  u64 time           ns since 1970
 *            8  u32 interface
 *           12  u8  flags          bits 3–2: which part of a message; 1: synchronised; 5: overflow; 6: bad payload
 *           13  u8  payload type   0: padding follows
 *           14  u16 length
 *           16  the payload
 *     payload of type 12, MIPI CSI-2:
 *            0  u16 flags          enum rm_cmp_csi2_flags
 *            2  u16 0
 *            4  u16 frame counter
 *            6  u16 line counter
 *            8  u8  data type, 9 virtual channel, 10 0, 11 ECC
 *           12  u16 checksum
 *           14  u16 short packet: its data; long: how many bytes
 *           16  the bytes
 *
 * A message that is sent in parts has a header in each, with its own length; a packet has one part and nothing else.
 *
 * **Unverified**: the payload of type 12 has one source, and no device's capture. From which number a device counts
 * lines is not told: it is configured (`first_line`).
 *
 * Pure functions. */
#ifndef RM_FRAMES_CMP_H
#define RM_FRAMES_CMP_H

#include "frames/csi2.h"
#include "frames/message_join.h"

enum {
    RM_CMP_CAPTURED = 1,
    RM_CMP_ETHERNET = 8,
    RM_CMP_CSI2 = 12,

    RM_CMP_VERSION = 1,
    RM_CMP_HEADER_BYTES = 8,
    RM_CMP_MESSAGE_BYTES = 16,
    RM_CMP_CSI2_BYTES = 16,
    /** A CSI-2 payload with as many bytes as it can count. */
    RM_CMP_CSI2_LONGEST = RM_CMP_CSI2_BYTES + UINT16_MAX,
};

enum rm_cmp_flags { RM_CMP_SYNCHRONISED = 0x02, RM_CMP_OVERFLOW = 0x20, RM_CMP_BAD_PAYLOAD = 0x40 };

enum rm_cmp_csi2_flags {
    RM_CMP_CRC_ERROR = 0x0001,
    RM_CMP_ECC_UNCORRECTED = 0x0004,
};

struct rm_cmp_header {
    uint8_t version;
    uint16_t device;
    uint8_t stream;
    uint16_t counter;
};

struct rm_cmp_message {
    uint64_t time_ns;
    uint32_t interface;
    enum rm_message_part part;
    /** enum rm_cmp_flags; the others, too, but not those of the part. */
    uint8_t flags;
    uint8_t payload_type;
    uint8_t const *bytes;
    uint32_t length;
};

struct rm_cmp_csi2 {
    uint16_t flags, frame, line;
    struct rm_csi2_packet packet;
};

enum rm_cmp_fault {
    RM_CMP_GOOD = 0,
    /** Shorter than the header. */
    RM_CMP_TOO_SHORT,
    /** Version 0. */
    RM_CMP_IS_TECMP,
    /** Control, status, transmit, of a vendor: no captured data. */
    RM_CMP_OTHER_MESSAGE,
};

/** Reads the header, and no byte beyond; faults are checked in the order of the enum. `*header` is filled in only when
 * it is good. */
enum rm_cmp_fault rm_cmp_parse(uint8_t const *bytes, uint32_t length, struct rm_cmp_header *header);

/** The message at `*at`, which begins as RM_CMP_HEADER_BYTES and is moved behind it. False at the end, at padding, and
 * at a message that says it is longer than what is left. */
bool rm_cmp_next(uint8_t const *bytes, uint32_t length, uint32_t *at, struct rm_cmp_message *message);

/** Reads a whole payload of type RM_CMP_CSI2. False where its length is not what it says. */
bool rm_cmp_csi2_parse(uint8_t const *bytes, uint32_t length, struct rm_cmp_csi2 *csi2);

/** Write a header, what stands before a payload, and what stands before the bytes of a CSI-2 packet; return the
 * length. */
uint32_t rm_cmp_write(uint8_t bytes[RM_CMP_HEADER_BYTES], struct rm_cmp_header const *header);
uint32_t rm_cmp_write_message(uint8_t bytes[RM_CMP_MESSAGE_BYTES], struct rm_cmp_message const *message);
uint32_t rm_cmp_write_csi2(uint8_t bytes[RM_CMP_CSI2_BYTES], struct rm_cmp_csi2 const *csi2);

/** A camera behind a capture device. */
struct rm_cmp_camera {
    uint16_t device;
    uint32_t interface;
    /** Virtual channel of the link. */
    uint8_t channel;
    struct rm_line_camera lines;
};

/** The image fragment that a message of the camera is, or completes: lines without an error of the link. False: it is
 * none, yet. Its bytes are the message's, or the join's, which is this camera's. */
bool rm_cmp_fragment(struct rm_cmp_camera const *camera, struct rm_message_join *join,
                     struct rm_cmp_header const *header, struct rm_cmp_message const *message,
                     struct rm_image_fragment *fragment);

#endif
