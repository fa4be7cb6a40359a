// SPDX-License-Identifier: Apache-2.0
/** TECMP, the Technically Enhanced Capture Module Protocol, by which capture devices in vehicles send what they see on
 * buses and links. What follows the EtherType 0x99FE, big-endian. Source: the public dissector of Wireshark, which
 * reads what is written here (test_capture_dissector.py).
 *
 *     offset 0  u16 device        below 256; what begins with another byte than 0 is ASAM CMP (cmp.h)
 *            2  u16 counter       of the device's packets
 *            4  u8  version       2 or 3
 *            5  u8  message type  3: captured data, 10: data to replay
 *            6  u16 data type     enum rm_tecmp_data_type
 *            8  u16 0
 *           10  u16 flags         enum rm_tecmp_flags
 *     then entries:
 *            0  u32 interface
 *            4  u64 time          bit 63: not synchronised; bits 61–0: ns since 1970
 *           12  u16 length        0: padding follows
 *           14  u16 data flags
 *           16  the bytes
 *
 * **Unverified**: no public source tells what the bytes of the MIPI CSI-2 types are. They are taken for packets as on
 * the link (csi2.h). So is the use of the two segment flags: a device that sent whole messages in public captures sets
 * both (0x000F), which is what is read here.
 *
 * Pure functions. */
#ifndef RM_FRAMES_TECMP_H
#define RM_FRAMES_TECMP_H

#include "frames/csi2.h"
#include "frames/message_join.h"

#define RM_CAPTURE_ETHERTYPE 0x99FEu

enum rm_tecmp_message_type { RM_TECMP_CAPTURED = 3, RM_TECMP_REPLAYED = 10 };

enum rm_tecmp_data_type { RM_TECMP_ETHERNET = 0x0080, RM_TECMP_CSI2_V = 0x0101, RM_TECMP_CSI2_L = 0x0102 };

enum rm_tecmp_flags {
    RM_TECMP_LAST_PART = 0x0001,
    RM_TECMP_FIRST_PART = 0x0002,
    RM_TECMP_SPY = 0x0004,
    /** The packet may have several entries. */
    RM_TECMP_SEVERAL = 0x0008,
    RM_TECMP_OVERFLOW = 0x8000,
};

enum {
    RM_TECMP_HEADER_BYTES = 12,
    RM_TECMP_ENTRY_BYTES = 16,
    RM_TECMP_VERSION = 3,
};

struct rm_tecmp_header {
    uint16_t device, counter;
    uint8_t version;
    /** enum rm_tecmp_message_type */
    uint8_t message_type;
    uint16_t data_type, flags;
};

struct rm_tecmp_entry {
    uint32_t interface;
    uint64_t time_ns;
    bool is_unsynchronised;
    uint16_t flags;
    uint8_t const *bytes;
    uint32_t length;
};

enum rm_tecmp_fault {
    RM_TECMP_GOOD = 0,
    /** Shorter than the header. */
    RM_TECMP_TOO_SHORT,
    /** The first byte is not 0: ASAM CMP's. */
    RM_TECMP_IS_CMP,
    /** Status, control, events: no captured data. */
    RM_TECMP_OTHER_MESSAGE,
};

/** Reads the header, and no byte beyond; faults are checked in the order of the enum. `*header` is filled in only when
 * it is good. */
enum rm_tecmp_fault rm_tecmp_parse(uint8_t const *bytes, uint32_t length, struct rm_tecmp_header *header);

/** The entry at `*at`, which begins as RM_TECMP_HEADER_BYTES and is moved behind it. False at the end, at padding, and
 * at an entry that says it is longer than what is left. */
bool rm_tecmp_next(uint8_t const *bytes, uint32_t length, uint32_t *at, struct rm_tecmp_entry *entry);

/** Which part of a message the entries of a packet are. */
enum rm_message_part rm_tecmp_part(struct rm_tecmp_header const *header);

/** Writes a header, and what stands before an entry's bytes; both return the length. */
uint32_t rm_tecmp_write(uint8_t bytes[RM_TECMP_HEADER_BYTES], struct rm_tecmp_header const *header);
uint32_t rm_tecmp_write_entry(uint8_t bytes[RM_TECMP_ENTRY_BYTES], struct rm_tecmp_entry const *entry);

/** A camera behind a capture device. */
struct rm_tecmp_camera {
    uint16_t device;
    uint32_t interface;
    /** Virtual channel of the link. */
    uint8_t channel;
    /** `first_line` is 0. */
    struct rm_line_camera lines;
};

/** What is remembered of its stream. `join` has memory; the rest begins as 0. The stream's packets are all of the
 * device: `counter` is the last one's. */
struct rm_tecmp_stream {
    struct rm_message_join join;
    struct rm_csi2_lines lines;
    bool any, lost;
    uint16_t counter;
    /** Packets that are missing. */
    uint64_t missing;
};

/** Notes a packet of the device, of any data type, before its entries are looked at. */
void rm_tecmp_follow(struct rm_tecmp_stream *stream, struct rm_tecmp_header const *header);

/** The image fragment that an entry of the camera is, or completes. False: it is none, yet. Its bytes are the entry's,
 * or the join's. */
bool rm_tecmp_fragment(struct rm_tecmp_camera const *camera, struct rm_tecmp_stream *stream,
                       struct rm_tecmp_header const *header, struct rm_tecmp_entry const *entry,
                       struct rm_image_fragment *fragment);

#endif
