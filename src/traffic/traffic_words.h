// SPDX-License-Identifier: Apache-2.0
/** The generator's command language: words that users of Pktgen-DPDK know, which change what ports send.
 *
 *     set 0 rate 99              enable 0 range                start 0
 *     set all size 512           range 0 src ip max 10.0.0.9   show json
 *
 * Ports are a list, "0", "0,2", "0-3", "all", or names, "left,right". A word does what it says for all of them or, with
 * an error, for none. docs/generator.md tells of each word; the table itself is the help.
 */
#ifndef RM_TRAFFIC_WORDS_H
#define RM_TRAFFIC_WORDS_H

#include "commands/command.h"
#include "net/port.h"
#include "traffic/actions.h"
#include "traffic/settings.h"

/** A port as the words know it. */
struct rm_traffic_words_port {
    char name[RM_PORT_NAME_BYTES];
    /** "memif", "pci", …: of the configuration. */
    char kind[16];
    /** Of a card: vendor, device and PCI address, "8086:1572/0000:04:00.0"; else socket, interface, or "". */
    char device[RM_PORT_PATH_BYTES];
    uint8_t mac[6];
    /** Without FCS. */
    uint32_t longest_frame;
    struct rm_traffic_settings settings;
};

struct rm_traffic_words {
    uint32_t port_count;
    struct rm_traffic_words_port port[RM_TRAFFIC_PORTS_MAX];
    struct rm_traffic_actions const *actions;
    /** Given to each action. */
    void *generator;
    /** A file is being loaded: it may not load another. */
    bool loading;
};

/** Settings to begin with, for ports whose other members are filled in. Where a port has a MAC address, it is the
 * source. */
void rm_traffic_words_begin(struct rm_traffic_words *words);

/** The table of commands, with `words` as their context. */
struct rm_command_table rm_traffic_words_table(struct rm_traffic_words *words);

#endif
