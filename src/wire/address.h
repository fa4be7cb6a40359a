// SPDX-License-Identifier: Apache-2.0
/** Addresses as people write them. */
#ifndef RM_WIRE_ADDRESS_H
#define RM_WIRE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

/** "10.20.0.1", into host byte order. Four decimal numbers; nothing else is taken. */
bool rm_ipv4_parse(char const *text, uint32_t *ipv4);

/** The other way. */
void rm_ipv4_format(uint32_t ipv4, char text[16]);

/** "02:00:0a:14:00:01" */
bool rm_mac_parse(char const *text, uint8_t mac[6]);

/** Writes the MAC of a multicast group, 01:00:5e and the address's last 23 bits; leaves `mac` alone for others. */
void rm_multicast_mac(uint32_t ipv4, uint8_t mac[6]);

/** "127.0.0.1:4660": an IPv4 address and a port of 1–65535, in host byte order. */
bool rm_endpoint_parse(char const *text, uint32_t *ipv4, uint16_t *port);

#endif
