// SPDX-License-Identifier: Apache-2.0
#include "forward/kernel_message.h"

#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

/** Attributes by their number; NULL: it is not there. */
enum { ATTRIBUTES = 64 };

struct attributes {
    struct nlattr const *of[ATTRIBUTES];
};

static int keep_attribute(struct nlattr const *attribute, void *context) {
    struct attributes *const found = context;
    uint16_t const type = mnl_attr_get_type(attribute);
    if (type < ATTRIBUTES)
        found->of[type] = attribute;
    return MNL_CB_OK;
}

static struct attributes message_attributes(struct nlmsghdr const *message, size_t header_bytes) {
    struct attributes found = {{0}};
    mnl_attr_parse(message, (unsigned)header_bytes, keep_attribute, &found);
    return found;
}

static struct attributes nested_attributes(struct nlattr const *outer) {
    struct attributes found = {{0}};
    if (outer != NULL)
        mnl_attr_parse_nested(outer, keep_attribute, &found);
    return found;
}

static uint32_t attribute_u32(struct nlattr const *attribute, uint32_t otherwise) {
    return attribute != NULL && mnl_attr_get_payload_len(attribute) >= 4 ? mnl_attr_get_u32(attribute) : otherwise;
}

static bool attribute_bytes(struct nlattr const *attribute, void *bytes, size_t count) {
    if (attribute == NULL || mnl_attr_get_payload_len(attribute) < count)
        return false;
    memcpy(bytes, mnl_attr_get_payload(attribute), count);
    return true;
}

/** An address of the family; an absent one is none. */
static bool attribute_ip(struct nlattr const *attribute, uint8_t family, struct rm_ip *ip) {
    *ip = (struct rm_ip){.ipv6 = family == AF_INET6};
    if (family != AF_INET && family != AF_INET6)
        return false;
    return attribute == NULL || attribute_bytes(attribute, ip->byte, family == AF_INET6 ? 16 : 4);
}

/** The fixed part of a message; NULL where it is shorter. */
static void const *message_header(struct nlmsghdr const *message, size_t bytes) {
    return mnl_nlmsg_get_payload_len(message) >= bytes ? mnl_nlmsg_get_payload(message) : NULL;
}

bool rm_kernel_read_link(struct nlmsghdr const *message, struct rm_kernel_link *link) {
    struct ifinfomsg const *const header = message_header(message, sizeof *header);
    if (header == NULL || header->ifi_family == AF_BRIDGE)
        return false;
    struct attributes const found = message_attributes(message, sizeof *header);
    *link = (struct rm_kernel_link){.index = (uint32_t)header->ifi_index,
                                    .gone = message->nlmsg_type == RTM_DELLINK,
                                    .up = (header->ifi_flags & IFF_UP) != 0,
                                    .mtu = attribute_u32(found.of[IFLA_MTU], 0)};
    attribute_bytes(found.of[IFLA_ADDRESS], link->mac, sizeof link->mac);
    if (found.of[IFLA_IFNAME] != NULL)
        strncpy(link->name, mnl_attr_get_str(found.of[IFLA_IFNAME]), sizeof link->name - 1);
    struct attributes const info = nested_attributes(found.of[IFLA_LINKINFO]);
    if (info.of[IFLA_INFO_KIND] == NULL || strcmp(mnl_attr_get_str(info.of[IFLA_INFO_KIND]), "vlan") != 0)
        return true;
    struct attributes const vlan = nested_attributes(info.of[IFLA_INFO_DATA]);
    link->below = attribute_u32(found.of[IFLA_LINK], 0);
    attribute_bytes(vlan.of[IFLA_VLAN_ID], &link->vlan, sizeof link->vlan);
    return true;
}

bool rm_kernel_read_address(struct nlmsghdr const *message, uint32_t *index, struct rm_router_address *address) {
    struct ifaddrmsg const *const header = message_header(message, sizeof *header);
    if (header == NULL)
        return false;
    struct attributes const found = message_attributes(message, sizeof *header);
    struct nlattr const *const own = found.of[IFA_LOCAL] != NULL ? found.of[IFA_LOCAL] : found.of[IFA_ADDRESS];
    *index = header->ifa_index;
    address->length = header->ifa_prefixlen;
    return own != NULL && attribute_ip(own, header->ifa_family, &address->ip) && rm_ip_is_host(&address->ip) &&
           !rm_ip_is_link_local(&address->ip) && address->length <= rm_ip_bits(&address->ip);
}

static bool add_path(struct rm_known_route *route, struct rm_ip const *gateway, uint32_t interface, uint32_t weight) {
    if (route->path_count == RM_PATHS_MAX)
        return false;
    route->path[route->path_count++] = (struct rm_known_path){*gateway, interface, weight};
    return true;
}

