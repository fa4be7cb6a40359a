// SPDX-License-Identifier: Apache-2.0
/** Commands on DPDK's telemetry socket, which dpdk-telemetry.py and other programs read. rm_net_start makes the socket
 * where its configuration has `telemetry`: `dpdk_telemetry.v2` in DPDK's runtime directory.
 *
 *     static void answer_ports(void *server, char const *parameter, struct rm_telemetry_reply *reply) {
 *         struct rm_telemetry_list *const names = rm_telemetry_texts(reply, "name");
 *         …
 *         rm_telemetry_add_text(names, "ring");
 *     }
 *     static struct rm_telemetry_command const commands[] = {{"/ringmaster/ports", "Counters of …", answer_ports}};
 *     rm_telemetry_open(commands, 1, server, &error);
 *     …
 *     rm_telemetry_close();        // before anything goes that an answer reads
 *
 * A client types `/ringmaster/ports` or `/ringmaster/ports,PARAMETER`, and gets a JSON object. DPDK serves at most ten
 * clients, each in a thread of its own, on any CPU that the process may use. It drops what lies beyond the limits below,
 * and what makes a reply longer than RM_TELEMETRY_REPLY_BYTES. So a long answer comes in pages.
 */
#ifndef RM_NET_TELEMETRY_H
#define RM_NET_TELEMETRY_H

#include <stdint.h>

#include <ringmaster/error.h>

enum {
    /** Of a command's name, with the terminating zero. */
    RM_TELEMETRY_NAME_BYTES = 56,
    /** Of a command's help, with the terminating zero. */
    RM_TELEMETRY_HELP_BYTES = 128,
    /** Of a parameter, with the terminating zero; a longer one is refused before a command sees it. */
    RM_TELEMETRY_PARAMETER_BYTES = 128,
    /** Of a key and of a text in a reply, with the terminating zero. Keys are of letters, digits, '_' and '/'. */
    RM_TELEMETRY_TEXT_BYTES = 128,
    /** Keys of a reply. */
    RM_TELEMETRY_KEYS_MAX = 256,
    /** Elements of a list. */
    RM_TELEMETRY_LIST_MAX = 512,
    /** The whole reply, as JSON. */
    RM_TELEMETRY_REPLY_BYTES = 16384,
};

/** What a command answers: a JSON object. It lives as long as the call. */
struct rm_telemetry_reply;

/** A list in it. */
struct rm_telemetry_list;

struct rm_telemetry_command {
    char const *name;
    char const *help;
    /** Fills the reply; `parameter` is "" where the client gave none. It runs in a thread of DPDK, one answer at a
     * time, and never after rm_telemetry_close. */
    void (*answer)(void *context, char const *parameter, struct rm_telemetry_reply *reply);
};

/** Adds commands, once per process, after rm_net_start with `telemetry`. `commands` stay where they are until the
 * process ends. RM_E_NO_SPACE: DPDK takes no more of them. */
enum rm_code rm_telemetry_open(struct rm_telemetry_command const *commands, uint32_t count, void *context,
                               struct rm_error *error);

/** Waits for an answer in progress. From here on all commands answer that the program stops. Without
 * rm_telemetry_open it does nothing. */
void rm_telemetry_close(void);

/** Add a member to the reply. */
void rm_telemetry_number(struct rm_telemetry_reply *reply, char const *key, uint64_t value);
void rm_telemetry_text(struct rm_telemetry_reply *reply, char const *key, char const *text);

/** Makes the reply's member "error" of a text: what is wrong with the parameter, and what to do. */
void rm_telemetry_refuse(struct rm_telemetry_reply *reply, char const *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Add an empty list to the reply. NULL, which is a list for all functions here, when there is no memory. */
struct rm_telemetry_list *rm_telemetry_numbers(struct rm_telemetry_reply *reply, char const *key);
struct rm_telemetry_list *rm_telemetry_texts(struct rm_telemetry_reply *reply, char const *key);

/** Add an element to a list of numbers, to one of texts. */
void rm_telemetry_add_number(struct rm_telemetry_list *list, uint64_t value);
void rm_telemetry_add_text(struct rm_telemetry_list *list, char const *text);

#endif
