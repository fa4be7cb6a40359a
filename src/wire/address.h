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

enum { RM_IPV6_TEXT_BYTES = 46 };

/** Reads "2001:db8::1", in any form of RFC 4291. */
bool rm_ipv6_parse(char const *text, uint8_t ipv6[16]);

/** Writes an IPv6 address in the form of RFC 5952. */
void rm_ipv6_format(uint8_t const ipv6[16], char text[RM_IPV6_TEXT_BYTES]);

/** Reads "02:00:0a:14:00:01". */
bool rm_mac_parse(char const *text, uint8_t mac[6]);

/** Writes the MAC of a multicast group: 01:00:5e and the address's last 23 bits. For other addresses it leaves `mac`
 * alone. */
void rm_multicast_mac(uint32_t ipv4, uint8_t mac[6]);

/** Writes the MAC of an IPv6 multicast group: 33:33 and the address's last 32 bits. */
void rm_ipv6_multicast_mac(uint8_t const ipv6[16], uint8_t mac[6]);

/** Writes "02:00:0a:14:00:01". */
void rm_mac_format(uint8_t const mac[6], char text[18]);

/** Reads "127.0.0.1:4660": an IPv4 address and a port of 1–65535, in host byte order. */
bool rm_endpoint_parse(char const *text, uint32_t *ipv4, uint16_t *port);

#endif
