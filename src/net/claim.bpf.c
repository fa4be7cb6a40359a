// SPDX-License-Identifier: Apache-2.0
/* Runs in the kernel for every frame that an interface receives, before the kernel looks at it: gives instruments'
 * datagrams and frames to the AF_XDP socket of the queue, and everything else to the kernel. Compiled for BPF; xdp_claim.h loads
 * it and fills its maps. */
#include <linux/bpf.h> // first: the helpers need its types

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>

enum {
    QUEUES_MAX = 64,
    CLAIMS_MAX = 32,
    SOURCES_MAX = 4096,
    TAGS_MOST = 2,
    FRAGMENT_OFFSET = 0x1FFF, /* in ip->frag_off: 0 in a whole datagram and in the first fragment of one */
};

/* The AF_XDP sockets, which DPDK's driver enters under this name. */
struct {
    __uint(type, BPF_MAP_TYPE_XSKMAP);
    __uint(max_entries, QUEUES_MAX);
    __type(key, __u32);
    __type(value, __u32);
} xsks_map SEC(".maps");

/* As they stand in the frame: an EtherType, and for IPv4 the destination UDP port, else 0. All zero: every frame.
 * xdp_claim.c has the same. */
struct claim {
    __be16 ethertype;
    __be16 udp_port;
};

/* What is claimed, and the process that claims it: a process that finds the program on an interface can tell whether
 * its owner is still there. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, CLAIMS_MAX);
    __type(key, struct claim);
    __type(value, __u32);
} rm_claims SEC(".maps");

/* Source addresses whose fragments are claimed, as they stand in the frame. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, SOURCES_MAX);
    __type(key, __u32);
    __type(value, __u8);
} rm_sources SEC(".maps");

struct vlan_tag {
    __be16 tag;
    __be16 ethertype;
};

/* Only the first fragment has a UDP header; the others are claimed by their sender. */
static __always_inline int datagram_is_claimed(struct iphdr const *ip, void const *end) {
    if ((void const *)(ip + 1) > end || ip->protocol != IPPROTO_UDP)
        return 0;
    if ((ip->frag_off & bpf_htons(FRAGMENT_OFFSET)) != 0) {
        __u32 const source = ip->saddr;
        return bpf_map_lookup_elem(&rm_sources, &source) != NULL;
    }
    struct udphdr const *const udp = (void const *)ip + ip->ihl * 4;
    if ((void const *)(udp + 1) > end)
        return 0;
    struct claim const claim = {.ethertype = bpf_htons(ETH_P_IP), .udp_port = udp->dest};
    return bpf_map_lookup_elem(&rm_claims, &claim) != NULL;
}

static __always_inline int frame_is_claimed(__be16 ethertype) {
    struct claim const claim = {.ethertype = ethertype};
    return bpf_map_lookup_elem(&rm_claims, &claim) != NULL;
}

SEC("xdp")
int rm_claim(struct xdp_md *context) {
    void const *const end = (void const *)(long)context->data_end;
    struct ethhdr const *const ethernet = (void const *)(long)context->data;
    if ((void const *)(ethernet + 1) > end)
        return XDP_PASS;
    __be16 ethertype = ethernet->h_proto;
    void const *packet = ethernet + 1;
    for (int tags = 0; tags < TAGS_MOST; ++tags) {
        if (ethertype != bpf_htons(ETH_P_8021Q) && ethertype != bpf_htons(ETH_P_8021AD))
            break;
        struct vlan_tag const *const vlan = packet;
        if ((void const *)(vlan + 1) > end)
            return XDP_PASS;
        ethertype = vlan->ethertype;
        packet = vlan + 1;
    }
    int const claimed =
        ethertype == bpf_htons(ETH_P_IP) ? datagram_is_claimed(packet, end) : frame_is_claimed(ethertype);
    if (!claimed && !frame_is_claimed(0)) /* where every frame is */
        return XDP_PASS;
    /* A socket that is gone leaves the frame to the kernel. */
    return bpf_redirect_map(&xsks_map, context->rx_queue_index, XDP_PASS);
}

char const claim_license[] SEC("license") = "Apache-2.0";
