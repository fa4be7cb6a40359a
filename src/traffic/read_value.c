// SPDX-License-Identifier: Apache-2.0
#include "traffic/read_value.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/nearest.h"
#include "base/options.h"

static double const LEAST_LINE = 1e3, MOST_LINE = 1e13, MOST_PACKETS_PER_S = 1e9;

enum { TEXT_BYTES = 64, MAC_DIGITS = 12, WEIGHT_MAX = 100 };

enum rm_code rm_traffic_read_word(char const *what, char const *const *words, char const *text, uint32_t *index,
                                  struct rm_error *error) {
    struct rm_nearest nearest = {.wanted = text};
    char list[RM_ERROR_TEXT_BYTES / 2] = "";
    char quoted[RM_QUOTED_BYTES];
    for (uint32_t i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0) {
            *index = i;
            return RM_OK;
        }
        rm_nearest_offer(&nearest, words[i]);
        size_t const used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", words[i]);
    }
    return rm_fail(error, RM_E_ARGUMENT, "%s: found %s, expected one of %s%s%s%s", what,
                   rm_quote(text, strlen(text), quoted), list, nearest.name != NULL ? " (did you mean \"" : "",
                   nearest.name != NULL ? nearest.name : "", nearest.name != NULL ? "\"?)" : "");
}

enum rm_code rm_traffic_read_whole(char const *what, uint64_t min, uint64_t max, char const *text, uint64_t *value,
                                   struct rm_error *error) {
    char quoted[RM_QUOTED_BYTES];
    if (rm_whole_parse(text, min, max, value))
        return RM_OK;
    return rm_fail(error, RM_E_ARGUMENT, "%s: found %s, expected a whole number from %" PRIu64 " to %" PRIu64, what,
                   rm_quote(text, strlen(text), quoted), min, max);
}

/* A number and the unit behind it, which is one of a list ended by NULL. */
static bool number_and_unit(char const *text, char const *const *units, double *number, uint32_t *unit) {
    size_t const digits = strspn(text, "0123456789.");
    char head[TEXT_BYTES];
    if (digits == 0 || digits >= sizeof head)
        return false;
    memcpy(head, text, digits);
    head[digits] = '\0';
    for (*unit = 0; units[*unit] != NULL; (*unit)++)
        if (strcmp(units[*unit], text + digits) == 0)
            return rm_number_parse(head, 0, MOST_LINE, number);
    return false;
}

enum rm_code rm_traffic_read_rate(char const *text, enum rm_traffic_pace *pace, double *rate, struct rm_error *error) {
    static char const *const UNITS[] = {"", "%", "pps", "kpps", "Mpps", NULL};
    static double const SCALE[] = {1, 1, 1, 1e3, 1e6};
    uint32_t unit;
    double number;
    char quoted[RM_QUOTED_BYTES];
    if (strcmp(text, "max") == 0) {
        *pace = RM_TRAFFIC_UNPACED;
        return RM_OK;
    }
    if (!number_and_unit(text, UNITS, &number, &unit))
        return rm_fail(error, RM_E_ARGUMENT,
                       "rate: found %s, expected percent of the line as 99 or 0.5, packets per second as 1000pps, "
                       "20kpps or 1.5Mpps, or max",
                       rm_quote(text, strlen(text), quoted));
    double const most = unit < 2 ? 100 : MOST_PACKETS_PER_S;
    number *= SCALE[unit];
    if (number <= 0 || number > most)
        return rm_fail(error, RM_E_ARGUMENT, "rate: found %s, expected above 0 and at most %s; stop ends sending",
                       rm_quote(text, strlen(text), quoted), unit < 2 ? "100 percent of the line" : "1000Mpps");
    *pace = unit < 2 ? RM_TRAFFIC_PERCENT : RM_TRAFFIC_PACKETS_PER_S;
    *rate = number;
    return RM_OK;
}

enum rm_code rm_traffic_read_line_rate(char const *text, double *bits_per_s, struct rm_error *error) {
    static char const *const UNITS[] = {"M", "G", NULL};
    uint32_t unit;
    double number;
    char quoted[RM_QUOTED_BYTES];
    bool good = number_and_unit(text, UNITS, &number, &unit);
    if (good) {
        number *= unit == 0 ? 1e6 : 1e9;
        good = number >= LEAST_LINE && number <= MOST_LINE;
    }
    if (!good)
        return rm_fail(error, RM_E_ARGUMENT, "line: found %s, expected bits per second as 100M, 2.5G or 400G",
                       rm_quote(text, strlen(text), quoted));
    *bits_per_s = number;
    return RM_OK;
}

enum rm_code rm_traffic_read_mac(char const *text, uint64_t *mac, struct rm_error *error) {
    char digits[MAC_DIGITS + 1];
    uint32_t count = 0, colons = 0;
    char quoted[RM_QUOTED_BYTES];
    for (char const *at = text; *at != '\0' && count <= MAC_DIGITS; at++) {
        if (*at == ':') {
            colons++;
        } else {
            if (strchr("0123456789abcdefABCDEF", *at) == NULL || count == MAC_DIGITS)
                count = MAC_DIGITS + 1;
            else
                digits[count++] = *at;
        }
    }
    bool const bytes = colons == 5 && strspn(text, ":") == 0 && strlen(text) == 17 && text[2] == ':' && text[5] == ':';
    bool const words = colons == 2 && strlen(text) == 14 && text[4] == ':' && text[9] == ':';
    if (count != MAC_DIGITS || (!bytes && !words))
        return rm_fail(error, RM_E_ARGUMENT, "MAC address: found %s, expected one as 00:11:22:33:44:55",
                       rm_quote(text, strlen(text), quoted));
    digits[MAC_DIGITS] = '\0';
    *mac = strtoull(digits, NULL, 16);
    return RM_OK;
}

