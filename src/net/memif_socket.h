// SPDX-License-Identifier: Apache-2.0
/** The Unix sockets over which two memif ends agree on their rings. All are SOCK_SEQPACKET and close on exec. */
#ifndef RM_NET_MEMIF_SOCKET_H
#define RM_NET_MEMIF_SOCKET_H

#include <stdbool.h>

#include <ringmaster/error.h>

/** Listens at `path` for port `port_name`: makes the directory, removes what a dead server left there. RM_E_BUSY when
 * a live one listens. */
enum rm_code rm_memif_listen(char const *port_name, char const *path, int *listener, struct rm_error *error);

/** Connected to `path`, or -1. */
int rm_memif_connect(char const *path);

/** The same in the abstract namespace: no file, gone with its last holder. */
int rm_memif_listen_abstract(char const *name);
int rm_memif_connect_abstract(char const *name);

/** What passed in one direction. */
enum rm_memif_message {
    RM_MEMIF_END,       /**< the sender is gone, or says it goes, or does not speak memif: nothing was passed on */
    RM_MEMIF_ADD_C2S,   /**< a ring from client to server was announced */
    RM_MEMIF_ADD_S2C,   /**< a ring from server to client was announced */
    RM_MEMIF_CONNECTED, /**< the server has agreed: the last message of all */
    RM_MEMIF_OTHER,
};

/** Passes one message, with the file it may carry, from socket to socket. */
enum rm_memif_message rm_memif_pass(int from, int to);

#endif
