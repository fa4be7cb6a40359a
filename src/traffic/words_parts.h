// SPDX-License-Identifier: Apache-2.0
/** What the files of words share: reading lists of ports, changing settings, and one function for each word. In all of
 * them, argument 0 is the list of ports. */
#ifndef RM_TRAFFIC_WORDS_PARTS_H
#define RM_TRAFFIC_WORDS_PARTS_H

#include "base/fail.h"
#include "traffic/read_value.h"
#include "traffic/traffic_words.h"

/** Which ports a list of ports means: bit n is port n. */
enum rm_code rm_traffic_read_ports(struct rm_traffic_words const *words, char const *text, uint32_t *ports,
                                   struct rm_error *error);

/** Changes the settings of one port as `arguments` say. */
typedef enum rm_code rm_traffic_change(struct rm_traffic_settings *settings, struct rm_arguments const *arguments,
                                       struct rm_error *error);

/** Changes all ports that argument 0 lists, if what comes of it can be sent by every one of them. */
enum rm_code rm_traffic_words_change(struct rm_traffic_words *words, struct rm_arguments const *arguments,
                                     rm_traffic_change *change, struct rm_error *error);

/** Settings of a port to begin with. */
void rm_traffic_words_default(struct rm_traffic_words const *words, uint32_t port,
                              struct rm_traffic_settings *settings);

/* words_set.c: argument 1 is the value. */
rm_traffic_change rm_traffic_set_rate, rm_traffic_set_line, rm_traffic_set_size, rm_traffic_set_count,
    rm_traffic_set_burst, rm_traffic_set_sport, rm_traffic_set_dport, rm_traffic_set_ttl, rm_traffic_set_tos,
    rm_traffic_set_cos, rm_traffic_set_vlan, rm_traffic_set_type, rm_traffic_set_proto, rm_traffic_set_pattern,
    rm_traffic_set_user, rm_traffic_set_seq_cnt, rm_traffic_set_flows, rm_traffic_set_late, rm_traffic_set_late_max,
    rm_traffic_set_seed, rm_traffic_set_imix;
/* Arguments: ports, src or dst, address. */
rm_traffic_change rm_traffic_set_mac, rm_traffic_set_ip;

/* words_range.c. Arguments: ports, field or side and field, limit, value. */
rm_traffic_change rm_traffic_range_side, rm_traffic_range_field;
/* Arguments: ports, number, and what one frame of the sequence is. */
rm_traffic_change rm_traffic_sequence;
/* Arguments: ports, feature. */
rm_traffic_change rm_traffic_enable, rm_traffic_disable;

/** As in struct rm_command; the context is the words. */
typedef enum rm_code rm_traffic_word(void *context, struct rm_arguments const *arguments, FILE *answer,
                                     struct rm_error *error);

/* words_do.c */
rm_traffic_word rm_traffic_start, rm_traffic_stop, rm_traffic_start_all, rm_traffic_stop_all, rm_traffic_clear,
    rm_traffic_clear_all, rm_traffic_reset, rm_traffic_reset_all, rm_traffic_arp, rm_traffic_ping, rm_traffic_capture,
    rm_traffic_replay, rm_traffic_instruments, rm_traffic_delay, rm_traffic_load;

/* words_show.c, words_json.c */
rm_traffic_word rm_traffic_show, rm_traffic_show_flows, rm_traffic_show_json;

#endif
