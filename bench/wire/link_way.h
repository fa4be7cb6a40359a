// SPDX-License-Identifier: Apache-2.0
/** What a way of sending and receiving (link_port.c, link_raw.c, link_udp.c) gives to link_endpoint.c. */
#ifndef RM_BENCH_WIRE_LINK_WAY_H
#define RM_BENCH_WIRE_LINK_WAY_H

#include <stddef.h>

#include "link_endpoint.h"
#include "wire/frame.h"

/** Bursts hold whole frames where `ethernet`, else payloads. All as in link_endpoint.h. */
struct rm_link_ops {
    bool ethernet;
    uint32_t (*receive)(struct rm_link *link, struct rm_burst *frames, uint64_t wait_ns);
    void (*release)(struct rm_link *link, struct rm_burst *frames);
    uint32_t (*reserve)(struct rm_link *link, struct rm_burst *frames, uint32_t count);
    /** As rm_port_send: those gone have left the burst, the rest has moved to its front. */
    uint32_t (*send)(struct rm_link *link, struct rm_burst *frames);
    void (*totals)(struct rm_link *link, struct rm_link_statistics *totals);
    enum rm_code (*check)(struct rm_link *link, struct rm_error *error);
    void (*close)(struct rm_link *link);
};

/** The beginning of every way's own struct, zeroed by rm_link_new. */
struct rm_link {
    struct rm_link_ops const *ops;
    struct rm_link_config config;
    /** Addresses and ports of what we send; Ethernet only. */
    struct rm_flow flow;
    /** The header made for the last payload length: most datagrams have the length of the one before. */
    uint8_t header[RM_FRAME_HEADER_BYTES];
    /** Length of the payload that the header was made for. 0: none yet. */
    uint32_t header_payload;

    uint64_t foreign;
    /** The file to sleep on; -1 where there is none. */
    int file;

    char hardware_stamps[64];
};

/** Memory for a way's struct of `bytes`; NULL and an error when there is none. Freed by rm_links_close, or by free. */
struct rm_link *rm_link_new(size_t bytes, struct rm_link_ops const *ops, struct rm_link_config const *config,
                            struct rm_error *error);

/** Asks the kernel about an interface's hardware stamps and fills in `hardware_stamps`. */
void rm_link_ask_hardware_stamps(struct rm_link *link, char const *interface);

enum rm_code rm_link_port_open(struct rm_link_config const *config, struct rm_link **link, struct rm_error *error);
enum rm_code rm_link_raw_open(struct rm_link_config const *config, struct rm_link **link, struct rm_error *error);
enum rm_code rm_link_udp_open(struct rm_link_config const *config, struct rm_link **link, struct rm_error *error);

/** Fills in the port that the link is opened as; DPDK's memory is made for it before. False for sockets. */
bool rm_link_port_config(struct rm_link_config const *config, struct rm_port_config *port);

#endif
