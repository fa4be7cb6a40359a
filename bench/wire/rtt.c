// SPDX-License-Identifier: Apache-2.0
/** The near end of a round trip: sends a probe at a fixed rate, and notes when each comes back from the reflector.
 *
 *     ringmaster-rtt LINK --core C --rate HZ --seconds S [OPTION]…
 *
 * Prints {"ready": true} when the reflector has answered, and a JSON object at its end; --samples has the times of each
 * probe.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/fail.h"
#include "base/options.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "probe.h"
#include "trip.h"

static char const usage[] =
    "Usage: ringmaster-rtt LINK --core C --rate HZ --seconds S [OPTION]…\n"
    "\n"
    "Sends probes over LINK to a ringmaster-reflect at its other end, and says what came back.\n"
    "  --core C          run on this CPU\n"
    "  --rate HZ         probes per second\n"
    "  --seconds S       for so long, after the warm-up\n"
    "  --warm-up S       probes before, which do not count; 0.5 if not said\n"
    "  --size BYTES      of payload, from 18, which is the default, to what the link's MTU takes\n"
    "  --samples FILE    write three little-endian u64 TSC ticks per probe: due, sent, received (0: never came)\n"
    "  --timeout-ms T    wait so long for the last answers; 1000 if not said\n"
    "\n"
    "Links: memif:/tmp/a.sock,role=client  af_packet:veth0  af_xdp:veth0  pci:0000:03:00.0  raw:veth0[,wait=spin]\n"
    "       udp:10.99.0.1:4660,peer=10.99.0.2:4660[,wait=spin]\n"
    "\n"
    "Exit status: 0 good, 1 something failed (one line on standard error says what), 2 wrong usage.\n";

struct options {
    uint64_t core, size;
    double rate_hz, seconds, warm_up_s, timeout_ms;
    char const *samples; /**< NULL: nowhere */
};

static void print_round_trips(struct rm_trip *trip) {
    struct rm_probes const *const probes = &trip->probes;
    struct rm_probes_summary const sum = rm_probes_sum(probes);
    struct rm_link_statistics totals;
    rm_link_totals(trip->link, &totals);
    double const seconds = sum.ticks / trip->tsc_hz;
    printf("{\"tsc_hz\": %.0f, \"probes\": %llu, \"received\": %llu, \"lost\": %llu, \"duplicate\": %llu, \"foreign\": "
           "%llu, \"seconds\": %.6f, \"rate_hz\": %.3f, \"sent_late\": %llu, \"longest_gap_us\": %.1f, "
           "\"gaps_over_10us\": %llu, \"size\": %u, \"missed\": %llu, \"unsent\": %llu, \"interrupted\": %s, "
           "\"hardware_stamps\": \"%s\"}\n",
           trip->tsc_hz, (unsigned long long)sum.probes, (unsigned long long)sum.received, (unsigned long long)sum.lost,
           (unsigned long long)probes->duplicate, (unsigned long long)totals.foreign + trip->foreign, seconds,
           sum.probes == 0 ? 0 : (double)sum.probes / seconds, (unsigned long long)probes->late,
           (double)trip->polling.longest_gap / trip->tsc_hz * 1e6, (unsigned long long)trip->polling.gaps_over_10us,
           trip->payload_bytes, (unsigned long long)totals.missed, (unsigned long long)totals.unsent,
           rm_stop_requested(&trip->stop) ? "true" : "false", rm_link_hardware_stamps(trip->link));
}

/** Over an open link. */
static enum rm_code measure_round_trips(struct rm_trip *trip, struct options const *options, struct rm_error *error) {
    enum rm_code code = rm_pin((uint32_t)options->core, error);
    if (code == RM_OK)
        code = rm_trip_find(trip, error);
    if (code == RM_OK) {
        puts("{\"ready\": true}");
        fflush(stdout);
        code = rm_trip_fly(trip, error);
    }
    if (code != RM_OK)
        return code;
    rm_trip_wait(trip, options->timeout_ms * 1e-3);
    print_round_trips(trip);
    return options->samples != NULL ? rm_probes_write(&trip->probes, options->samples, error) : RM_OK;
}

