// SPDX-License-Identifier: Apache-2.0
#include "wire/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IPV4_TEXT_BYTES = 16 };

bool rm_ipv4_parse(char const *text, uint32_t *ipv4) {
    struct in_addr address;
    if (inet_pton(AF_INET, text, &address) != 1)
        return false;
    *ipv4 = ntohl(address.s_addr);
    return true;
}

void rm_ipv4_format(uint32_t ipv4, char text[16]) {
    struct in_addr const address = {.s_addr = htonl(ipv4)};
    inet_ntop(AF_INET, &address, text, 16);
}

bool rm_ipv6_parse(char const *text, uint8_t ipv6[16]) { return inet_pton(AF_INET6, text, ipv6) == 1; }

void rm_ipv6_format(uint8_t const ipv6[16], char text[RM_IPV6_TEXT_BYTES]) {
    inet_ntop(AF_INET6, ipv6, text, RM_IPV6_TEXT_BYTES);
}

void rm_mac_format(uint8_t const mac[6], char text[18]) {
    snprintf(text, 18, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
}

bool rm_mac_parse(char const *text, uint8_t mac[6]) {
    if (strlen(text) != 17)
        return false;
    for (unsigned i = 0; i < 6; ++i, text += 3) {
        if (!isxdigit((unsigned char)text[0]) || !isxdigit((unsigned char)text[1]) || text[2] != (i < 5 ? ':' : '\0'))
            return false;
        mac[i] = (uint8_t)strtoul(text, NULL, 16);
    }
    return true;
}

void rm_multicast_mac(uint32_t ipv4, uint8_t mac[6]) {
    if (ipv4 >> 28 != 0xE)
        return;
    uint8_t const made[6] = {0x01, 0x00, 0x5E, (uint8_t)(ipv4 >> 16 & 0x7F), (uint8_t)(ipv4 >> 8), (uint8_t)ipv4};
    memcpy(mac, made, sizeof made);
}

void rm_ipv6_multicast_mac(uint8_t const ipv6[16], uint8_t mac[6]) {
    mac[0] = mac[1] = 0x33;
    memcpy(mac + 2, ipv6 + 12, 4);
}

static bool parse_port(char const *text, uint16_t *port) {
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    unsigned long const number = strtoul(text, &end, 10);
    *port = (uint16_t)number;
    return *end == '\0' && number >= 1 && number <= UINT16_MAX;
}

bool rm_endpoint_parse(char const *text, uint32_t *ipv4, uint16_t *port) {
    char host[IPV4_TEXT_BYTES];
    char const *colon = strchr(text, ':');
    if (colon == NULL || (size_t)(colon - text) >= sizeof host)
        return false;
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = '\0';
    return rm_ipv4_parse(host, ipv4) && parse_port(colon + 1, port);
}
