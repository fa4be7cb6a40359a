// SPDX-License-Identifier: Apache-2.0
/** DPDK's log, kept off the user's terminal but quoted in error texts.
 *
 * DPDK tells why something failed only in its log. Its log stream is therefore a file in memory, emptied before a call
 * that may fail and read after it did. DPDK itself holds the one reference to that stream.
 */
#ifndef RM_NET_DPDK_LOG_H
#define RM_NET_DPDK_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum { RM_DPDK_WORDS_BYTES = 300 };

/** Sends DPDK's log into memory. False when the system gives no memory file: the log then goes to standard error. */
bool rm_dpdk_log_open(void);
void rm_dpdk_log_close(void);

/** Forgets what was logged so far. */
void rm_dpdk_log_clear(void);

/** Copies what was logged since, lines joined by "; ", cut to fit; "its log says nothing" when there is nothing. */
void rm_dpdk_log_words(char words[RM_DPDK_WORDS_BYTES]);

#endif
