// SPDX-License-Identifier: Apache-2.0
/** The Unix socket at which two memif ends meet: SOCK_SEQPACKET, closed on exec. */
#ifndef RM_NET_MEMIF_SOCKET_H
#define RM_NET_MEMIF_SOCKET_H

#include <ringmaster/error.h>

/** Listens at `path` for port `port_name`: makes the directory, removes what a dead server left there. RM_E_BUSY when
 * a live one listens. */
enum rm_code rm_memif_listen(char const *port_name, char const *path, int *listener, struct rm_error *error);

/** Connects to `path`. Returns the socket, or -1. */
int rm_memif_connect(char const *path);

#endif
