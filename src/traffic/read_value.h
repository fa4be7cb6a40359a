// SPDX-License-Identifier: Apache-2.0
/** Values as people write them on the generator's command line. Each function takes all of `text`, or returns
 * RM_E_ARGUMENT and says what was found and what was expected. */
#ifndef RM_TRAFFIC_READ_VALUE_H
#define RM_TRAFFIC_READ_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "traffic/traffic.h"

/** A list of words, ended by NULL: the index of the one that `text` is. `what` names it in the error, which says the
 * nearest one, too. */
enum rm_code rm_traffic_read_word(char const *what, char const *const *words, char const *text, uint32_t *index,
                                  struct rm_error *error);

/** A whole number of `min` to `max`. */
enum rm_code rm_traffic_read_whole(char const *what, uint64_t min, uint64_t max, char const *text, uint64_t *value,
                                   struct rm_error *error);

/** "max": no pace. "99", "0.5%": percent of the line. "1000pps", "20kpps", "1.5Mpps": packets per second. */
enum rm_code rm_traffic_read_rate(char const *text, enum rm_traffic_pace *pace, double *rate, struct rm_error *error);

/** "10G", "2.5G", "100M": bits per second of a line. */
enum rm_code rm_traffic_read_line_rate(char const *text, double *bits_per_s, struct rm_error *error);

/** "00:11:22:33:44:55", or Pktgen's "0011:2233:4455"; the first byte on the line highest. */
enum rm_code rm_traffic_read_mac(char const *text, uint64_t *mac, struct rm_error *error);

/** "10.1.0.1" or "fd00::1", as `ipv6` says; a mask ("/24") may follow and means nothing. `*high` is set for IPv6. */
enum rm_code rm_traffic_read_address(char const *text, bool ipv6, uint64_t *high, uint64_t *low,
                                     struct rm_error *error);

/** A value of one field of a template: an address, a MAC address, or a whole number up to the field's limit. */
enum rm_code rm_traffic_read_field(struct rm_traffic_template const *template, enum rm_traffic_field_name name,
                                   char const *text, uint64_t *value, struct rm_error *error);

/** "64:7,594:4,1518:1": sizes with FCS, and how often each comes. Sets the mix of the template. */
enum rm_code rm_traffic_read_mix(char const *text, struct rm_traffic_template *template, struct rm_error *error);

enum {
    /** Bytes of a value that rm_traffic_write_field writes, with the terminating zero. */
    RM_TRAFFIC_VALUE_BYTES = 48,
};

/** Writes a field's value as it is read. Of an IPv6 address the high half is the template's. Returns `text`. */
char const *rm_traffic_write_field(struct rm_traffic_template const *template, enum rm_traffic_field_name name,
                                   uint64_t value, char text[RM_TRAFFIC_VALUE_BYTES]);

#endif