static uint64_t big_endian(uint8_t const bytes[8]) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < 8; i++)
        value = value << 8 | bytes[i];
    return value;
}

static void to_big_endian(uint64_t value, uint8_t bytes[8]) {
    for (uint32_t i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (56 - 8 * i));
}

enum rm_code rm_traffic_read_address(char const *text, bool ipv6, uint64_t *high, uint64_t *low,
                                     struct rm_error *error) {
    char address[TEXT_BYTES], quoted[RM_QUOTED_BYTES];
    uint8_t bytes[16];
    size_t const length = strcspn(text, "/");
    uint64_t bits;
    bool good = length < sizeof address && (text[length] == '\0' || rm_whole_parse(text + length + 1, 0, 128, &bits));
    if (good) {
        memcpy(address, text, length);
        address[length] = '\0';
        good = inet_pton(ipv6 ? AF_INET6 : AF_INET, address, bytes) == 1;
    }
    if (!good)
        return rm_fail(error, RM_E_ARGUMENT, "address: found %s, expected one as %s%s",
                       rm_quote(text, strlen(text), quoted), ipv6 ? "fd00::1" : "10.1.0.1",
                       !ipv6 && strchr(text, ':') != NULL ? "; `set PORTS type ipv6` first" : "");
    if (ipv6) {
        *high = big_endian(bytes);
        *low = big_endian(bytes + 8);
    } else {
        *low = (uint64_t)bytes[0] << 24 | (uint64_t)bytes[1] << 16 | (uint64_t)bytes[2] << 8 | bytes[3];
    }
    return RM_OK;
}

static bool field_is_address(enum rm_traffic_field_name name) {
    return name == RM_TRAFFIC_SOURCE_ADDRESS || name == RM_TRAFFIC_DESTINATION_ADDRESS;
}

static bool field_is_mac(enum rm_traffic_field_name name) {
    return name == RM_TRAFFIC_SOURCE_MAC || name == RM_TRAFFIC_DESTINATION_MAC;
}

enum rm_code rm_traffic_read_field(struct rm_traffic_template const *template, enum rm_traffic_field_name name,
                                   char const *text, uint64_t *value, struct rm_error *error) {
    uint64_t high;
    if (field_is_mac(name))
        return rm_traffic_read_mac(text, value, error);
    if (field_is_address(name))
        return rm_traffic_read_address(text, template->ipv6, &high, value, error);
    return rm_traffic_read_whole(rm_traffic_field_word(name), name == RM_TRAFFIC_SIZE ? RM_TRAFFIC_SIZE_MIN : 0,
                                 rm_traffic_field_limit(template, name), text, value, error);
}

enum rm_code rm_traffic_read_mix(char const *text, struct rm_traffic_template *template, struct rm_error *error) {
    struct rm_traffic_template made = *template;
    char quoted[RM_QUOTED_BYTES];
    made.mix_count = 0;
    for (char const *at = text; *at != '\0'; at += strcspn(at, ",")) {
        at += at != text && *at == ',';
        char part[TEXT_BYTES];
        size_t const length = strcspn(at, ",");
        size_t const colon = strcspn(at, ":");
        uint64_t size, weight;
        if (length >= sizeof part || colon >= length || made.mix_count == RM_TRAFFIC_MIX_MAX)
            return rm_fail(error, RM_E_ARGUMENT,
                           "imix: found %s, expected up to %d sizes and how often each comes, as 64:7,594:4,1518:1",
                           rm_quote(text, strlen(text), quoted), RM_TRAFFIC_MIX_MAX);
        memcpy(part, at, length);
        part[length] = part[colon] = '\0';
        enum rm_code code =
            rm_traffic_read_whole("imix: size", RM_TRAFFIC_SIZE_MIN, RM_TRAFFIC_SIZE_MAX, part, &size, error);
        if (code == RM_OK)
            code = rm_traffic_read_whole("imix: weight", 1, WEIGHT_MAX, part + colon + 1, &weight, error);
        if (code != RM_OK)
            return code;
        made.mix[made.mix_count++] = (struct rm_traffic_mix){(uint32_t)size, (uint32_t)weight};
    }
    if (made.mix_count == 0)
        return rm_fail(error, RM_E_ARGUMENT, "imix: found nothing, expected sizes as 64:7,594:4,1518:1");
    *template = made;
    return RM_OK;
}

char const *rm_traffic_write_field(struct rm_traffic_template const *template, enum rm_traffic_field_name name,
                                   uint64_t value, char text[RM_TRAFFIC_VALUE_BYTES]) {
    uint8_t bytes[16];
    if (field_is_address(name)) {
        to_big_endian(name == RM_TRAFFIC_SOURCE_ADDRESS ? template->source_ipv6_high : template->destination_ipv6_high,
                      bytes);
        to_big_endian(value, bytes + 8);
        inet_ntop(template->ipv6 ? AF_INET6 : AF_INET, template->ipv6 ? bytes : bytes + 12, text,
                  RM_TRAFFIC_VALUE_BYTES);
    } else if (field_is_mac(name)) {
        to_big_endian(value, bytes);
        snprintf(text, RM_TRAFFIC_VALUE_BYTES, "%02x:%02x:%02x:%02x:%02x:%02x", bytes[2], bytes[3], bytes[4], bytes[5],
                 bytes[6], bytes[7]);
    } else {
        snprintf(text, RM_TRAFFIC_VALUE_BYTES, "%" PRIu64, value);
    }
    return text;
}
