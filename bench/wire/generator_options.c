// SPDX-License-Identifier: Apache-2.0
#include "generator_options.h"

#include "base/fail.h"
#include "base/options.h"
#include "base/pin.h"
#include "cycles.h"
#include "probe.h"

enum { FLOWS = 1 << 16 };

static double const RATE_MOST_HZ = 1e8;
static double const MANY = 0x1p53; /* what a double counts to */

char const rm_generator_usage[] =
    "Usage: ringmaster-generator --core C --link LINK [--link LINK]… --instruments N --rate HZ --seconds S [OPTION]…\n"
    "\n"
    "In every cycle sends one datagram of each of N instruments on each link, back to back: a group. Waits while a\n"
    "link is full, and says for how long. A cycle that is late is sent late; one later than 0.1 s is left out.\n"
    "\n"
    "  --core C            run on this core, which it keeps busy\n"
    "  --link LINK         KIND:WHERE[,KEY=VALUE]…: memif:/run/a.sock,role=client, af_xdp:veth0, raw:veth0,\n"
    "                      udp:10.99.0.1:4660,peer=10.99.0.2:4660, …; bench/wire/link_endpoint.h has them all\n"
    "  --instruments N     on each link\n"
    "  --rate HZ           of cycles, up to 1e8; 0: as fast as the links take them\n"
    "  --seconds S         how long\n"
    "  --size BYTES        of payload, 18–8972; 18 if not said\n"
    "  --first-flow F      number of the first instrument; 0 if not said\n"
    "  --cycles FILE       write down when each group left, one row per link and cycle; bench/wire/cycles.h has its\n"
    "                      form. Each group is then sent by itself, also when the next one is due already\n"
    "  --group-gap-us G    from one link's group to the next one's\n"
    "Known faults:\n"
    "  --jitter-us A       displaces each cycle by a known random time within ±A, below half a period\n"
    "  --seed S            of that; 1 if not said\n"
    "  --drop-every N      leaves out every N-th datagram of each link\n"
    "\n"
    "The last line is a JSON object. Exit status: 0 good, 1 something failed (standard error says what), 2 wrong "
    "usage.\n";

static enum rm_code take_link(void *value, char const *text, struct rm_error *error) {
    struct rm_generator_options *const options = value;
    if (options->link_count == RM_LINKS_MAX)
        return rm_fail(error, RM_E_ARGUMENT, "--link: at most %d of them", RM_LINKS_MAX);
    return rm_link_parse(text, &options->link[options->link_count++], error);
}

static enum rm_code check_sizes(struct rm_generator_options const *options, struct rm_error *error) {
    for (uint32_t i = 0; i < options->link_count; ++i) {
        uint32_t const most = rm_link_largest_payload(&options->link[i]);
        if (options->payload_bytes > most)
            return rm_fail(error, RM_E_ARGUMENT,
                           "--size: %llu bytes are over the MTU of link %s, which has room for %u of payload",
                           (unsigned long long)options->payload_bytes, options->link[i].text, most);
    }
    return RM_OK;
}

static enum rm_code check_times(struct rm_generator_options const *options, struct rm_error *error) {
    double const period_us = options->rate_hz > 0 ? 1e6 / options->rate_hz : 0;
    double const groups_us = options->group_gap_us * (options->link_count - 1);
    if (options->rate_hz > 0 && options->rate_hz * options->seconds < 1)
        return rm_fail(error, RM_E_ARGUMENT, "--seconds: %g s are shorter than one cycle at %g Hz", options->seconds,
                       options->rate_hz);
    if (options->jitter_us > 0 && options->jitter_us >= period_us / 2)
        return rm_fail(error, RM_E_ARGUMENT, "--jitter-us: %g, expected less than half a period, %g",
                       options->jitter_us, period_us / 2);
    if (groups_us > 0 && groups_us >= period_us)
        return rm_fail(error, RM_E_ARGUMENT,
                       "--group-gap-us: the last group comes %g µs after the first, expected less "
                       "than a period, %g µs",
                       groups_us, period_us);
    return RM_OK;
}

static enum rm_code generator_options_check(struct rm_generator_options const *options, struct rm_error *error) {
    if (options->first_flow + options->instruments > FLOWS)
        return rm_fail(error, RM_E_ARGUMENT, "--first-flow: instruments have numbers below %d", FLOWS);
    enum rm_code code = check_sizes(options, error);
    if (code == RM_OK)
        code = rm_cycles_check(options->cycles_path, options->rate_hz, options->seconds, options->link_count, error);
    return code == RM_OK ? check_times(options, error) : code;
}

enum rm_code rm_generator_options_read(int argc, char **argv, struct rm_generator_options *options,
                                       struct rm_error *error) {
    *options = (struct rm_generator_options){.payload_bytes = RM_PROBE_BYTES, .seed = 1};
    struct rm_option list[] = {
        {"core", &options->core, 0, RM_CORE_MOST, .kind = RM_OPTION_WHOLE, .place = RM_REQUIRED},
        {"link", options, .kind = RM_OPTION_TAKE, .take = take_link, .place = RM_REQUIRED},
        {"instruments", &options->instruments, 1, FLOWS, .kind = RM_OPTION_WHOLE, .place = RM_REQUIRED},
        {"rate", &options->rate_hz, 0, RATE_MOST_HZ, .kind = RM_OPTION_NUMBER, .place = RM_REQUIRED},
        {"seconds", &options->seconds, 1e-3, 1e6, .kind = RM_OPTION_NUMBER, .place = RM_REQUIRED},
        {"size", &options->payload_bytes, RM_PROBE_BYTES, 8972, .kind = RM_OPTION_WHOLE},
        {"first-flow", &options->first_flow, 0, FLOWS - 1, .kind = RM_OPTION_WHOLE},
        {"group-gap-us", &options->group_gap_us, 0, 1e9, .kind = RM_OPTION_NUMBER},
        {"cycles", &options->cycles_path, .kind = RM_OPTION_TEXT},
        {"jitter-us", &options->jitter_us, 0, 1e9, .kind = RM_OPTION_NUMBER},
        {"seed", &options->seed, 0, MANY, .kind = RM_OPTION_WHOLE},
        {"drop-every", &options->drop_every, 2, MANY, .kind = RM_OPTION_WHOLE},
    };
    enum rm_code const code = rm_options_read(argc, argv, list, sizeof list / sizeof *list, error);
    return code == RM_OK ? generator_options_check(options, error) : code;
}
