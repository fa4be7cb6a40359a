// SPDX-License-Identifier: Apache-2.0
/** Places for Unix sockets in the file system. */
#ifndef RM_NET_SOCKET_PATH_H
#define RM_NET_SOCKET_PATH_H

#include <ringmaster/error.h>

#include "net/port.h"

/** Checks that a port's socket_path can be a socket's path. `word` names the kind: "memif". */
enum rm_code rm_socket_path_check(struct rm_port_config const *config, char const *word, struct rm_error *error);

/** Prepares a socket at `path`: makes its directory, and removes what a dead server of a `type` (SOCK_STREAM, …) left
 * there. RM_E_BUSY when a live one listens. */
enum rm_code rm_socket_path_clear(char const *port_name, char const *path, int type, char const *word,
                                  struct rm_error *error);

/** Connects a socket of `type` that closes on exec. Returns it, or -1. */
int rm_socket_path_connect(char const *path, int type);

#endif
