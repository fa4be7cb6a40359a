// SPDX-License-Identifier: Apache-2.0
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/options.h"
#include "link_endpoint.h"
#include "wire/address.h"
#include "wire/frame.h"

enum {
    MTU = 1500,
    UDP_PORT = 4660,
    MTU_LEAST = 68, /**< RFC 791 */
    ADDRESS = 0xC6120001,
    PEER = 0xC6120002,
    IP_UDP_BYTES = RM_IPV4_BYTES + RM_UDP_BYTES,
};

static uint8_t const PEER_MAC[6] = {0x02, 0x52, 0x4d, 0x00, 0x00, 0x02};

/** Kinds as sets, for what a key may be said of. */
enum {
    MEMIF = 1u << RM_LINK_MEMIF,
    RAW = 1u << RM_LINK_RAW,
    UDP = 1u << RM_LINK_UDP,
    ETHERNET = MEMIF | 1u << RM_LINK_AF_PACKET | 1u << RM_LINK_AF_XDP | 1u << RM_LINK_PCI | RAW,
    ALL = ETHERNET | UDP,
};

static struct {
    char const *word;
    enum rm_link_kind kind;
    size_t longest; /**< of its place */
    char const *place;
} const kinds[] = {
    {"memif", RM_LINK_MEMIF, RM_PORT_PATH_BYTES - 1, "the path of a socket"},
    {"af_packet", RM_LINK_AF_PACKET, IFNAMSIZ - 1, "the name of a network interface"},
    {"af_xdp", RM_LINK_AF_XDP, IFNAMSIZ - 1, "the name of a network interface"},
    {"pci", RM_LINK_PCI, RM_PORT_NAME_BYTES - 1, "a PCI address, 0000:03:00.0"},
    {"raw", RM_LINK_RAW, IFNAMSIZ - 1, "the name of a network interface"},
    {"udp", RM_LINK_UDP, RM_PORT_PATH_BYTES - 1, "our ADDRESS:PORT"},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static bool one_of(char const *text, char const *yes, char const *no, bool *is) {
    *is = strcmp(text, yes) == 0;
    return *is || strcmp(text, no) == 0;
}

static bool take_role(char const *text, struct rm_link_config *config) {
    return one_of(text, "server", "client", &config->server);
}

static bool take_wait(char const *text, struct rm_link_config *config) {
    return one_of(text, "spin", "block", &config->spin);
}

static bool take_batch(char const *text, struct rm_link_config *config) {
    uint64_t number;
    bool const good = rm_whole_parse(text, 1, RM_BURST, &number);
    config->batch = (uint32_t)number;
    return good;
}

static bool take_mtu(char const *text, struct rm_link_config *config) {
    uint64_t number;
    bool const good = rm_whole_parse(text, MTU_LEAST, RM_LINK_MTU_MAX, &number);
    config->mtu = (uint32_t)number;
    return good;
}

static bool take_mac(char const *text, struct rm_link_config *config) { return rm_mac_parse(text, config->peer_mac); }

static bool take_address(char const *text, struct rm_link_config *config) {
    return rm_ipv4_parse(text, &config->address);
}

static bool take_peer(char const *text, struct rm_link_config *config) { return rm_ipv4_parse(text, &config->peer); }

static bool take_endpoint(char const *text, struct rm_link_config *config) {
    return rm_endpoint_parse(text, &config->peer, &config->peer_port);
}

static bool take_udp_port(char const *text, struct rm_link_config *config) {
    uint64_t number;
    bool const good = rm_whole_parse(text, 1, UINT16_MAX, &number);
    config->udp_port = config->peer_port = (uint16_t)number;
    return good;
}

static struct {
    char const *word;
    unsigned kinds;
    bool (*take)(char const *text, struct rm_link_config *config);
    char const *expected;
} const keys[] = {
    {"role", MEMIF, take_role, "server or client"},
    {"wait", RAW | UDP, take_wait, "block or spin"},
    {"batch", UDP, take_batch, "a whole number from 1 to 64"},
    {"mtu", ALL, take_mtu, "a whole number from 68 to 9000"},
    {"mac", ETHERNET, take_mac, "a MAC address, 02:52:4d:00:00:02"},
    {"address", ETHERNET, take_address, "an IPv4 address"},
    {"peer", ETHERNET, take_peer, "an IPv4 address"},
    {"peer", UDP, take_endpoint, "the peer's ADDRESS:PORT"},
    {"udp_port", ETHERNET, take_udp_port, "a whole number from 1 to 65535"},
};

enum { KEYS = sizeof keys / sizeof keys[0] };

/** Of this kind, "role, mtu, mac, …". */
static void list_keys(enum rm_link_kind kind, char list[128]) {
    size_t length = 0;
    for (unsigned i = 0; i < KEYS; ++i)
        if (keys[i].kinds & 1u << kind)
            length += (size_t)snprintf(list + length, 128 - length, "%s%s", length == 0 ? "" : ", ", keys[i].word);
}

/** Takes "KEY=VALUE"; `said` has a bit for each key that was there before. */
static enum rm_code take_pair(char *pair, struct rm_link_config *config, unsigned *said, struct rm_error *error) {
    char *const sign = strchr(pair, '=');
    if (sign == NULL)
        return rm_fail(error, RM_E_ARGUMENT, "link \"%s\": found \"%s\", expected KEY=VALUE", config->text, pair);
    *sign = '\0';
    for (unsigned i = 0; i < KEYS; ++i) {
        if (!(keys[i].kinds & 1u << config->kind) || strcmp(keys[i].word, pair) != 0)
            continue;
        if (*said & 1u << i)
            return rm_fail(error, RM_E_ARGUMENT, "link \"%s\": %s is there twice", config->text, pair);
        *said |= 1u << i;
        if (keys[i].take(sign + 1, config))
            return RM_OK;
        return rm_fail(error, RM_E_ARGUMENT, "link \"%s\": %s: found \"%s\", expected %s", config->text, pair, sign + 1,
                       keys[i].expected);
    }
    char list[128];
    list_keys(config->kind, list);
    return rm_fail(error, RM_E_ARGUMENT, "link \"%s\": unknown key \"%s\", expected one of: %s", config->text, pair,
                   list);
}

static enum rm_code take_where(char const *where, unsigned kind, struct rm_link_config *config,
                               struct rm_error *error) {
    size_t const length = strlen(where);
    bool good = length >= 1 && length <= kinds[kind].longest;
    if (good)
        memcpy(config->where, where, length + 1);
    if (good && config->kind == RM_LINK_UDP)
        good = rm_endpoint_parse(where, &config->address, &config->udp_port);
    if (good)
        return RM_OK;
    return rm_fail(error, RM_E_ARGUMENT, "link \"%s\": found \"%s\", expected %s of at most %zu bytes", config->text,
                   where, kinds[kind].place, kinds[kind].longest);
}

static enum rm_code take_kind(char const *word, unsigned *kind, struct rm_link_config *config, struct rm_error *error) {
    for (*kind = 0; *kind < KINDS; ++*kind) {
        if (strcmp(kinds[*kind].word, word) == 0) {
            config->kind = kinds[*kind].kind;
            config->spin = config->kind != RM_LINK_RAW && config->kind != RM_LINK_UDP;
            return RM_OK;
        }
    }
    return rm_fail(
        error, RM_E_ARGUMENT,
        "link \"%s\": found \"%s\", expected KIND:WHERE with one of the kinds memif, af_packet, af_xdp, pci, "
        "raw, udp",
        config->text, word);
}

/** `rest` is "WHERE[,KEY=VALUE]…", and is cut into its pieces. */
static enum rm_code take_rest(char *rest, unsigned kind, struct rm_link_config *config, struct rm_error *error) {
    unsigned said = 0;
    char *next = rest;
    char const *const where = strsep(&next, ",");
    enum rm_code code = take_where(where, kind, config, error);
    while (next != NULL && code == RM_OK)
        code = take_pair(strsep(&next, ","), config, &said, error);
    if (code == RM_OK && config->kind == RM_LINK_UDP && config->peer_port == 0)
        return rm_fail(error, RM_E_ARGUMENT, "link \"%s\": expected peer=ADDRESS:PORT, where the other end is",
                       config->text);
    if (code == RM_OK && config->kind == RM_LINK_MEMIF && !(said & 1u))
        return rm_fail(error, RM_E_ARGUMENT, "link \"%s\": expected role=server or role=client, each on one end",
                       config->text);
    return code;
}

enum rm_code rm_link_parse(char const *text, struct rm_link_config *config, struct rm_error *error) {
    *config = (struct rm_link_config){.batch = 1, .mtu = MTU};
    int const length = snprintf(config->text, sizeof config->text, "%s", text);
    if (length < 0 || (size_t)length >= sizeof config->text)
        return rm_fail(error, RM_E_ARGUMENT, "link \"%.40s…\": longer than %zu bytes", text, sizeof config->text - 1);
    char pieces[RM_LINK_TEXT_BYTES];
    memcpy(pieces, config->text, sizeof pieces);
    char *rest = pieces;
    char const *const word = strsep(&rest, ":");
    unsigned kind;
    enum rm_code const code = take_kind(word, &kind, config, error);
    if (code != RM_OK)
        return code;
    if (rest == NULL)
        return rm_fail(error, RM_E_ARGUMENT, "link \"%s\": expected %s:WHERE, and there %s", config->text, word,
                       kinds[kind].place);
    if (config->kind != RM_LINK_UDP) {
        config->address = ADDRESS;
        config->peer = PEER;
        config->udp_port = config->peer_port = UDP_PORT;
        memcpy(config->peer_mac, PEER_MAC, sizeof PEER_MAC);
    }
    return take_rest(rest, kind, config, error);
}

uint32_t rm_link_largest_payload(struct rm_link_config const *config) { return config->mtu - IP_UDP_BYTES; }