static enum rm_code run_round_trips(struct rm_trip *trip, struct options const *options,
                                    struct rm_link_config const *config, struct rm_error *error) {
    uint64_t const warm_up = (uint64_t)(options->warm_up_s * options->rate_hz);
    double const counted = options->seconds * options->rate_hz;
    uint64_t const count = warm_up + (counted < 1 ? 1 : (uint64_t)(counted + 0.5));
    enum rm_code code = rm_probes_make(&trip->probes, count, warm_up, trip->tsc_hz / options->rate_hz, error);
    if (code == RM_OK)
        code = rm_links_open(config, 1, &trip->link, error);
    if (code == RM_OK) {
        code = measure_round_trips(trip, options, error);
        rm_links_close(&trip->link, 1);
    }
    rm_probes_free(&trip->probes);
    return code;
}

static enum rm_code take_link(void *value, char const *text, struct rm_error *error) {
    return rm_link_parse(text, value, error);
}

static enum rm_code read_round_trip_options(int argc, char **argv, struct rm_link_config *config,
                                            struct options *options, struct rm_error *error) {
    *options = (struct options){.size = RM_PROBE_BYTES, .warm_up_s = 0.5, .timeout_ms = 1000};
    struct rm_option known[] = {
        {"LINK", config, .kind = RM_OPTION_TAKE, .take = take_link, .place = RM_WORD},
        {"core", &options->core, 0, RM_CORE_MOST, .kind = RM_OPTION_WHOLE, .place = RM_REQUIRED},
        {"rate", &options->rate_hz, 0.1, 1e7, .kind = RM_OPTION_NUMBER, .place = RM_REQUIRED},
        {"seconds", &options->seconds, 1e-3, 1e6, .kind = RM_OPTION_NUMBER, .place = RM_REQUIRED},
        {"warm-up", &options->warm_up_s, 0, 1e3, .kind = RM_OPTION_NUMBER},
        {"size", &options->size, RM_PROBE_BYTES, UINT16_MAX, .kind = RM_OPTION_WHOLE},
        {"samples", &options->samples, .kind = RM_OPTION_TEXT},
        {"timeout-ms", &options->timeout_ms, 1, 1e5, .kind = RM_OPTION_NUMBER},
    };
    enum rm_code const code = rm_options_read(argc, argv, known, sizeof known / sizeof known[0], error);
    if (code == RM_OK && options->size > rm_link_largest_payload(config))
        return rm_fail(error, RM_E_ARGUMENT, "--size: %llu bytes do not fit an MTU of %u; expected at most %u",
                       (unsigned long long)options->size, config->mtu, rm_link_largest_payload(config));
    return code;
}

int main(int argc, char **argv) {
    static struct rm_trip trip;
    static struct rm_link_config config;
    struct options options;
    struct rm_error error;
    if (rm_options_help(argc, argv)) {
        fputs(usage, stdout);
        return 0;
    }
    enum rm_code code = read_round_trip_options(argc, argv, &config, &options, &error);
    if (code != RM_OK)
        return rm_options_refuse(&error);
    prctl(PR_SET_TIMERSLACK, 1);
    trip.tsc_hz = rm_tsc_hz_measure();
    trip.flow = (uint16_t)rm_tai_ns();
    trip.payload_bytes = (uint32_t)options.size;
    code = rm_stop_start(&trip.stop, &error);
    if (code == RM_OK) {
        code = run_round_trips(&trip, &options, &config, &error);
        rm_stop_finish(&trip.stop);
    }
    if (code != RM_OK)
        fprintf(stderr, "ringmaster-rtt: %s\n", error.text);
    return code == RM_OK ? 0 : 1;
}
