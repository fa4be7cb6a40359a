// SPDX-License-Identifier: Apache-2.0
/** Our XDP program (claim.bpf.c) on a kernel interface: what it claims, and which process runs it. */
#ifndef RM_NET_XDP_CLAIM_H
#define RM_NET_XDP_CLAIM_H

#include <ringmaster/error.h>

#include "net/port.h"

/** Makes a file in memory with the program, to be loaded by a path such as /proc/self/fd/7. Returns it, or -1 and
 * errno. */
int rm_xdp_claim_file(void);

/** Makes sure that the port's interface has no XDP program: removes ours where the process that ran it is gone.
 * RM_E_BUSY, with the program's name, when another one is there. */
enum rm_code rm_xdp_claim_clear(struct rm_port_config const *config, uint32_t interface_index, struct rm_error *error);

/** Call it when the program was loaded on the interface: lets it claim what the port is configured to. Until then it
 * claims nothing. */
enum rm_code rm_xdp_claim_fill(struct rm_port_config const *config, uint32_t interface_index, struct rm_error *error);

#endif
