// SPDX-License-Identifier: Apache-2.0
/** What the server is to do: its configuration file, checked and resolved.
 *
 *     struct rm_config *config;
 *     struct rm_error error;
 *     if (rm_config_load("demo.yaml", &config, &error) != RM_OK)
 *         errx(1, "%s", error.text);             // demo.yaml:12:11: ports[0].kind: found "mem", expected …
 *     …
 *     rm_config_free(config);
 *
 * docs/configuration.md has the file's keys; here names have become indices, absent keys their defaults, and every
 * value is in the range given beside it. So code that has a struct rm_config need not check it again. It is read-only
 * after rm_config_load and may then be read by any number of threads. Arrays go with the count before them.
 */
#ifndef RM_CONFIG_CONFIG_H
#define RM_CONFIG_CONFIG_H

#include <stdint.h>
#include <stdio.h>

#include <ringmaster/error.h>
#include <ringmaster/grant.h>
#include <ringmaster/parameter.h>
#include <ringmaster/record.h>
#include <ringmaster/stream.h>

#include "config/cameras.h"
#include "config/router.h"
#include "filter/decimator.h"
#include "format/format.h"
#include "net/port.h"

enum {
    /** Bytes of a name, [a-z0-9_-]{1,24}, with the terminating zero. */
    RM_CONFIG_NAME_BYTES = 25,
    /** Bytes of the file's path, with the terminating zero. */
    RM_CONFIG_PATH_BYTES = 1024,
    /** Most ports. */
    RM_CONFIG_PORTS_MAX = 16,
    /** Most receive queues of one port. */
    RM_CONFIG_QUEUES_MAX = 16,

    RM_CONFIG_INSTRUMENTS_MAX = 1024,
    RM_CONFIG_ROLES_MAX = 64,
    /** Most roles of a configuration: those of the file, housekeeping and the exception path. */
    RM_CONFIG_ROLES_MADE_MAX = RM_CONFIG_ROLES_MAX + 2,
    /** Most cores of a server, those without roles as well. */
    RM_CONFIG_CORES_MAX = 64,
    RM_CONFIG_FORMATS_MAX = 16,
    RM_CONFIG_RATES_MAX = 8,
    /** Most decimators in a row from one rate to the next. */
    RM_CONFIG_STAGES_MAX = 4,

    RM_CONFIG_CHAINS_MAX = 128,
    RM_CONFIG_SUPPLIES_MAX = 2048,
    RM_CONFIG_APPLICATIONS_MAX = 16,
    /** Bytes of a supply's name, [a-z0-9_/-]{1,64}, with the terminating zero: "sr/ps/ch_s01_01". */
    RM_CONFIG_SUPPLY_NAME_BYTES = 65,
    /** Bytes of a stream's name, "bpm01/fast". */
    RM_CONFIG_INPUT_BYTES = 2 * RM_CONFIG_NAME_BYTES,
    /** Servers of a pair, and links between them. */
    RM_CONFIG_SERVERS = 2,
    RM_CONFIG_LINKS_MAX = 2,
    /** UDP port at which chains listen, unless the file says another; setpoints come from it. */
    RM_CONFIG_SETPOINT_UDP_PORT = 4662,
};

/** An instrument's turn_offset is at most this, either way. So its counter and offset do not overflow together. */
#define RM_TURN_OFFSET_MAX ((int64_t)RM_TURN_END)

/** Value of a port's vlan: tagged or not, any. */
#define RM_CONFIG_ANY_VLAN UINT16_MAX

/** A rate's `from`: the records as they came. */
#define RM_CONFIG_FROM_TURN UINT32_MAX

/** One way in for datagrams. */
struct rm_config_port {
    /** Configuration for rm_port_open. */
    struct rm_port_config port;
    /** Destination UDP port of instruments' datagrams; for a udp port, its own. */
    uint16_t udp_port;
    /** VLAN, 0–4094, or RM_CONFIG_ANY_VLAN. */
    uint16_t vlan;
    /** Senders are on this host, whose kernel leaves UDP checksums unfinished. */
    bool local_senders;
    /** The server's own address on this port: setpoints come from there; with an exception path it answers ARP and
     * ping; 0: none. */
    uint32_t answer_ipv4;
    /** Name of the tap that gives the kernel what no instrument sent; "": there is none. */
    char kernel_interface[RM_PORT_NAME_BYTES];
    /** Cameras' packets come in here: the server does not open it. */
    bool cameras;
};

/** A decimated rate: each instrument that sends every turn has a stream NAME/RATE of it; instrument_rates.h says what
 * others have. Rates are ordered so that `from` comes before. */
