// SPDX-License-Identifier: Apache-2.0
/** The server: a configuration, brought to life.
 *
 *     rm_server_open    segment, ports, instruments, roles; nothing runs, and no reader can attach
 *     rm_server_start   opens, then cores; the fabric is readable when it returns
 *     …
 *     rm_server_stop    cores first, then ports, then the segment; also after a start that failed half way
 */
#ifndef RM_ENGINE_SERVER_H
#define RM_ENGINE_SERVER_H

#include <ringmaster/error.h>

#include "config/config.h"

struct rm_server;

/** Both take the instruction set of the filters, at most rm_simd_best(). On error nothing is left, and the text says
 * which line of the configuration to look at. A segment that was opened and not started is removed when the server
 * stops. */
enum rm_code rm_server_open(struct rm_config const *config, enum rm_simd simd, struct rm_server **server,
                            struct rm_error *error);
enum rm_code rm_server_start(struct rm_config const *config, enum rm_simd simd, struct rm_server **server,
                             struct rm_error *error);

/** NULL is allowed. */
void rm_server_stop(struct rm_server *server);

/** True when packet buffers are on huge pages. The other function: when earlier rings were taken over. */
bool rm_server_huge_pages(struct rm_server const *server);
bool rm_server_adopted(struct rm_server const *server);

/** True when all cores have gone round since this last returned true; else `*stuck` is one that has not. Call it from
 * the thread that started the server. */
bool rm_server_turned(struct rm_server *server, unsigned *stuck);

#endif
