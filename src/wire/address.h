// SPDX-License-Identifier: Apache-2.0
/** Addresses as people write them. */
#ifndef RM_WIRE_ADDRESS_H
#define RM_WIRE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

/** Reads "10.20.0.1" into host byte order: four decimal numbers, and nothing else. */
bool rm_ipv4_parse(char const *text, uint32_t *ipv4);

/** Writes an IPv4 address in that form. */
void rm_ipv4_format(uint32_t ipv4, char text[16]);

/** Reads "02:00:0a:14:00:01". */
bool rm_mac_parse(char const *text, uint8_t mac[6]);

/** Writes the MAC of a multicast group: 01:00:5e and the address's last 23 bits. For other addresses it leaves `mac`
 * alone. */
void rm_multicast_mac(uint32_t ipv4, uint8_t mac[6]);

/** Reads "127.0.0.1:4660": an IPv4 address and a port of 1–65535, in host byte order. */
bool rm_endpoint_parse(char const *text, uint32_t *ipv4, uint16_t *port);

#endif
