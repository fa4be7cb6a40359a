// SPDX-License-Identifier: Apache-2.0
/** What DPDK leaves in the file system: a directory for each prefix, and in it the telemetry socket. Programs of one
 * prefix share the directory; the second one's socket has ":1" at the end of its name. */
#ifndef RM_NET_RUNTIME_DIRECTORY_H
#define RM_NET_RUNTIME_DIRECTORY_H

/** Removes this program's directory, once DPDK has started. What another program still has in it keeps it. */
void rm_runtime_directory_remove(void);

/** Removes what killed programs left: sockets that no program listens to, in the own directory; and the empty
 * directories of others where the prefix ends with the process, "ringmaster-ring-4711". */
void rm_runtime_directory_tidy(void);

#endif
