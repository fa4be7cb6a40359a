// SPDX-License-Identifier: Apache-2.0
/** GigE Vision streams (GVSP 1.x and 2.x): the UDP payload of each packet, read and written; and the request to send
 * some again (GVCP PACKETRESEND_CMD), written. Numbers are big-endian. Sources: the dissectors of Wireshark, and
 * Aravis' sender, which read and write the same.
 *
 *     offset 0  u16 status       0: good; 0x0100: sent again; from 0x8000 on an error
 *            2  u16 block id     1 … 65535, then 1 again; with extended ids: flags
 *            4  u8  format       bit 7: extended ids; below: enum rm_gvsp_format
 *            5  u24 packet id    0 the leader, 1 … the payload, one more the trailer; with extended ids: 0
 *     with extended ids:
 *            8  u64 block id
 *           16  u32 packet id
 *
 * Behind it:
 *
 *     leader   u16 0, u16 payload type, u64 time stamp; of images and extended chunks: u32 pixel format, width, height,
 *              offset x, offset y, u16 padding x, padding y
 *     trailer  u16 0, u16 payload type; of images: u32 height; of chunk data: u32 bytes of all chunks; of extended
 *              chunks: u32 bytes, u32 height, u32 layout id; of a type with RM_GVSP_CHUNKS, behind that: u32 bytes of
 *              all chunks, u32 layout id
 *     payload  bytes of the block; those of a packet but the last are as many as in the one before
 *     all-in   leader, trailer and bytes in one packet
 *
 * Image lines with chunks: the chunks follow the image as the rest of the block. Each is its bytes, u32 id, u32 length;
 * they are found from the end backwards.
 *
 * Pure functions. */
#ifndef RM_FRAMES_GVSP_H
#define RM_FRAMES_GVSP_H

#include "frames/image.h"

enum rm_gvsp_format { RM_GVSP_LEADER = 1, RM_GVSP_TRAILER = 2, RM_GVSP_PAYLOAD = 3, RM_GVSP_ALL_IN = 4 };

enum {
    RM_GVSP_IMAGE = 1,
    RM_GVSP_CHUNK_DATA = 4,
    RM_GVSP_EXTENDED_CHUNK_DATA = 5,
    /** Bit of a payload type: chunks follow (2.x). */
    RM_GVSP_CHUNKS = 0x4000,

    RM_GVSP_STATUS_RESENT = 0x0100,
    /** This status and those above are errors: the packet has no bytes of a frame. */
    RM_GVSP_STATUS_ERROR = 0x8000,
    /** The packet that was requested again is gone. */
    RM_GVSP_STATUS_UNAVAILABLE = 0x800C,

    RM_GVSP_HEADER_BYTES = 8,
    RM_GVSP_EXTENDED_HEADER_BYTES = 20,
    RM_GVSP_CHUNK_TAIL_BYTES = 8,
    /** Room for a leader, a trailer, or both and no bytes. */
    RM_GVSP_LONGEST = RM_GVSP_EXTENDED_HEADER_BYTES + 36 + 16,
    RM_GVCP_RESEND_LONGEST = 28,
};

struct rm_gvsp_packet {
    uint16_t status;
    bool extended_ids;
    /** enum rm_gvsp_format */
    uint8_t format;
    uint16_t flags;
    uint64_t block;
    uint32_t packet;
    /** Of leader, trailer and all-in. */
    uint16_t payload_type;
    /** Of a leader. */
    uint64_t time;
    bool has_geometry;
    struct rm_image_geometry geometry;
    /** Of a trailer: lines that were sent, where it says so, else 0; bytes of the block with all its chunks, where it
     * has some, else 0. */
    uint32_t height;
    uint32_t block_bytes, layout;
    /** Of payload and all-in. */
    uint8_t const *bytes;
    uint32_t length;
};

enum rm_gvsp_fault {
    RM_GVSP_GOOD = 0,
    /** Too short for its header, or for what its format and payload type need. */
    RM_GVSP_TOO_SHORT,
    /** A format other than leader, trailer, payload and all-in: H.264, zones, parts, GenDC. */
    RM_GVSP_OTHER_FORMAT,
    /** The block id is 0, which is a test packet's. */
    RM_GVSP_NO_BLOCK,
    /** A payload type other than image, chunk data and extended chunk data. */
    RM_GVSP_OTHER_PAYLOAD,
    /** A leader whose packet id is not 0, or another whose packet id is; all-in has 0. */
    RM_GVSP_BAD_PACKET_ID,
};

/** Reads a UDP payload, and no byte beyond it; faults are checked in the order of the enum, once the header is whole.
 * `*packet` is filled in only when it is good. A packet with an error status is its header alone. */
enum rm_gvsp_fault rm_gvsp_parse(uint8_t const *payload, uint32_t length, struct rm_gvsp_packet *packet);

/** The image fragment that a packet is, where the stream channel's payload packets have `packet_bytes` bytes behind
 * their headers, 1 or more. The total is known by a leader of an image without chunks, and by a trailer with chunks.
 * False for a packet with an error status. */
bool rm_gvsp_fragment(struct rm_gvsp_packet const *packet, uint32_t packet_bytes, struct rm_image_fragment *fragment);

/** Payload packets of a block of `total` bytes. */
uint32_t rm_gvsp_payload_packets(uint64_t total, uint32_t packet_bytes);

/** Writes header, leader and trailer as far as the format has them; returns their length. A payload's bytes, and those
 * of all-in, follow there: `bytes` and `length` are not looked at. The buffer has RM_GVSP_LONGEST bytes. */
uint32_t rm_gvsp_write(uint8_t *payload, struct rm_gvsp_packet const *packet);

struct rm_gvsp_chunk {
    uint32_t id;
    uint8_t const *bytes;
    uint32_t length;
};

/** The last chunk of `length` bytes of a block. The one before it ends where this one's bytes begin. False where there
 * is none: no room for its tail, or it says that it is longer than what there is. */
bool rm_gvsp_last_chunk(uint8_t const *block, uint64_t length, struct rm_gvsp_chunk *chunk);

/** A request to send packets `first` to `last` of a block again. */
struct rm_gvcp_resend {
    /** Of the request itself, not 0. */
    uint16_t request;
    uint16_t channel;
    bool extended_ids;
    uint64_t block;
    uint32_t first, last;
};

/** Writes the UDP payload for port 3956 of the camera; returns its length: 20, or 28 with extended ids. Without them
 * block and packet ids are cut to 16 and 24 bits. No acknowledge is asked for: there is none. */
uint32_t rm_gvcp_write_resend(uint8_t payload[RM_GVCP_RESEND_LONGEST], struct rm_gvcp_resend const *resend);

#endif
