// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <stdio.h>

enum { ALL_FIELDS = (1 << FA_FIELDS) - 1 };

enum fa_command_kind fa_command_kind(char const *line) {
    switch (line[0]) {
    case 'C':
        return FA_COMMAND_CONFIGURATION;
    case 'S':
        return FA_COMMAND_SUBSCRIPTION;
    case 'R':
        return FA_COMMAND_READ;
    default:
        return FA_COMMAND_UNKNOWN;
    }
}

/** Whether the line was read to its end. If not, `error` becomes the answer. */
static bool scan_end(struct fa_scan *scan, char const *what, char error[FA_ERROR_BYTES]) {
    if (scan->wrong == NULL && *scan->at != '\0')
        scan->wrong = "Unexpected character";
    if (scan->wrong == NULL)
        return true;
    snprintf(error, FA_ERROR_BYTES, "Error parsing %s: %s at offset %zu\n", what, scan->wrong,
             (size_t)(scan->at - scan->line));
    return false;
}

static void scan_subscription(struct fa_scan *scan, unsigned id_count, struct fa_subscription *subscription) {
    ++scan->at;
    if (!fa_mask_scan(scan, id_count, &subscription->mask))
        return;
    if (fa_scan_take(scan, 'T'))
        subscription->times = fa_scan_take(scan, 'E') ? FA_TIMES_BLOCKS : FA_TIMES_FIRST;
    subscription->id0 = fa_scan_take(scan, 'Z');
    subscription->uncork = fa_scan_take(scan, 'U');
    subscription->decimated = fa_scan_take(scan, 'D');
}

bool fa_subscription_parse(char const *line, unsigned id_count, struct fa_subscription *subscription,
                           char error[FA_ERROR_BYTES]) {
    struct fa_scan scan = {.line = line, .at = line};
    *subscription = (struct fa_subscription){.times = FA_TIMES_NONE};
    scan_subscription(&scan, id_count, subscription);
    return scan_end(&scan, "subscription", error);
}

static bool scan_fields(struct fa_scan *scan, struct fa_read *read) {
    uint64_t fields = ALL_FIELDS;
    if (fa_scan_take(scan, 'F') && !fa_scan_number(scan, ALL_FIELDS, &fields))
        return false;
    read->fields = (unsigned)fields;
    return fields > 0 || fa_scan_fail(scan, "Invalid decimated data fields");
}

static bool scan_source(struct fa_scan *scan, struct fa_read *read) {
    read->fields = 1;
    if (fa_scan_take(scan, 'F'))
        return true;
    if (!fa_scan_take(scan, 'D'))
        return fa_scan_fail(scan, "Invalid source specification");
    read->source = fa_scan_take(scan, 'D') ? FA_SOURCE_TWICE : FA_SOURCE_DECIMATED;
    return scan_fields(scan, read);
}

static bool scan_end_of_span(struct fa_scan *scan, struct fa_read *read) {
    if (fa_scan_take(scan, 'E'))
        return fa_scan_time(scan, &read->end_utc_ns);
    if (!fa_scan_take(scan, 'N'))
        return fa_scan_fail(scan, "Expected count or end time");
    return fa_scan_number(scan, UINT64_MAX, &read->count) &&
           (read->count > 0 || fa_scan_fail(scan, "No samples requested"));
}

static void scan_read_options(struct fa_scan *scan, struct fa_read *read) {
    read->sends_count = fa_scan_take(scan, 'N');
    read->takes_less = fa_scan_take(scan, 'A');
    if (fa_scan_take(scan, 'T'))
        read->times = fa_scan_take(scan, 'E')   ? FA_TIMES_BLOCKS
                      : fa_scan_take(scan, 'A') ? FA_TIMES_END
                                                : FA_TIMES_FIRST;
    read->id0 = fa_scan_take(scan, 'Z');
    read->contiguous = fa_scan_take(scan, 'C');
    read->contiguous_id0 = read->contiguous && fa_scan_take(scan, 'Z');
}

static void scan_read(struct fa_scan *scan, unsigned id_count, struct fa_read *read) {
    ++scan->at;
    if (!scan_source(scan, read))
        return;
    if (!fa_scan_take(scan, 'M')) {
        fa_scan_fail(scan, "Character 'M' expected");
        return;
    }
    if (fa_mask_scan(scan, id_count, &read->mask) && fa_scan_time(scan, &read->start_utc_ns) &&
        scan_end_of_span(scan, read))
        scan_read_options(scan, read);
}

bool fa_read_parse(char const *line, unsigned id_count, struct fa_read *read, char error[FA_ERROR_BYTES]) {
    struct fa_scan scan = {.line = line, .at = line};
    *read = (struct fa_read){.source = FA_SOURCE_FULL};
    scan_read(&scan, id_count, read);
    return scan_end(&scan, "read request", error);
}