struct rm_config_rate {
    char name[RM_CONFIG_NAME_BYTES];
    /** Index into rm_config.rate, or RM_CONFIG_FROM_TURN. */
    uint32_t from;

    uint32_t stage_count;
    /** In the order in which records pass them. */
    struct rm_fir_design const *stage[RM_CONFIG_STAGES_MAX];
    /** Product of the stages' decimations. */
    uint32_t decimation;
    /** Turns from one record to the next, up to 2^26. */
    uint32_t period;
    /** Slots of each stream. */
    uint64_t records;
};

/** The other of two mirrored networks that an instrument sends the same datagrams on. */
struct rm_config_mirror {
    bool present;
    /** Index into rm_config.port; polled by the same role as the instrument's own. */
    uint32_t port;
    /** Source address on that network, host byte order. */
    uint32_t source_ipv4;
};

struct rm_config_calibration {
    /** Path of a CSV file; "" when there is none. */
    char path[RM_CONFIG_PATH_BYTES];
    /** RM_CALIBRATED_NOT when there is none. */
    enum rm_calibrated apply;
};

struct rm_config_polling {
    /** Packets per poll that are aimed at, 1–32; 0: never wait. */
    uint32_t target_packets;
    /** Longest wait between two polls, 0–1000000 ns. */
    uint32_t longest_wait_ns;
    /** Cores of server and virtual ring nap where they find nothing to do (base/idle.h). */
    bool naps;
};

/** One instrument electronics, which sends one record per turn, or per `period_turns`. Its streams are NAME/turn, or
 * NAME/raw where the period is another than 1, and one for each rate. */
struct rm_config_instrument {
    char name[RM_CONFIG_NAME_BYTES];
    /** Name of the file's entry that made it: the instrument's own, or without the number that `count` appended. ""
     * for a readback. */
    char entry[RM_CONFIG_NAME_BYTES];
    enum rm_instrument_kind kind;
    /** Id in the datagram; (port, source_ipv4, id) is unique. */
    uint16_t id;
    /** Index into rm_config.port. */
    uint32_t port;
    /** The address it sends from, host byte order. */
    uint32_t source_ipv4;

    struct rm_config_mirror mirror;
    /** Index into rm_config.format. */
    uint32_t format;
    /** Turns from one record to the next, 1 … 65536. */
    uint32_t period_turns;
    /** Turns that are added to the turn of its datagrams. */
    int64_t turn_offset;
    /** It is a chain's readback: its turns are our own, so they say nothing about the turn clock. */
    bool follows;
    /** 1–12. */
    uint32_t lane_count;

    struct rm_lane_info lane[RM_LANES];
};

/** Sizes of the rings in shared memory, in records of 64 bytes. */
struct rm_config_buffers {
    /** Of each turn-rate stream: a power of two, 2^14 … 2^32. */
    uint64_t turn_records;
    /** Of each fast decimated stream: a power of two, 2^10 … 2^32; others follow from it. */
    uint64_t fast_records;
};

/** Which turns are accepted, and how long a missing one is waited for. */
struct rm_config_turn_window {
    /** Turns accepted above the turn clock, 1 … 4096. */
    uint32_t ahead_turns;
    /** Turns accepted below a stream's head, a power of two, 64 … 65536. */
    uint32_t late_turns;
    /** The head of a silent stream follows the clock at this distance, late_turns … 2^30. */
    uint32_t silence_turns;
    /** Instruments that must agree to re-anchor the clock; 0: more than half of those that send. */
    uint32_t quorum;
    /** Turns; an instrument further from the turn clock is a fault. */
    uint32_t phase_turns;
    /** Newer turns that a decimator waits for a missing one, 1 … late_turns. */
    uint32_t gap_turns;
};

/** When and how often setpoints are sent. */
struct rm_config_setpoints {
    /** Turns from one cycle to the next, 1 … 65536; 0: there are no chains. */
    uint32_t period_turns;
    /** 0 … period_turns - 1: the cycle of turn T (a multiple of the period) goes out when the turn clock stands at T +
     * phase_turns, at the latest. */
    uint32_t phase_turns;
    /** Index into rm_config.application: its vector sends the cycle at once; 0: no application leads. */
    uint32_t lead;
    /** Cycles without an answer after which a chain is lost, 2 … 10000. */
    uint32_t lost_cycles;
    /** Path of the file that keeps the highest term; "" when there is none. */
    char terms_path[RM_CONFIG_PATH_BYTES];
};

