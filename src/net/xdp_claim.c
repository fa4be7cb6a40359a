// SPDX-License-Identifier: Apache-2.0
#include "net/xdp_claim.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/fail.h"
#include "net/claim_object.h"

enum { MAPS_MOST = 16, ETHERTYPE_IPV4 = 0x0800 };

/** As claim.bpf.c has it: an EtherType, and for IPv4 a UDP port, as they stand in the frame. */
struct claim {
    uint16_t ethertype, udp_port;
};

int rm_xdp_claim_file(void) {
    int const file = memfd_create("ringmaster-xdp", MFD_CLOEXEC);
    if (file < 0 || write(file, claim_object, sizeof claim_object) == (ssize_t)sizeof claim_object)
        return file;
    close(file);
    errno = ENOSPC;
    return -1;
}

/** The program on an interface, as a file, or -1. */
static int program_on(uint32_t interface_index) {
    uint32_t id = 0;
    if (bpf_xdp_query_id((int)interface_index, 0, &id) != 0 || id == 0)
        return -1;
    return bpf_prog_get_fd_by_id(id);
}

/** One of a program's maps, as a file, or -1. */
static int map_of(int program, char const *name) {
    uint32_t ids[MAPS_MOST] = {0};
    struct bpf_prog_info info = {.nr_map_ids = MAPS_MOST, .map_ids = (uintptr_t)ids};
    uint32_t bytes = sizeof info;
    if (bpf_obj_get_info_by_fd(program, &info, &bytes) != 0)
        return -1;
    for (uint32_t i = 0; i < info.nr_map_ids && i < MAPS_MOST; ++i) {
        struct bpf_map_info map_info = {0};
        bytes = sizeof map_info;
        int const map = bpf_map_get_fd_by_id(ids[i]);
        if (map >= 0 && bpf_obj_get_info_by_fd(map, &map_info, &bytes) == 0 && strcmp(map_info.name, name) == 0)
            return map;
        if (map >= 0)
            close(map);
    }
    return -1;
}

/** The process that a program of ours runs for; 0 when it is not ours. */
static uint32_t owner_of(int program) {
    struct claim claim; /* as large as the key of either */
    uint32_t owner = 0;
    int map = map_of(program, "rm_claims");
    if (map < 0)
        map = map_of(program, "rm_ports"); /* of a version before */
    if (map < 0)
        return 0;
    if (bpf_map_get_next_key(map, NULL, &claim) == 0)
        (void)bpf_map_lookup_elem(map, &claim, &owner);
    close(map);
    return owner;
}

enum rm_code rm_xdp_claim_clear(struct rm_port_config const *config, uint32_t interface_index, struct rm_error *error) {
    int const program = program_on(interface_index);
    if (program < 0)
        return RM_OK;
    uint32_t const owner = owner_of(program);
    close(program);
    if (owner != 0 && kill((pid_t)owner, 0) == 0)
        return rm_fail(error, RM_E_BUSY, "port '%s': process %u has an af_xdp port on interface '%s'; stop it",
                       config->name, owner, config->interface);
    if (owner == 0)
        return rm_fail(error, RM_E_BUSY,
                       "port '%s': interface '%s' has an XDP program of another owner; `ip link set dev %s xdp off` "
                       "removes it",
                       config->name, config->interface, config->interface);
    int const result = bpf_xdp_detach((int)interface_index, 0, NULL);
    if (result == 0)
        return RM_OK;
    return rm_fail(error, RM_E_SYSTEM, "port '%s': cannot remove the XDP program that process %u left on '%s': %s",
                   config->name, owner, config->interface, strerror(-result));
}

/** False, and errno, when the map is not there or takes no more. */
static bool enter_claims(int program, struct rm_port_config const *config) {
    uint32_t const owner = (uint32_t)getpid();
    int const map = map_of(program, "rm_claims");
    bool good = map >= 0;
    for (uint32_t i = 0; i < config->claim_count && good; ++i) {
        struct claim const claim = {htons(ETHERTYPE_IPV4), htons(config->claim[i])};
        good = bpf_map_update_elem(map, &claim, &owner, BPF_ANY) == 0;
    }
    for (uint32_t i = 0; i < config->ethertype_count && good; ++i) {
        struct claim const claim = {htons(config->ethertype[i]), 0};
        good = bpf_map_update_elem(map, &claim, &owner, BPF_ANY) == 0;
    }
    if (map >= 0)
        close(map);
    return good;
}

static bool enter_sources(int program, struct rm_port_config const *config) {
    uint8_t const yes = 1;
    int const map = map_of(program, "rm_sources");
    bool good = map >= 0;
    for (uint32_t i = 0; i < config->source_count && good; ++i)
        good = bpf_map_update_elem(map, &(uint32_t){htonl(config->source[i])}, &yes, BPF_ANY) == 0;
    if (map >= 0)
        close(map);
    return good;
}

enum rm_code rm_xdp_claim_fill(struct rm_port_config const *config, uint32_t interface_index, struct rm_error *error) {
    int const program = program_on(interface_index);
    bool const good = program >= 0 && enter_sources(program, config) && enter_claims(program, config);
    int const why = errno;
    if (program >= 0)
        close(program);
    if (good)
        return RM_OK;
    return rm_fail(error, RM_E_SYSTEM,
                   "port '%s': cannot tell the XDP program on '%s' what to claim (%u UDP ports, %u EtherTypes, %u "
                   "sources): %s",
                   config->name, config->interface, config->claim_count, config->ethertype_count, config->source_count,
                   strerror(why));
}
