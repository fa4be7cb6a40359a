// SPDX-License-Identifier: Apache-2.0
/** Commands over a Unix socket: a thread that takes lines and answers them.
 *
 * The socket is `commands` in the folder of the workspace. It is the user's alone who runs the server. Anything speaks
 * to it that speaks lines (`socat - UNIX-CONNECT:…/commands`):
 *
 *     set 0 rate 99                    a command, one line
 *     ok                               it is done
 *     route show
 *      10.1.0.0/16 via 10.0.0.2        lines of an answer begin with a space
 *     ok
 *     set 0 rate 200
 *     error: rate: found 200, expected 0 to 100 percent of the link
 *
 * Commands of all clients are done one after the other, in the order in which they came. A client that sends half a
 * line, or reads no answer for RM_COMMAND_SEND_SECONDS, harms nobody else: at most RM_COMMAND_CLIENTS_MAX are served,
 * one more is told so and closed.
 */
#ifndef RM_COMMANDS_COMMAND_SERVER_H
#define RM_COMMANDS_COMMAND_SERVER_H

#include <ringmaster/error.h>

#include "commands/command.h"

/** Name of the socket in the workspace's folder. */
#define RM_COMMAND_SOCKET "commands"

enum {
    RM_COMMAND_CLIENTS_MAX = 16,
    /** After so long a client that does not read is closed. */
    RM_COMMAND_SEND_SECONDS = 2,
};

struct rm_command_server;

/** Makes the socket in `folder`, in place of one that a killed server left there, and starts the thread. The tables are
 * copied; commands and contexts outlive the server. */
enum rm_code rm_command_server_start(char const *folder, struct rm_command_table const *table, uint32_t count,
                                     struct rm_command_server **server, struct rm_error *error);

/** Ends the thread when the command that it does is done, and removes the socket. NULL is allowed. */
void rm_command_server_stop(struct rm_command_server *server);

#endif