/** One end of a link between two servers; host byte order. */
struct rm_config_link {
    uint32_t ipv4;
    uint16_t port;
};

/** One server of a pair. */
struct rm_config_server {
    char name[RM_CONFIG_NAME_BYTES];
    /** 1 or 2; both servers have as many. */
    uint32_t link_count;
    /** Where it listens; the link of a number joins the two ends of this number. */
    struct rm_config_link link[RM_CONFIG_LINKS_MAX];
};

/** Two servers, one machine: docs/standby.md. */
struct rm_config_standby {
    /** False: the file is of one server, and all else is 0. */
    bool present;
    /** Index into `server` of the one that was loaded: that of FILE@NAME. */
    uint32_t own;
    /** The first one has the higher priority. */
    struct rm_config_server server[RM_CONFIG_SERVERS];
    /** Cycles without setpoints after which the standby may ask, 2 … 60. */
    uint32_t missed_cycles;
    /** Cycles without any server after which one begins; more than missed_cycles. */
    uint32_t begin_cycles;
    /** Path of the file with the key that both share. */
    char key_path[RM_CONFIG_PATH_BYTES];
};

/** A daisy chain of supplies: one datagram each cycle, one answer. Its readbacks are instruments, at the end of
 * rm_config.instrument: CHAIN, or CHAIN_a, CHAIN_b, … for each ten supplies. */
struct rm_config_chain {
    char name[RM_CONFIG_NAME_BYTES];
    /** Name of the file's entry that made it: the chain's own, or without its number. */
    char entry[RM_CONFIG_NAME_BYTES];
    /** 1 … 16383, unique. */
    uint16_t id;
    /** Index into rm_config.port: setpoints leave by that port, and answers come by it. */
    uint32_t port;
    /** Address of the chain's controller, from which it answers; host byte order. */
    uint32_t address_ipv4;
    /** MAC address of the controller; broadcast where the file has none. */
    uint8_t mac[6];
    /** UDP port that the chain listens to. */
    uint16_t udp_port;
    /** False: it does not answer, and is taken to obey. */
    bool readback;
    /** The chain's own time-out: setpoints that stay away for so long stop it. 0: the file does not say it; INFINITY:
     * never. */
    double timeout_s;
    /** Index of its first supply in rm_config.supply. */
    uint32_t first_supply;
    /** 1 … RM_CHAIN_SUPPLIES_MAX. */
    uint32_t supply_count;
    /** Index of its first readback in rm_config.instrument; only where it has readbacks. */
    uint32_t first_instrument;

    uint32_t instrument_count;
};

/** One supply. Numbers are in `unit`. */
struct rm_config_supply {
    char name[RM_CONFIG_SUPPLY_NAME_BYTES];
    uint32_t chain;
    /** Index into rm_config.application that owns it; 0: the operator. */
    uint32_t application;

    char unit[RM_UNIT_BYTES];
    /** low < high. */
    double low, high;
    /** More than 0. */
    double slew_per_s;
    /** Setpoint when the application stops, within the limits. */
    double safe;
    /** More than 0, at most slew_per_s. */
    double safe_slew_per_s;
    /** By how much the readback may differ from the setpoint; more than 0. */
    double tolerance;
    /** Cycles after the setpoint's last move for which the readback may differ by more. */
    uint32_t settle_cycles;

    struct rm_conversion conversion;
};

struct rm_config_setting {
    char name[RM_CONFIG_NAME_BYTES];
    double value;
};

/** One application. Number 0 is the operator: people and programs that set supplies by hand, which no application
 * owns. */
struct rm_config_application {
    char name[RM_CONFIG_NAME_BYTES];
    /** Path of its shared object; "" for the operator. */
    char code[RM_CONFIG_PATH_BYTES];
    /** Path of its own configuration file; "" when there is none. */
    char configuration[RM_CONFIG_PATH_BYTES];
    /** User of the system whose process it will be; "": the server's own user. */
    char user[RM_CONFIG_NAME_BYTES];
    /** It runs on a core of the server, by a role `application`; else it is a process of its own. */
    bool hosted;
    /** Core of its own process; -1: any. */
    int32_t core;
    /** Turns from one step to the next; a multiple of the cycles' period. */
    uint32_t period_turns;
    /** Turns for which inputs are waited for after the clock expects them. */
    uint32_t deadline_turns;

    uint64_t freshness_turns;
    /** In its own periods; default 10. */
    uint32_t watchdog_cycles;

    enum rm_stop_action stop;
    uint32_t input_count;
    /** Names of streams, "bpm01/fast", or "tune/tune" of an application before it: their periods divide its own. */
    char (*input)[RM_CONFIG_INPUT_BYTES];

