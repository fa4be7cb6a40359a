// SPDX-License-Identifier: Apache-2.0
/** Datagram formats by name: what instruments and virtual instruments refer to.
 *
 * Three names need no description: "native", "libera_grouping" and "libera_grouping_counter_first". All others are
 * entries of a `formats` list, each a preset under another name (with another UDP port or period) or a layout.
 */
#ifndef RM_FORMAT_FORMAT_H
#define RM_FORMAT_FORMAT_H

#include <stdbool.h>

#include "format/format_file.h"

/** Bytes of a format's name, with the terminating zero. */
enum { RM_FORMAT_NAME_BYTES = 33 };

struct rm_format {
    char name[RM_FORMAT_NAME_BYTES];
    /** NULL: native. */
    struct rm_layout *layout;
    /** Destination UDP port of its datagrams; 0: the port's own. */
    uint16_t udp_port;
    /** Libera Grouping: the status contains the instrument's id, too. */
    bool libera;
    /** Turns from one record to the next, at least 1, for instruments that do not say it. */
    uint32_t period_turns;
};

/** Resolves and compiles entry `index` of the `formats` of the file at `path`. RM_E_CONFIG with "FILE:LINE:COLUMN:
 * formats[0].layout.lanes[2].at: …". The caller owns the layout: rm_format_free. */
enum rm_code rm_format_resolve(struct rm_file_format const *written, char const *path, uint32_t index,
                               struct rm_format *format, struct rm_error *error);

/** Fills in a format that needs no description; false for other names. */
bool rm_format_builtin(char const *name, struct rm_format *format);
void rm_format_free(struct rm_format *format);

#endif
