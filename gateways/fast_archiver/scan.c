// SPDX-License-Identifier: Apache-2.0
#include "scan.h"

#include <time.h>

static uint64_t const NS_PER_S = 1000000000;

enum {
    FRACTION_DIGITS = 9,
    YEAR_FIRST = 1970,
    YEAR_LAST = 2500,
    /** Seconds that fit into nanoseconds of 64 bits, with all that is added to them. */
    SECONDS_MAX = 16000000,
};

static bool character_is_digit(char character) { return character >= '0' && character <= '9'; }

bool fa_scan_number(struct fa_scan *scan, uint64_t most, uint64_t *number) {
    uint64_t found = 0;
    if (!character_is_digit(*scan->at))
        return fa_scan_fail(scan, "Number missing");
    for (; character_is_digit(*scan->at); ++scan->at) {
        unsigned const digit = (unsigned)(*scan->at - '0');
        if (found > (UINT64_MAX - digit) / 10)
            return fa_scan_fail(scan, "Number out of range");
        found = found * 10 + digit;
    }
    *number = found;
    return found <= most || fa_scan_fail(scan, "Number out of range");
}

bool fa_scan_fraction(struct fa_scan *scan, uint64_t *ns) {
    uint64_t found = 0;
    unsigned digits = 0;
    for (; character_is_digit(*scan->at); ++scan->at, ++digits) {
        if (digits == FRACTION_DIGITS)
            return fa_scan_fail(scan, "Too many digits in the fraction");
        found = found * 10 + (unsigned)(*scan->at - '0');
    }
    if (digits == 0)
        return fa_scan_fail(scan, "Number missing");
    for (; digits < FRACTION_DIGITS; ++digits)
        found *= 10;
    *ns = found;
    return true;
}

/** A number of `least` to `most` and the character behind it; '\0': none. */
static bool scan_field(struct fa_scan *scan, int least, int most, char behind, int *field) {
    uint64_t number;
    if (!fa_scan_number(scan, (uint64_t)most, &number))
        return false;
    *field = (int)number;
    if (*field < least)
        return fa_scan_fail(scan, "Number out of range");
    return behind == '\0' || fa_scan_take(scan, behind) ||
           fa_scan_fail(scan, "Incomplete date time, should be yyyy-mm-ddThh:mm:ss");
}

/** The seconds since 1970 of a date. A day that its month does not have is refused. */
static bool scan_date_seconds(struct fa_scan *scan, struct tm const *date, bool is_utc, uint64_t *seconds) {
    struct tm found = *date;
    time_t const time = is_utc ? timegm(&found) : mktime(&found);
    if (found.tm_mday != date->tm_mday)
        return fa_scan_fail(scan, "The month has no such day");
    if (time <= 0)
        return fa_scan_fail(scan, "Timestamp too early");
    *seconds = (uint64_t)time;
    return true;
}

static bool scan_date(struct fa_scan *scan, uint64_t *utc_ns) {
    struct tm date = {.tm_isdst = -1};
    uint64_t seconds, ns = 0;
    bool const is_whole = scan_field(scan, YEAR_FIRST, YEAR_LAST, '-', &date.tm_year) &&
                          scan_field(scan, 1, 12, '-', &date.tm_mon) && scan_field(scan, 1, 31, 'T', &date.tm_mday) &&
                          scan_field(scan, 0, 23, ':', &date.tm_hour) && scan_field(scan, 0, 59, ':', &date.tm_min) &&
                          scan_field(scan, 0, 59, '\0', &date.tm_sec) &&
                          (!fa_scan_take(scan, '.') || fa_scan_fraction(scan, &ns));
    date.tm_year -= 1900;
    date.tm_mon -= 1;
    if (!is_whole || !scan_date_seconds(scan, &date, fa_scan_take(scan, 'Z'), &seconds))
        return false;
    *utc_ns = seconds * NS_PER_S + ns;
    return true;
}

static bool scan_seconds(struct fa_scan *scan, uint64_t *utc_ns) {
    uint64_t seconds, ns = 0;
    if (!fa_scan_number(scan, SECONDS_MAX * 1000ull, &seconds) ||
        (fa_scan_take(scan, '.') && !fa_scan_fraction(scan, &ns)))
        return false;
    *utc_ns = seconds * NS_PER_S + ns;
    return seconds > 0 || fa_scan_fail(scan, "Timestamp too early");
}

bool fa_scan_time(struct fa_scan *scan, uint64_t *utc_ns) {
    if (fa_scan_take(scan, 'T'))
        return scan_date(scan, utc_ns);
    if (fa_scan_take(scan, 'S'))
        return scan_seconds(scan, utc_ns);
    return fa_scan_fail(scan, "Expected T or S for a time");
}