    uint32_t supply_count;
    /** Indices into rm_config.supply, in the order of its setpoints: as the file lists them; supplies that one pattern
     * matches are in the order of the chains. */
    uint32_t *supply;

    uint32_t setting_count;
    struct rm_config_setting *setting;
};

enum rm_role_kind {
    /** Polls queues and fills the streams of the instruments behind them. */
    RM_ROLE_RECEIVE,
    /** Everything that must not happen on the hot path; there is exactly one. */
    RM_ROLE_HOUSEKEEPING,
    /** Deals the frames of one-queue devices out to software queues. */
    RM_ROLE_SPREAD,
    /** Handles what no instrument sent: passes it to the kernel and back, or answers; at most one. */
    RM_ROLE_EXCEPTION_PATH,
    /** Guards setpoints, and sends them to the supplies; exactly one where there are chains, else none. */
    RM_ROLE_TRANSMIT,
    /** Steps a hosted application; one for each. */
    RM_ROLE_APPLICATION,
    /** Generates traffic on its ports, and tells what comes back. */
    RM_ROLE_GENERATE,
    /** Forwards packets between ports: the router. */
    RM_ROLE_FORWARD,
};

/** One receive queue of one port. */
struct rm_config_queue {
    /** Index into rm_config.port. */
    uint32_t port;
    /** 0 … queues - 1 of that port. */
    uint16_t queue;
};

/** One piece of work and the core it runs on. Several roles may share a core. */
struct rm_config_role {
    enum rm_role_kind kind;
    /** Number of the core, as sched_setaffinity counts; this process may run there. */
    uint32_t core;

    uint32_t queue_count;
    /** receive: so many queues, at the beginning of the list, are served first; not all of them. */
    uint32_t first_count;
    /** receive, generate, forward: one queue or more. spread: queue 0 of each port. NULL for others. Queues of one port
     * may go to several roles: receive roles where datagrams are steered (rm_port_steering), forward roles anyway. */
    struct rm_config_queue *queue;
    /** application: index into rm_config.application. */
    uint32_t application;
    /** generate: path of the commands that it begins with; "" when there are none. */
    char script[RM_CONFIG_PATH_BYTES];
};

struct rm_config {
    /** The file it came from, without the server's name of FILE@NAME. */
    char source_path[RM_CONFIG_PATH_BYTES];
    /** The file's text; of a pair's file with {server} and {number} replaced. */
    char *text;

    char workspace[RM_CONFIG_NAME_BYTES];
    /** The sender's time waits for the leader's setpoints: the clock stands between arrivals, and cycles are not sent
     * by time. */
    bool simulated_time;
    /** A stop in good order leaves the workspace as a kill does, for the next start to take over. */
    bool keep_after_stop;
    /** DPDK's telemetry socket is there, with the server's commands: engine/telemetry_answers.h. */
    bool dpdk_telemetry;
    /** Receives the errors of rm_config_fail while the file is read; then it is NULL. */
    struct rm_errors *errors;
    /** Nominal revolution frequency, above 0, up to 100 MHz. */
    double turn_rate_hz;

    struct rm_config_buffers buffers;
    struct rm_config_turn_window turn_window;
    /** At least 1, like the next two counts. */
    uint32_t port_count;

    struct rm_config_port *port;
    uint32_t format_count;
    /** Number 0 is native. */
    struct rm_format *format;

    uint32_t instrument_count;
    struct rm_config_instrument *instrument;
    /** At least 1. */
    uint32_t rate_count;

    struct rm_config_rate rate[RM_CONFIG_RATES_MAX];
    struct rm_config_calibration calibration;
    struct rm_config_polling polling;
    struct rm_config_setpoints setpoints;
    struct rm_config_standby standby;
    uint32_t chain_count;
    uint32_t camera_count;
    struct rm_config_chain *chain;
    uint32_t supply_count;
    /** In the order of the chains. */
    struct rm_config_supply *supply;
    /** The operator is counted, so it is at least 1. */
    uint32_t application_count;

    uint32_t role_count;
    struct rm_config_application *application;
    /** In the file's order; a housekeeping role that the file lacks comes last. */
    struct rm_config_role *role;
    /** Cores to which roles may move besides those that have some; ascending. They and the roles' are at most
     * RM_CONFIG_CORES_MAX. */
    uint32_t spare_core[RM_CONFIG_CORES_MAX];
    uint32_t spare_core_count;
    /** What roles forward do; NULL where there are none. */
    struct rm_config_router *router;
    /** Those who send images. */
    struct rm_config_camera *camera;
};

