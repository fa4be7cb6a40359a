// SPDX-License-Identifier: Apache-2.0
/** What one port of the packet generator shall send, as plain data: which frames, how fast, how many.
 *
 * The words of the command language fill it in, rm_traffic_check says what is wrong with it, template_source.h makes
 * frames of it, and pace.h says when they are due. It has no pointers: a copy is another description. Nothing here
 * knows the port; its longest frame is an argument where it matters.
 *
 * Sizes are those of the frame with its checksum (FCS, 4 bytes), as RFC 2544 and Pktgen count them: 64 is the shortest
 * of Ethernet. A buffer holds RM_FCS_BYTES fewer, for the device adds them. On the line a frame takes RM_LINE_BYTES
 * more: preamble and gap.
 *
 * A port sends its templates in turn, a frame of each: one template is ordinary traffic, several are a sequence. Each
 * field of a template is fixed, goes through a range, or is drawn at random.
 *
 * A template whose `flow_count` is not 0 stamps its frames (stamp.h): sequence number and time, which any port of the
 * same server knows again. Its frames belong to its flows in turn, frame n to flow `n % flow_count` of them; so a
 * field that goes through as many values as there are flows has one value in each. Sequence numbers of a flow run on
 * for the life of the server, whatever is started, stopped or described anew.
 */
#ifndef RM_TRAFFIC_TRAFFIC_H
#define RM_TRAFFIC_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

enum {
    /** Most ports of one generator. */
    RM_TRAFFIC_PORTS_MAX = 8,
    /** Most templates that a port sends in turn. */
    RM_TRAFFIC_TEMPLATES_MAX = 16,
    /** Most flows of one port, all templates together. */
    RM_TRAFFIC_FLOWS_MAX = 128,
    /** Most sizes of one mix. */
    RM_TRAFFIC_MIX_MAX = 8,
    /** Most frames sent at once: RM_BURST of net/port.h. */
    RM_TRAFFIC_BURST_MAX = 64,
    /** Bytes of a payload text. */
    RM_TRAFFIC_TEXT_BYTES = 32,

    /** Bytes of the frame checksum. */
    RM_FCS_BYTES = 4,
    /** Bytes of preamble and gap. */
    RM_LINE_BYTES = 20,
    /** Shortest frame, with FCS. */
    RM_TRAFFIC_SIZE_MIN = 64,
    /** Longest frame, with FCS; a port may allow less. */
    RM_TRAFFIC_SIZE_MAX = 9604,
};

/** Fields of a frame that may vary. Each says the range of its values. */
enum rm_traffic_field_name {
    /** With FCS, RM_TRAFFIC_SIZE_MIN … RM_TRAFFIC_SIZE_MAX. Not used where there is a mix. */
    RM_TRAFFIC_SIZE,
    /** 48 bits, the first byte on the line highest. */
    RM_TRAFFIC_DESTINATION_MAC,
    RM_TRAFFIC_SOURCE_MAC,
    /** 0 … 4095; used where the template is `tagged`. */
    RM_TRAFFIC_VLAN,
    /** Priority of the tag, 0 … 7; used where `tagged`. */
    RM_TRAFFIC_PRIORITY,
    /** IPv4: 32 bits, host byte order. IPv6: the low 64 bits of the address. */
    RM_TRAFFIC_SOURCE_ADDRESS,
    RM_TRAFFIC_DESTINATION_ADDRESS,
    /** Type of service, or traffic class, 0 … 255. */
    RM_TRAFFIC_TOS,
    /** Time to live, or hop limit, 0 … 255. */
    RM_TRAFFIC_TTL,
    /** UDP or TCP, 0 … 65535. */
    RM_TRAFFIC_SOURCE_PORT,
    RM_TRAFFIC_DESTINATION_PORT,
    RM_TRAFFIC_FIELDS,
};

enum rm_traffic_change {
    /** Always `start`. */
    RM_TRAFFIC_FIXED,
    /** `start`, then `step` more in each frame of the template; beyond `max` it goes on from `min`. */
    RM_TRAFFIC_RANGE,
    /** Uniform from `min` to `max`, both included. */
    RM_TRAFFIC_RANDOM,
};

struct rm_traffic_field {
    enum rm_traffic_change change;
    uint64_t start;
    /** min ≤ start ≤ max; not looked at in a fixed field. */
    uint64_t min;
    uint64_t max;
    /** 0 … max - min; 0 stays at `start`. */
    uint64_t step;
};

enum rm_traffic_protocol {
    RM_TRAFFIC_UDP,
    /** Segments without a connection: flags ACK, sequence number of TCP fixed. */
    RM_TRAFFIC_TCP,
};

