// SPDX-License-Identifier: Apache-2.0
#include "ring_resolve.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "address.h"

enum rm_code rm_resolve_fail(struct rm_resolve const *resolve, char const *list, uint32_t index, char const *key,
                             char const *format, ...) {
    char place[64];
    if (key == NULL)
        snprintf(place, sizeof place, "%s[%u]", list, index);
    else
        snprintf(place, sizeof place, "%s[%u].%s", list, index, key);
    va_list arguments;
    va_start(arguments, format);
    enum rm_code const code = rm_yaml_vfail(resolve->error, resolve->path, place, format, arguments);
    va_end(arguments);
    return code;
}

/** A key of `port` that belongs to one kind alone, which cannot do without it. */
static enum rm_code check_port_key(struct rm_resolve const *resolve, char const *key, bool given, enum rm_port_kind of,
                                   char const *meant) {
    bool const wanted = resolve->file->port.kind == of;
    if (given == wanted)
        return RM_OK;
    char place[32];
    snprintf(place, sizeof place, "port.%s", key);
    if (given)
        return rm_yaml_fail(resolve->error, resolve->path, place, "a port of this kind has no such key, take it out");
    return rm_yaml_fail(resolve->error, resolve->path, "port", "the key \"%s\" is missing, expected %s", key, meant);
}

enum rm_code rm_resolve_port(struct rm_resolve const *resolve) {
    struct rm_ring_file_port const *from = &resolve->file->port;
    struct rm_port_config *to = &resolve->config->port;
    enum rm_code code = check_port_key(resolve, "socket", from->socket != NULL, RM_PORT_MEMIF,
                                       "the path of the memif's control socket, such as /run/ringmaster/demo.sock");
    if (code == RM_OK)
        code = check_port_key(resolve, "interface", from->interface != NULL, RM_PORT_AF_PACKET,
                              "the kernel's name of the interface, such as veth0");
    if (code == RM_OK)
        code = check_port_key(resolve, "peer", from->peer != NULL, RM_PORT_UDP,
                              "the receiver's address and UDP port, such as 127.0.0.1:4660");
    if (code != RM_OK)
        return code;
    if (from->role != NULL && from->kind != RM_PORT_MEMIF)
        return rm_yaml_fail(resolve->error, resolve->path, "port.role", "only a memif has a role, take it out");
    if (from->peer != NULL && !rm_endpoint_parse(from->peer, &to->peer_ipv4, &to->peer_port))
        return rm_yaml_fail(resolve->error, resolve->path, "port.peer",
                            "found \"%s\", expected an address and a UDP port such as 127.0.0.1:4660", from->peer);
    to->kind = from->kind;
    to->memif_server = from->role != NULL && *from->role == RM_MEMIF_SERVER;
    to->queues = 1;
    snprintf(to->name, sizeof to->name, "%s", from->name == NULL ? "ring" : from->name);
    snprintf(to->socket_path, sizeof to->socket_path, "%s", from->socket == NULL ? "" : from->socket);
    snprintf(to->interface, sizeof to->interface, "%s", from->interface == NULL ? "" : from->interface);
    return RM_OK;
}

/** One number of the beam. */
struct beam_key {
    char const *key;
    size_t from; /**< offset of a double * in struct rm_ring_file_beam */
    size_t to;   /**< offset of a double in struct rm_beam_config */
    double otherwise, low, high;
};

#define BEAM_KEY(name, otherwise, low, high)                                                                           \
    { #name, offsetof(struct rm_ring_file_beam, name), offsetof(struct rm_beam_config, name), otherwise, low, high }

/* Positions stay below 10 mm, where a float still resolves a nanometre. */
static struct beam_key const beam_keys[] = {
    BEAM_KEY(tune_x, 0.2994, 0, 0.5),
    BEAM_KEY(tune_y, 0.1612, 0, 0.5),
    BEAM_KEY(synchrotron_tune, 0.0086, 0, 0.5),
    BEAM_KEY(betatron_um, 5, 0, 1000),
    BEAM_KEY(betatron_modulation, 0.2, 0, 1),
    BEAM_KEY(modulation_hz, 1, 0, 1000),
    BEAM_KEY(kick_um, 0, 0, 5000),
    BEAM_KEY(kick_every_turns, 1157000, RM_MOTION_BLOCK, 1e15),
    BEAM_KEY(damping_turns, 10000, 1, 1e15),
    BEAM_KEY(synchrotron_um, 3, 0, 1000),
    BEAM_KEY(mains_um, 20, 0, 1000),
    BEAM_KEY(drift_um, 5, 0, 1000),
    BEAM_KEY(drift_period_s, 60, 1, 1e6),
    BEAM_KEY(orbit_um, 100, 0, 1000),
    BEAM_KEY(noise_um, 0.5, 0, 1000),
    BEAM_KEY(sum_counts, 1e6, 0, 1e9),
    BEAM_KEY(loss_counts, 2, 0, 5),
};

enum rm_code rm_resolve_beam(struct rm_resolve const *resolve) {
    struct rm_ring_file_beam const none = {0};
    struct rm_ring_file_beam const *beam = resolve->file->beam == NULL ? &none : resolve->file->beam;
    for (size_t k = 0; k < sizeof beam_keys / sizeof beam_keys[0]; ++k) {
        struct beam_key const *key = &beam_keys[k];
        double const *given = *(double *const *)(void const *)((char const *)beam + key->from);
        double const value = given == NULL ? key->otherwise : *given;
        if (!(value >= key->low && value <= key->high)) {
            char place[40];
            snprintf(place, sizeof place, "beam.%s", key->key);
            return rm_yaml_fail(resolve->error, resolve->path, place, "found %g, expected %g to %g", value, key->low,
                                key->high);
        }
        *(double *)(void *)((char *)&resolve->config->beam + key->to) = value;
    }
    return RM_OK;
}
