// SPDX-License-Identifier: Apache-2.0
/** The connections of the loop: accepted, heard, sent to, closed. */
#ifndef FA_CONNECTIONS_H
#define FA_CONNECTIONS_H

#include "server.h"

/** Takes all that wait; those for whom there is no room are told, and closed. */
void fa_connections_accept(struct fa_server *server, uint64_t now_ns);

/** Reads what a client says; where its line is whole, the answer begins. */
void fa_connection_hear(struct fa_server *server, struct fa_client *client);

/** Sends frames to a client, and closes it where it is too slow or has gone. */
void fa_connection_send(struct fa_server *server, struct fa_client *client, uint64_t now_ns);

/** Sends to all that can take something, and closes those that say nothing. */
void fa_connections_step(struct fa_server *server, uint64_t now_ns);

/** Whether a client wants frames of a rate. */
bool fa_connections_want(struct fa_server const *server, enum fa_rate rate);

/** Closes all that get frames: these do not go on. */
void fa_connections_end_subscriptions(struct fa_server *server);

/** Closes a connection of the loop; of one that a thread answers, only what the thread may wait for. */
void fa_connection_end(struct fa_server *server, struct fa_client *client);

#endif