/** Reads and checks the file. `path` is FILE, or FILE@NAME for one of the two servers of a pair's file: then {server} and
 * {number} in the file's texts are its name and 1 or 2. RM_E_SYSTEM when it cannot be read; RM_E_CONFIG and one line
 * "FILE:LINE:COLUMN: key: what is wrong, what was expected" for everything else. Opens and starts nothing. */
enum rm_code rm_config_load(char const *path, struct rm_config **config, struct rm_error *error);

/** The same, but adds all errors to `errors`: all errors against the schema, or else all that can be found in spite of
 * the others. */
enum rm_code rm_config_load_all(char const *path, struct rm_config **config, struct rm_errors *errors);

/** Loads the part of the file that describes the machine: ports, formats, instruments, rates, setpoints, chains. The
 * rest, which concerns the server alone (roles on its cores, applications, calibration), is neither checked nor
 * loaded, so that a virtual ring reads the same file on any host. Errors as in rm_config_load_all. */
enum rm_code rm_config_load_machine(char const *path, struct rm_config **config, struct rm_errors *errors);

/** Both servers of a pair's file that is named without one, in the file's order; else one. Errors as in
 * rm_config_load_all, of the first server that has some. */
enum rm_code rm_config_load_each(char const *path, struct rm_config *config[RM_CONFIG_SERVERS], uint32_t *count,
                                 struct rm_errors *errors);

/** The same of the part that describes the machine. */
enum rm_code rm_config_load_machines(char const *path, struct rm_config *config[RM_CONFIG_SERVERS], uint32_t *count,
                                     struct rm_errors *errors);

enum { RM_CONFIG_KEY_BYTES = 32 };

/** Reads the key that both servers of a pair share: 64 hexadecimal digits, in a file that only its owner may read.
 * Errors say how to make one: RM_E_CONFIG, at the configuration's key "standby.key". */
enum rm_code rm_config_read_key(struct rm_config const *config, uint8_t key[RM_CONFIG_KEY_BYTES],
                                struct rm_error *error);

/** The instrument whose stream an input is, "bpm01/fast"; NULL: it is another application's. */
struct rm_config_instrument const *rm_config_input_instrument(struct rm_config const *config, char const *stream);

/** Index of the application whose stream an input is, "tune/tune"; 0: it is an instrument's. */
uint32_t rm_config_input_application(struct rm_config const *config, char const *stream);

/** True when one of the role's queues is of that port. */
bool rm_config_role_polls(struct rm_config_role const *role, uint32_t port);
/** True when a role forward polls that port. */
bool rm_config_is_forwarded(struct rm_config const *config, uint32_t port);

/** Frees everything. NULL is allowed. */
void rm_config_free(struct rm_config *config);

/** For errors that show only later (a port that does not open): writes "FILE:LINE:COLUMN: key: text" with the place of
 * `key`, for example "turn_window.quorum", in the file that `config` came from. Returns RM_E_CONFIG. */
enum rm_code rm_config_fail(struct rm_config const *config, struct rm_error *error, char const *key, char const *format,
                            ...) __attribute__((format(printf, 4, 5)));

/** The same for one entry of a list: ("ports", 1, "socket") is the key "ports[1].socket", with a NULL member
 * "ports[1]". */
enum rm_code rm_config_fail_entry(struct rm_config const *config, struct rm_error *error, char const *list,
                                  uint32_t index, char const *member, char const *format, ...)
    __attribute__((format(printf, 6, 7)));

/** The words that the file uses: "bpm", "memif", "receive". */
char const *rm_config_instrument_kind_name(enum rm_instrument_kind kind);
char const *rm_config_port_kind_name(enum rm_port_kind kind);
char const *rm_config_role_name(enum rm_role_kind kind);

/** Bytes of shared memory that all streams' rings will take. */
uint64_t rm_config_stream_bytes(struct rm_config const *config);

/** Destination UDP port of a format's datagrams on a port: the format's own, or the port's. */
uint16_t rm_config_udp_port(struct rm_config const *config, uint32_t port, uint32_t format);

/** Prints a summary for people: ports, instruments, streams, memory, chains of supplies, applications, cores with
 * their roles. It ends with remarks on what may not be intended. */
void rm_config_describe(struct rm_config const *config, FILE *out);

/** Prints that of a pair: the first server's, and those lines of the second one's that differ. */
void rm_config_describe_pair(struct rm_config const *first, struct rm_config const *second, FILE *out);

#endif
