// SPDX-License-Identifier: Apache-2.0
#include "forward/prefix_text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool rm_ip_parse(char const *text, struct rm_ip *ip) {
    *ip = (struct rm_ip){.ipv6 = strchr(text, ':') != NULL};
    return inet_pton(ip->ipv6 ? AF_INET6 : AF_INET, text, ip->byte) == 1;
}

void rm_ip_format(struct rm_ip const *ip, char text[RM_IP_TEXT_BYTES]) {
    inet_ntop(ip->ipv6 ? AF_INET6 : AF_INET, ip->byte, text, RM_IP_TEXT_BYTES);
}

bool rm_ip_parse_with_length(char const *text, struct rm_ip *ip, uint8_t *length) {
    char address[RM_IP_TEXT_BYTES], *end;
    char const *const slash = strchr(text, '/');
    if (slash == NULL || (size_t)(slash - text) >= sizeof address || !isdigit((unsigned char)slash[1]))
        return false;
    memcpy(address, text, (size_t)(slash - text));
    address[slash - text] = '\0';
    unsigned long const bits = strtoul(slash + 1, &end, 10);
    if (*end != '\0' || !rm_ip_parse(address, ip) || bits > rm_ip_bits(ip))
        return false;
    *length = (uint8_t)bits;
    return true;
}

bool rm_prefix_parse(char const *text, struct rm_prefix *prefix) {
    *prefix = (struct rm_prefix){.length = 0};
    if (strcmp(text, "default") == 0)
        return true;
    if (!rm_ip_parse_with_length(text, &prefix->ip, &prefix->length))
        return false;
    struct rm_prefix const masked = rm_prefix_of(&prefix->ip, prefix->length);
    return rm_ip_same(&masked.ip, &prefix->ip);
}

void rm_prefix_format(struct rm_prefix const *prefix, char text[RM_IP_TEXT_BYTES]) {
    rm_ip_format(&prefix->ip, text);
    size_t const used = strlen(text);
    snprintf(text + used, RM_IP_TEXT_BYTES - used, "/%u", prefix->length);
}

struct rm_prefix rm_prefix_of(struct rm_ip const *ip, uint8_t length) {
    struct rm_prefix prefix = {.ip = *ip, .length = length};
    for (uint32_t i = 0; i < RM_IPV6_ADDRESS_BYTES; ++i) {
        uint32_t const kept = length > 8 * i ? length - 8 * i : 0;
        prefix.ip.byte[i] &= kept >= 8 ? 0xFF : (uint8_t)(0xFF00 >> kept);
    }
    return prefix;
}

bool rm_prefix_holds(struct rm_prefix const *prefix, struct rm_ip const *ip) {
    struct rm_prefix const of = rm_prefix_of(ip, prefix->length);
    return rm_ip_same(&of.ip, &prefix->ip);
}

uint8_t rm_ip_bits(struct rm_ip const *ip) { return ip->ipv6 ? RM_IPV6_PREFIX_MAX : RM_IPV4_PREFIX_MAX; }

bool rm_ip_same(struct rm_ip const *one, struct rm_ip const *other) {
    return one->ipv6 == other->ipv6 && memcmp(one->byte, other->byte, sizeof one->byte) == 0;
}

bool rm_prefix_same(struct rm_prefix const *one, struct rm_prefix const *other) {
    return one->length == other->length && rm_ip_same(&one->ip, &other->ip);
}

bool rm_ip_is_none(struct rm_ip const *ip) {
    static uint8_t const none[RM_IPV6_ADDRESS_BYTES];
    return memcmp(ip->byte, none, sizeof none) == 0;
}

bool rm_ip_is_group(struct rm_ip const *ip) { return ip->ipv6 ? ip->byte[0] == 0xFF : ip->byte[0] >> 4 == 0xE; }

bool rm_ip_is_link_local(struct rm_ip const *ip) {
    return ip->ipv6 && ip->byte[0] == 0xFE && (ip->byte[1] & 0xC0) == 0x80;
}

bool rm_ip_is_host(struct rm_ip const *ip) {
    if (rm_ip_is_none(ip) || rm_ip_is_group(ip))
        return false;
    if (!ip->ipv6)
        return ip->byte[0] != 0 && ip->byte[0] != 127 && ip->byte[0] < 0xF0;
    static uint8_t const loopback[RM_IPV6_ADDRESS_BYTES] = {[15] = 1};
    return memcmp(ip->byte, loopback, sizeof loopback) != 0;
}

uint32_t rm_ip_hash(struct rm_ip const *ip, uint32_t seed) {
    uint64_t hash = 0xCBF29CE484222325u ^ seed; /* FNV-1a */
    for (uint32_t i = 0; i < RM_IPV6_ADDRESS_BYTES; ++i)
        hash = (hash ^ ip->byte[i]) * 0x100000001B3u;
    return (uint32_t)(hash ^ hash >> 32);
}

uint32_t rm_ip_ipv4(struct rm_ip const *ip) {
    return (uint32_t)ip->byte[0] << 24 | (uint32_t)ip->byte[1] << 16 | (uint32_t)ip->byte[2] << 8 | ip->byte[3];
}

struct rm_ip rm_ip_of_ipv4(uint32_t ipv4) {
    return (struct rm_ip){.byte = {(uint8_t)(ipv4 >> 24), (uint8_t)(ipv4 >> 16), (uint8_t)(ipv4 >> 8), (uint8_t)ipv4}};
}

struct rm_ip rm_ip_of_ipv6(uint8_t const ipv6[RM_IPV6_ADDRESS_BYTES]) {
    struct rm_ip ip = {.ipv6 = true};
    memcpy(ip.byte, ipv6, sizeof ip.byte);
    return ip;
}
