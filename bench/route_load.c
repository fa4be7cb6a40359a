// SPDX-License-Identifier: Apache-2.0
/** How long a million routes take into both tables of a router, on one core; and as many networks of the lengths that
 * the internet has are looked up.
 *
 *     ringmaster-route-load ROUTES         prints a JSON object
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/options.h"
#include "base/timebase.h"
#include "forward/routes.h"
#include "net/port.h"
#include "wire/network_order.h"

/** Of 100 routes to networks of IPv4, roughly as the internet has them: 60 of /24, 10 each of /23 and /22, the rest from
 * /16 to /21. */
static uint8_t const LENGTHS[] = {24, 24, 24, 24, 24, 24, 23, 22, 20, 18};

static uint64_t state = 1;

static uint32_t draw(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

static void end_if(bool wrong, struct rm_error const *error) {
    if (!wrong)
        return;
    fprintf(stderr, "ringmaster-route-load: %s\n", error->text);
    exit(1);
}

/** Adds a route to a network that may be there already; returns whether it was not. */
static bool add_route(struct rm_routes *routes, uint32_t hop) {
    uint8_t const length = LENGTHS[draw() % sizeof LENGTHS];
    struct rm_route route = {.path_count = 1, .path = {{.hop = hop, .weight = 1}}};
    struct rm_error error;
    uint32_t const before = rm_routes_count(routes, false);
    route.prefix.length = length;
    rm_store32(route.prefix.ip.byte, (1u << 24 | draw() % (223u << 24)) & ~((1u << (32 - length)) - 1));
    end_if(rm_route_set(routes, &route, &error) != RM_OK, &error);
    return rm_routes_count(routes, false) != before;
}

int main(int argc, char **argv) {
    uint64_t count = 0;
    struct rm_option options[] = {{"ROUTES", &count, 1, 4e6, .kind = RM_OPTION_WHOLE, .place = RM_WORD}};
    rm_options_or_exit(argc, argv, "Usage: ringmaster-route-load ROUTES\n", options, 1);
    struct rm_routes_limits const limits = {.ipv4_routes = (uint32_t)count};
    struct rm_net_config const net = {.prefix = "ringmaster-route-load",
                                      .memory_mib = 64 + rm_routes_memory_mib(&limits)};
    struct rm_error error;
    struct rm_routes *routes = NULL;
    end_if(rm_net_start(&net, &error) != RM_OK, &error);
    end_if(rm_routes_make(&routes, &limits, 0, &error) != RM_OK, &error);
    struct rm_interface const interface = {.up = true, .mtu = 1500};
    end_if(rm_routes_set_interface(routes, 0, &interface, &error) != RM_OK, &error);
    uint32_t hop[64];
    for (uint32_t i = 0; i < 64; ++i) {
        struct rm_ip const gateway = {.byte = {10, 0, 0, (uint8_t)(i + 2)}};
        end_if(rm_hop_take(routes, 0, &gateway, &hop[i], &error) != RM_OK, &error);
    }
    double const tsc_hz = rm_tsc_hz_measure();
    struct timespec cpu;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    double const cpu_before = (double)cpu.tv_sec + (double)cpu.tv_nsec * 1e-9;
    uint64_t const begin = rm_tsc();
    for (uint64_t added = 0; added < count;)
        added += add_route(routes, hop[draw() % 64]);
    rm_routes_publish(routes); // and, as no core reads, the other table
    double const seconds = (double)(rm_tsc() - begin) / tsc_hz;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    printf("{\"routes\": %u, \"seconds\": %.3f, \"cpu_seconds\": %.3f, \"memory_mib\": %u}\n",
           rm_routes_count(routes, false), seconds, (double)cpu.tv_sec + (double)cpu.tv_nsec * 1e-9 - cpu_before,
           rm_routes_memory_mib(&limits));
    rm_routes_free(routes);
    rm_net_stop();
    return 0;
}