enum rm_traffic_payload {
    RM_TRAFFIC_PAYLOAD_ZERO,
    /** The letters a … z, over and over. */
    RM_TRAFFIC_PAYLOAD_LETTERS,
    /** `text`, over and over. */
    RM_TRAFFIC_PAYLOAD_TEXT,
};

/** A size and how often it comes. */
struct rm_traffic_mix {
    /** With FCS. */
    uint32_t size_bytes;
    /** 1 … 100; in frames: 7, 4, 1 are the simple IMIX. All weights together are at most 256. */
    uint32_t weight;
};

/** Frames of one kind. */
struct rm_traffic_template {
    struct rm_traffic_field field[RM_TRAFFIC_FIELDS];
    /** One 802.1Q tag. */
    bool tagged;
    bool ipv6;
    /** IPv6: the high 64 bits of the addresses. */
    uint64_t source_ipv6_high;
    uint64_t destination_ipv6_high;
    enum rm_traffic_protocol protocol;
    enum rm_traffic_payload payload;
    /** Bytes of `text`, at least 1 where the payload is text. */
    uint32_t text_bytes;
    char text[RM_TRAFFIC_TEXT_BYTES];
    /** Sizes in turn, well mixed; 0: the field decides. */
    uint32_t mix_count;
    struct rm_traffic_mix mix[RM_TRAFFIC_MIX_MAX];
    /** 0: no stamps. */
    uint32_t flow_count;
};

enum rm_traffic_pace {
    /** As many as the link takes. */
    RM_TRAFFIC_UNPACED,
    /** `rate` is in percent of `line_bits_per_s`, 0 … 100, preamble and gap included. */
    RM_TRAFFIC_PERCENT,
    /** `rate` is in packets per second. */
    RM_TRAFFIC_PACKETS_PER_S,
};

/** What becomes of frames whose time has gone: after a stall of the core, or because the link is full. */
enum rm_traffic_late {
    /** Sent late, as fast as it goes; but those later than `late_max_ns` are not sent, and counted: as skipped, or as
     * refused where they waited for the link. */
    RM_TRAFFIC_SEND_LATE,
    /** Once one is later than `late_max_ns`, all whose time has gone are skipped, and counted. A frame that the link
     * does not take at once is lost: counted as unsent. So a full link shows, as RFC 2544 asks. */
    RM_TRAFFIC_SKIP_LATE,
};

/** All that one port sends. */
struct rm_traffic {
    uint32_t template_count;
    struct rm_traffic_template template[RM_TRAFFIC_TEMPLATES_MAX];

    enum rm_traffic_pace pace;
    /** Percent or packets per second: above 0. */
    double rate;
    /** 1e10 where nothing else is said: a software port has no speed of its own. */
    double line_bits_per_s;
    /** Frames of a start; 0: until it is stopped. */
    uint64_t count;
    /** Frames sent back to back, 1 … RM_TRAFFIC_BURST_MAX. Bursts are due at even distances. 1 is the smoothest pace;
     * without a pace it is how many go to the port at once. */
    uint32_t burst;
    enum rm_traffic_late late;
    /** 0 … 1e9. */
    uint64_t late_max_ns;
    /** Seed of random fields. */
    uint64_t seed;
    /** Answers ARP requests for, and pings to, the source address of the first template. */
    bool answers;
};

/** A description to begin with, Pktgen's own: 64-byte UDP over IPv4 at 100 % of 10 Gbit/s, bursts of 64, from
 * 192.168.PORT.1 port 1234 to 192.168.(PORT+1).1 port 5678, late frames sent late up to 1 ms. */
void rm_traffic_default(struct rm_traffic *traffic, uint32_t port);

/** Says what is wrong: RM_E_ARGUMENT, with the template, the field, the value and what was expected.
 * `longest_frame` is the port's, without FCS. */
enum rm_code rm_traffic_check(struct rm_traffic const *traffic, uint32_t longest_frame, struct rm_error *error);

/** The word of a field in messages: "source address". */
char const *rm_traffic_field_word(enum rm_traffic_field_name name);

/** Largest value of a field. */
uint64_t rm_traffic_field_limit(struct rm_traffic_template const *template, enum rm_traffic_field_name name);

/** Shortest size with FCS that holds headers and stamp of a template. */
uint32_t rm_traffic_shortest_size(struct rm_traffic_template const *template);

/** Mean size of all frames, with FCS. */
double rm_traffic_mean_size(struct rm_traffic const *traffic);

/** The pace in packets per second; 0: unpaced. */
double rm_traffic_packets_per_s(struct rm_traffic const *traffic);

#endif