/** The paths of a route of several; those beyond RM_PATHS_MAX are left out. */
static bool read_paths(struct nlattr const *outer, uint8_t family, struct rm_known_route *route) {
    struct rtnexthop const *hop = mnl_attr_get_payload(outer);
    size_t left = mnl_attr_get_payload_len(outer);
    while (left >= sizeof *hop && hop->rtnh_len >= sizeof *hop && hop->rtnh_len <= left) {
        struct attributes found = {{0}};
        struct rm_ip gateway;
        mnl_attr_parse_payload((char const *)hop + sizeof *hop, hop->rtnh_len - sizeof *hop, keep_attribute, &found);
        if (!attribute_ip(found.of[RTA_GATEWAY], family, &gateway))
            return false;
        add_path(route, &gateway, (uint32_t)hop->rtnh_ifindex, hop->rtnh_hops + 1u);
        size_t const step = (hop->rtnh_len + 3u) & ~3u;
        left = step < left ? left - step : 0;
        hop = (struct rtnexthop const *)((char const *)hop + step);
    }
    return route->path_count != 0;
}

static bool route_kind(uint8_t type, enum rm_route_kind *kind) {
    switch (type) {
    case RTN_UNICAST:
        *kind = RM_ROUTE_UNICAST;
        return true;
    case RTN_BLACKHOLE:
        *kind = RM_ROUTE_BLACKHOLE;
        return true;
    case RTN_UNREACHABLE:
        *kind = RM_ROUTE_UNREACHABLE;
        return true;
    case RTN_PROHIBIT:
        *kind = RM_ROUTE_PROHIBITED;
        return true;
    default:
        return false;
    }
}

bool rm_kernel_read_route(struct nlmsghdr const *message, struct rm_known_route *route) {
    struct rtmsg const *const header = message_header(message, sizeof *header);
    *route = (struct rm_known_route){.source = RM_SOURCE_KERNEL};
    if (header == NULL || (header->rtm_flags & RTM_F_CLONED) != 0 || header->rtm_tos != 0 || header->rtm_src_len != 0 ||
        !route_kind(header->rtm_type, &route->kind))
        return false;
    struct attributes const found = message_attributes(message, sizeof *header);
    struct rm_ip gateway;
    if (attribute_u32(found.of[RTA_TABLE], header->rtm_table) != RT_TABLE_MAIN || found.of[RTA_VIA] != NULL ||
        !attribute_ip(found.of[RTA_DST], header->rtm_family, &route->prefix.ip) ||
        !attribute_ip(found.of[RTA_GATEWAY], header->rtm_family, &gateway) ||
        header->rtm_dst_len > rm_ip_bits(&route->prefix.ip))
        return false;
    route->prefix.length = header->rtm_dst_len;
    route->metric = attribute_u32(found.of[RTA_PRIORITY], 0);
    if (rm_ip_is_group(&route->prefix.ip) || rm_ip_is_link_local(&route->prefix.ip))
        return false;
    if (route->kind != RM_ROUTE_UNICAST)
        return route->metric != UINT32_MAX; /* the kernel's own last resort of IPv6 */
    if (found.of[RTA_MULTIPATH] != NULL)
        return read_paths(found.of[RTA_MULTIPATH], header->rtm_family, route);
    return found.of[RTA_OIF] != NULL && add_path(route, &gateway, attribute_u32(found.of[RTA_OIF], 0), 1);
}

bool rm_kernel_read_neighbour(struct nlmsghdr const *message, struct rm_kernel_neighbour *neighbour) {
    struct ndmsg const *const header = message_header(message, sizeof *header);
    if (header == NULL)
        return false;
    struct attributes const found = message_attributes(message, sizeof *header);
    *neighbour = (struct rm_kernel_neighbour){.index = (uint32_t)header->ndm_ifindex,
                                              .gone = message->nlmsg_type == RTM_DELNEIGH,
                                              .permanent = (header->ndm_state & NUD_PERMANENT) != 0};
    if (found.of[NDA_DST] == NULL || !attribute_ip(found.of[NDA_DST], header->ndm_family, &neighbour->ip) ||
        !rm_ip_is_host(&neighbour->ip))
        return false;
    bool const has_mac = attribute_bytes(found.of[NDA_LLADDR], neighbour->mac, sizeof neighbour->mac);
    return neighbour->gone ||
           (has_mac && (neighbour->mac[0] & 1) == 0 && (header->ndm_state & (NUD_PERMANENT | NUD_REACHABLE)) != 0);
}
