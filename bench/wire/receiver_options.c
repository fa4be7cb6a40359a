// SPDX-License-Identifier: Apache-2.0
#include "receiver_options.h"

#include "base/fail.h"
#include "base/options.h"
#include "base/pin.h"
#include "cycles.h"

enum { FLOWS = 1 << 16 };

char const rm_receiver_usage[] =
    "Usage: ringmaster-receiver (--core C --link LINK [--link LINK]…)… --instruments N --rate HZ --seconds S "
    "[OPTION]…\n"
    "\n"
    "Receives what ringmaster-generator sends and stamps each datagram. One thread for every --core polls the links "
    "that\n"
    "follow it, in turn. Prints {\"ready\": true} when all are open. Counts whole cycles, from the first datagram and "
    "the\n"
    "warm-up on, and waits for the last of them to come; ends when the sender says that it has ended, too.\n"
    "\n"
    "  --core C            a thread on this core\n"
    "  --link LINK         KIND:WHERE[,KEY=VALUE]…: memif:/run/a.sock,role=server, af_xdp:veth0, raw:veth0,\n"
    "                      udp:10.99.0.1:4660,peer=10.99.0.2:4660, …; bench/wire/link_endpoint.h has them all\n"
    "  --instruments N     of each link, numbers 0 … N - 1\n"
    "  --rate HZ           of cycles, as the sender was told; 0: not known\n"
    "  --seconds S         how long\n"
    "  --warm-up S         not counted before that; 0 if not said\n"
    "  --idle-s S          ends when nothing comes for so long; 5 if not said\n"
    "  --cycles FILE       a row of 32 bytes for each link and cycle, little-endian: u32 link, u32 datagrams, u64 "
    "cycle,\n"
    "                      u64 first, u64 last (stamps, TSC ticks)\n"
    "\n"
    "The last line is a JSON object. Exit status: 0 good, 1 something failed (standard error says what), 2 wrong "
    "usage.\n";

static enum rm_code take_core(void *value, char const *text, struct rm_error *error) {
    struct rm_receiver_options *const options = value;
    uint64_t core;
    if (options->core_count == RM_LINKS_MAX)
        return rm_fail(error, RM_E_ARGUMENT, "--core: at most %d of them", RM_LINKS_MAX);
    if (!rm_whole_parse(text, 0, RM_CORE_MOST, &core))
        return rm_fail(error, RM_E_ARGUMENT, "--core: found \"%s\", expected a whole number from 0 to %d", text,
                       RM_CORE_MOST);
    options->core[options->core_count++] = (uint32_t)core;
    return RM_OK;
}

static enum rm_code take_link(void *value, char const *text, struct rm_error *error) {
    struct rm_receiver_options *const options = value;
    if (options->link_count == RM_LINKS_MAX)
        return rm_fail(error, RM_E_ARGUMENT, "--link: at most %d of them", RM_LINKS_MAX);
    if (options->core_count == 0)
        return rm_fail(error, RM_E_ARGUMENT, "--link %s stands before the --core whose thread is to poll it", text);
    ++options->core_links[options->core_count - 1];
    return rm_link_parse(text, &options->link[options->link_count++], error);
}

static enum rm_code receiver_options_check(struct rm_receiver_options const *options, struct rm_error *error) {
    for (uint32_t i = 0; i < options->core_count; ++i)
        if (options->core_links[i] == 0)
            return rm_fail(error, RM_E_ARGUMENT, "--core %u has no --link after it", options->core[i]);
    return rm_cycles_check(options->cycles, options->rate_hz, options->seconds, options->link_count, error);
}

enum rm_code rm_receiver_options_read(int argc, char **argv, struct rm_receiver_options *options,
                                      struct rm_error *error) {
    *options = (struct rm_receiver_options){.idle_s = 5};
    struct rm_option list[] = {
        {"core", options, .kind = RM_OPTION_TAKE, .take = take_core, .place = RM_REQUIRED},
        {"link", options, .kind = RM_OPTION_TAKE, .take = take_link, .place = RM_REQUIRED},
        {"instruments", &options->instruments, 1, FLOWS, .kind = RM_OPTION_WHOLE, .place = RM_REQUIRED},
        {"rate", &options->rate_hz, 0, 1e8, .kind = RM_OPTION_NUMBER, .place = RM_REQUIRED},
        {"seconds", &options->seconds, 1e-3, 1e6, .kind = RM_OPTION_NUMBER, .place = RM_REQUIRED},
        {"warm-up", &options->warm_up_s, 0, 1e6, .kind = RM_OPTION_NUMBER},
        {"idle-s", &options->idle_s, 0.1, 1e6, .kind = RM_OPTION_NUMBER},
        {"cycles", &options->cycles, .kind = RM_OPTION_TEXT},
    };
    enum rm_code const code = rm_options_read(argc, argv, list, sizeof list / sizeof *list, error);
    return code == RM_OK ? receiver_options_check(options, error) : code;
}
