// SPDX-License-Identifier: Apache-2.0
/** The configuration file as it is written, loaded by libcyaml: names are still names, and what may be absent is a
 * pointer, which is NULL only where the schema has no default. docs/configuration.md describes the keys. */
#ifndef RM_CONFIG_FILE_H
#define RM_CONFIG_FILE_H

#include <stdint.h>

#include "base/yaml.h"
#include "config/cameras_file.h"
#include "config/config.h"
#include "config/router_file.h"
#include "format/format_file.h"

enum rm_memif_role {
    RM_MEMIF_SERVER,
    RM_MEMIF_CLIENT,
};

struct rm_file_port {
    char *name;
    enum rm_port_kind kind;
    char *socket;
    enum rm_memif_role *role;
    char *interface;
    char *address;
    uint16_t *udp_port;
    uint16_t *queues;
    char *file;
    char *device;
    bool *spread;
    uint32_t *longest_frame;
    uint16_t *vlan;
    bool *local_senders;
    /** NULL: none. */
    char **multicast;
    uint32_t multicast_count;
    char *answer;
    char *kernel_interface;
};

struct rm_file_rate {
    char *name;
    char *from;
    char *filter;
    uint32_t decimation;
    uint64_t *records;
};

struct rm_file_calibration {
    char *file;
    enum rm_calibrated *apply;
};

struct rm_file_polling {
    uint32_t *target_packets;
    uint32_t *longest_wait_ns;
    bool *naps;
};

struct rm_file_mirror {
    char *port;
    /** NULL: the instruments' own records. */
    char *source;
};

struct rm_file_lane {
    char *name;
    char *unit;
    enum rm_lane_type type;
    /** NULL: the kind's own, or fir. */
    enum rm_reduction *reduction;
};

struct rm_file_instrument {
    char *name;
    enum rm_instrument_kind kind;
    uint16_t id;
    char *port;
    char *source;
    int64_t *turn_offset;
    /** NULL: the format's, or the kind's own. */
    struct rm_file_lane *lanes;
    uint32_t lanes_count;
    char *format;
    /** NULL: one instrument. */
    uint32_t *count;
    uint32_t *period_turns;
    struct rm_file_mirror *mirror;
};

struct rm_file_buffers {
    uint64_t *turn_records;
    uint64_t *fast_records;
};

struct rm_file_turn_window {
    uint32_t *ahead_turns;
    uint32_t *late_turns;
    uint32_t *silence_turns;
    uint32_t *quorum;
    uint32_t *gap_turns;
    uint32_t *phase_turns;
};

struct rm_file_role {
    enum rm_role_kind role;
    uint32_t core;
    char **ports;
    uint32_t ports_count;
    /** NULL: none. */
    char **first;
    uint32_t first_count;
    char *application;
    char *script;
};

struct rm_file_setpoints {
    uint32_t period_turns;
    uint32_t *phase_turns;
    /** NULL: no application leads. */
    char *lead;
    uint32_t *lost_cycles;
    /** NULL: no term is kept. */
    char *terms;
};

struct rm_file_server {
    char *name;
    char **links;
    uint32_t links_count;
};

struct rm_file_standby {
    char *key;
    uint32_t *missed_cycles;
    double *begin_s;
    struct rm_file_server *servers;
    uint32_t servers_count;
};

struct rm_file_conversion {
    char *unit;
    double *polynomial;
    uint32_t polynomial_count;
};

struct rm_file_supply {
    char *name;
    /** NULL: one supply. */
    uint32_t *count;
    char *unit;
    /** Low and high. */
    double *limits;
    uint32_t limits_count;
    double slew;
    double *safe;
    double *safe_slew;
    double *tolerance;
    uint32_t *settle_cycles;
    struct rm_file_conversion *convert;
};

struct rm_file_chain {
    char *name;
    /** NULL: one chain. */
    uint32_t *count;
    uint16_t id;
    char *port;
    char *address;
    /** NULL: broadcast. */
    char *mac;
    uint16_t *udp_port;
    bool *readback;
    /** NULL: not said. */
    double *timeout_us;
    struct rm_file_supply *supplies;
    uint32_t supplies_count;
};

struct rm_file_setting {
    char *name;
    double value;
};

struct rm_file_application {
    char *name;
    char *code;
    char *configuration;
    bool *hosted;
    uint32_t *core;
    char *user;
    uint32_t *period_turns;
    uint32_t *deadline_turns;
    uint64_t *freshness_turns;
    uint32_t *watchdog_cycles;
    enum rm_stop_action *stop;
    /** Names or patterns. */
    char **inputs;
    uint32_t inputs_count;
    /** Names or patterns. */
    char **supplies;
    uint32_t supplies_count;
    struct rm_file_setting *settings;
    uint32_t settings_count;
};

struct rm_config_file {
    char *workspace;
    double *turn_rate_hz;
    bool *simulated_time;
    bool *keep_after_stop;
    bool *dpdk_telemetry;
    struct rm_file_port *ports;
    uint32_t ports_count;
    /** NULL: the only instruments are the chains' readbacks. */
    struct rm_file_instrument *instruments;
    uint32_t instruments_count;
    uint32_t cameras_count;
    /** NULL: none. */
    struct rm_file_camera *cameras;
    struct rm_file_buffers *buffers;
    struct rm_file_turn_window *turn_window;
    struct rm_file_role *roles;
    uint32_t roles_count;
    /** NULL: none. */
    char *spare_cores;
    struct rm_file_format *formats;
    uint32_t formats_count;
    struct rm_file_rate *rates;
    uint32_t rates_count;
    struct rm_file_calibration *calibration;
    struct rm_file_polling *polling;
    struct rm_file_setpoints *setpoints;
    /** NULL: the file is of one server. */
    struct rm_file_standby *standby;
    struct rm_file_chain *chains;
    uint32_t chains_count;
    struct rm_file_application *applications;
    uint32_t applications_count;
    /** NULL: no role forwards. */
    struct rm_file_router *router;
};

/** Fields of struct rm_file_standby. */
extern cyaml_schema_field_t const rm_config_standby_fields[];

/** Schemas of struct rm_config_file, and of two of its entries, of which defaults are read. */
extern cyaml_schema_value_t const rm_config_schema, rm_config_port_schema, rm_config_application_schema;

#endif
