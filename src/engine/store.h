// SPDX-License-Identifier: Apache-2.0
/** The server's segment: which objects a configuration asks for, and where each lies. */
#ifndef RM_ENGINE_STORE_H
#define RM_ENGINE_STORE_H

#include <ringmaster/clock.h>
#include <ringmaster/counter.h>
#include <ringmaster/error.h>
#include <ringmaster/histogram.h>
#include <ringmaster/stream.h>

#include "config/config.h"
#include "engine/calibrate_store.h"
#include "engine/instrument.h"
#include "fabric/segment_file.h"

/** Objects of one instrument. */
struct rm_store_instrument {
    /** Its stream of the records as they came. */
    rm_planned_index own;
    /** [rate], as rm_instrument_rates gives them. */
    rm_planned_index rate[RM_CONFIG_RATES_MAX];

    rm_planned_index counters;
    /** [network] counters; only for mirrored instruments. */
    rm_planned_index path[RM_NETWORKS];
};

/** Histograms of a port in a role that generates. */
struct rm_store_generator {
    rm_planned_index jitter;
    rm_planned_index latency;
};

struct rm_store {
    struct rm_segment_plan plan;
    struct rm_segment segment;
    /** [instrument]. */
    struct rm_store_instrument *instrument;
    /** [port], but those of cameras. */
    rm_planned_index *port_counters;
    /** [role * port_count + port]; of roles that generate or forward and poll the port: sets "generator", "forward". */
    rm_planned_index *traffic_counters;
    /** [role * port_count + port]; of roles that generate and poll the port. */
    struct rm_store_generator *generator;
    /** Of the router's control side; only where roles forward. */
    rm_planned_index router_counters;
    /** [role]; receive roles only. */
    rm_planned_index *gate_counters;
    /** [role]; receive roles only. */
    rm_planned_index *latency;
    /** In the order of `core`. */
    rm_planned_index *core_counters;
    /** The distinct cores of the configuration, spare ones as well, ascending. */
    uint32_t *core;

    uint32_t core_count;
    /** NULL: there are none. */
    struct rm_calibrations *calibrations;

    rm_planned_index clock;
    rm_planned_index version;
    rm_planned_index turn_rate_hz;
    rm_planned_index simulated_time;
    rm_planned_index huge_pages;
    rm_planned_index simd;
    rm_planned_index steering;
    rm_planned_index roles;
    rm_planned_index replies;
};

/** Plans the segment, then opens or adopts it. The caller calls rm_segment_finish. */
enum rm_code rm_store_open(struct rm_store *store, struct rm_config const *config, struct rm_error *error);

/** Closes the segment in good order: its content stays for readers. */
void rm_store_close(struct rm_store *store);

/** Memory of an object. */
void *rm_store_memory(struct rm_store const *store, rm_planned_index index);

/** Writes the constant parameters: version, nominal rate, pages, instruction set. Call it before rm_segment_finish. */
void rm_store_write_parameters(struct rm_store *store, struct rm_config const *config, enum rm_simd simd,
                               bool huge_pages);

/** Writes which role and core each instrument comes to: lines "INSTRUMENT PORT QUEUE ROLE CORE METHOD". False when there
 * is no memory. Call both before rm_segment_finish, and when a role has moved. */
bool rm_store_write_steering(struct rm_store *store, char const *text);
/** Writes where each role runs: lines "ROLE KIND CORE MOVES STOOD_NS". */
bool rm_store_write_roles(struct rm_store *store, char const *text);

#endif
