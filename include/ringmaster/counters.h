// SPDX-License-Identifier: Apache-2.0
/** Made from src/fabric/counters.toml by tools/generate_counters.py: change it there. */
#ifndef RINGMASTER_COUNTERS_H
#define RINGMASTER_COUNTERS_H

// clang-format off

/** Which set a block of counters is of; `variety` in its directory entry. */
enum rm_counter_set_id {
    RM_COUNTER_SET_PORT = 1,
    RM_COUNTER_SET_STREAM = 2,
    RM_COUNTER_SET_PATH = 3,
    RM_COUNTER_SET_CORE = 4,
    RM_COUNTER_SET_CLOCK = 5,
    RM_COUNTER_SET_SENDER = 6,
    RM_COUNTER_SET_GUARD = 7,
    RM_COUNTER_SET_CHAIN = 8,
    RM_COUNTER_SET_TRANSMIT = 9,
    RM_COUNTER_SET_APPLICATION = 10,
    RM_COUNTER_SET_SUPPLY = 11,
    RM_COUNTER_SET_RECORDER = 12,
    RM_COUNTER_SET_GENERATOR = 13,
    RM_COUNTER_SET_FORWARD = 14,
    RM_COUNTER_SET_ROUTER = 15,
    RM_COUNTER_SET_CAMERA = 16,
    RM_COUNTER_SET_STANDBY = 17,
    RM_COUNTER_SET_LINK = 18,
    RM_COUNTER_SET_FOLLOW = 19,
};

/** counters/port/NAME */
enum rm_port_counter {
    /** packets: frames or datagrams that the port gave to the receive role */
    RM_PORT_RECEIVED = 0,
    /** packets: whole datagrams of a configured instrument, handed to its stream */
    RM_PORT_DECODED = 1,
    /** packets: frames of another protocol: ARP, IPv6, LLDP; or with more than two VLAN tags */
    RM_PORT_NOT_IPV4 = 2,
    /** packets: IPv4 of another protocol: ICMP, TCP, IGMP */
    RM_PORT_NOT_UDP = 3,
    /** packets: UDP to a destination port other than the configured one */
    RM_PORT_NOT_OUR_PORT = 4,
    /** packets: IPv4 fragments put by; the one that makes its datagram whole counts as that datagram */
    RM_PORT_FRAGMENT = 5,
    /** packets: frames shorter than their own headers say */
    RM_PORT_TRUNCATED = 6,
    /** packets: IPv4 headers of impossible length or wrong checksum */
    RM_PORT_BAD_IP_HEADER = 7,
    /** packets: UDP checksums that are present and wrong */
    RM_PORT_BAD_UDP_CHECKSUM = 8,
    /** packets: UDP payloads shorter than their format allows */
    RM_PORT_TOO_SHORT = 9,
    /** packets: UDP payloads longer than their format allows */
    RM_PORT_TOO_LONG = 10,
    /** packets: UDP payloads that end in the middle of a lane or of an entry */
    RM_PORT_BAD_LENGTH = 11,
    /** packets: UDP payloads without the constants of their format */
    RM_PORT_BAD_MAGIC = 12,
    /** packets: native datagrams of a version this server does not know */
    RM_PORT_UNKNOWN_VERSION = 13,
    /** packets: native datagrams of an instrument kind that does not exist */
    RM_PORT_UNKNOWN_KIND = 14,
    /** packets: native datagrams of an instrument id that is not configured on this port */
    RM_PORT_UNKNOWN_INSTRUMENT = 15,
    /** packets: datagrams from an address that no instrument of theirs sends from */
    RM_PORT_UNKNOWN_SOURCE = 16,
    /** packets: native datagrams of a configured id that say they are of another kind */
    RM_PORT_WRONG_KIND = 17,
    /** packets: native datagrams of a configured id with another number of lanes */
    RM_PORT_WRONG_LANES = 18,
    /** packets, gauge: dropped before this program saw them, as far as the device tells: full queue, no buffer */
    RM_PORT_KERNEL_MISSED = 19,
    /** bytes: lengths of what was received, as the port saw them */
    RM_PORT_BYTES = 20,
    /** packets: frames of another VLAN than the port's */
    RM_PORT_WRONG_VLAN = 21,
    /** packets: fragments that overlap, contradict or overflow their datagram, which is dropped whole */
    RM_PORT_BAD_FRAGMENT = 22,
    /** datagrams: made whole out of fragments */
    RM_PORT_REASSEMBLED = 23,
    /** datagrams: given up: a fragment was missing for too long, or newer datagrams needed the room */
    RM_PORT_FRAGMENT_EXPIRED = 24,
    /** records: in decoded datagrams, handed to streams */
    RM_PORT_RECORDS = 25,
    /** records: in decoded datagrams, of an id that is not configured */
    RM_PORT_UNKNOWN_RECORD = 26,
    /** packets: of those that no instrument sent: handed to the exception path */
    RM_PORT_PUNTED = 27,
    /** packets: of those: dropped, because the exception path was behind */
    RM_PORT_PUNT_FULL = 28,
    /** packets: ARP requests, pings and IGMP queries that the exception path answered itself */
    RM_PORT_ANSWERED = 29,
    /** packets: punted and given to the kernel */
    RM_PORT_TO_KERNEL = 30,
    /** packets: sent out for the kernel */
    RM_PORT_FROM_KERNEL = 31,
    /** packets: lost between port and kernel, either way, or answers lost, because the other side was full */
    RM_PORT_KERNEL_FULL = 32,
    /** packets: dropped by software spreading, because the role behind a queue was behind */
    RM_PORT_SPREAD_FULL = 33,
    /** packets: UDP checksums that a sender on this host left unfinished: the port's `local_senders` takes them */
    RM_PORT_UNFINISHED_CHECKSUM = 34,
    /** packets: datagrams with one id for all of several instruments: another format, as the other Libera variant */
    RM_PORT_REPEATED_ID = 35,
    RM_PORT_COUNTERS = 36,
};

/** counters/stream/NAME */
enum rm_stream_counter {
    /** records: stored as the newest turn */
    RM_STREAM_ACCEPTED = 0,
    /** records: stored in their place after a newer turn: reordered or delayed */
    RM_STREAM_OUT_OF_ORDER = 1,
    /** records: dropped: a record of that turn was there already */
    RM_STREAM_DUPLICATE = 2,
    /** records: refused: the turn lies above the accepted window around the turn clock, where most instruments are not */
    RM_STREAM_TURN_AHEAD = 3,
    /** records: refused: the turn lies below the accepted window, is too late, or before the stream's first */
    RM_STREAM_TURN_BEHIND = 4,
    /** turns: turns that the head passed without their record, at that moment */
    RM_STREAM_SKIPPED = 5,
    /** restarts: times the stream began again because the machine's turn counter restarted */
    RM_STREAM_TURN_EPOCHS = 6,
    /** records: records that the first decimators had to replace by the last value */
    RM_STREAM_FAST_MISSING = 7,
    /** records: second copies, of the other of two mirrored networks */
    RM_STREAM_MIRRORED = 8,
    /** records: refused: a short counter, and no turn clock yet to tell its turn by */
    RM_STREAM_UNANCHORED = 9,
    /** turns, gauge: phase error: its newest turn was so far below the turn due by the clock, at best in a second */
    RM_STREAM_PHASE_BEHIND = 10,
    /** turns, gauge: phase error: its newest turn was so far above the turn due by the clock, at best in a second */
    RM_STREAM_PHASE_AHEAD = 11,
    /** records: refused: the turn is 2^62 or more, which no machine reaches, or below 0 with its offset; it has no vote */
    RM_STREAM_TURN_OUT_OF_RANGE = 12,
    RM_STREAM_COUNTERS = 13,
};

/** counters/path/NAME/PORT */
enum rm_path_counter {
    /** records: with a turn in the accepted window */
    RM_PATH_RECEIVED = 0,
    /** records: stored: no other network had brought them */
    RM_PATH_FIRST = 1,
    /** records: not stored: the other network had brought them */
    RM_PATH_SECOND = 2,
    /** records: dropped: this network had brought them */
    RM_PATH_DUPLICATE = 3,
    /** records, gauge: that this network has not brought, up to the head less the late window */
    RM_PATH_LOST = 4,
    RM_PATH_COUNTERS = 5,
};

/** counters/core/NUMBER */
enum rm_core_counter {
    /** number, gauge: CPU number this thread is pinned to */
    RM_CORE_CORE = 0,
    /** loops: turns of the duty cycle */
    RM_CORE_LOOPS = 1,
    /** loops: those in which some role had work */
    RM_CORE_BUSY_LOOPS = 2,
    /** ticks: TSC ticks spent in turns with work */
    RM_CORE_BUSY_TICKS = 3,
    /** ticks: TSC ticks spent in turns without work */
    RM_CORE_IDLE_TICKS = 4,
    /** ticks, gauge: longest time from one turn of the cycle to the next: the machine's stalls are in it */
    RM_CORE_LONGEST_GAP_TICKS = 5,
    /** bursts: bursts received that held at least one packet */
    RM_CORE_BURSTS = 6,
    /** packets: packets in them */
    RM_CORE_PACKETS = 7,
    /** ticks: of the idle ticks: waited on purpose, so that packets gather */
    RM_CORE_WAIT_TICKS = 8,
    /** ns, gauge: the wait after an empty or small burst that polling has settled on */
    RM_CORE_WAIT_NS = 9,
    /** ns, gauge: the longest wait that the configuration allows */
    RM_CORE_LONGEST_WAIT_NS = 10,
    /** packets, gauge: packets per burst that polling aims at */
    RM_CORE_TARGET_PACKETS = 11,
    RM_CORE_COUNTERS = 12,
};

/** counters/clock/ROLE */
enum rm_clock_counter {
    /** times: times the clock was set anew: at the first turn, by each quorum, and when most were ahead of its window */
    RM_CLOCK_ANCHORS = 0,
    /** streams, gauge: instruments that agree just now on a turn other than the clock's */
    RM_CLOCK_QUORUM_VOTES = 1,
    /** streams, gauge: instruments that must agree to set the clock anew */
    RM_CLOCK_QUORUM_NEEDED = 2,
    /** streams, gauge: streams whose head follows the clock */
    RM_CLOCK_STREAMS_LIVE = 3,
    /** turns, gauge: an instrument whose phase error is larger is a fault: `turn_window.phase_turns` */
    RM_CLOCK_PHASE_LIMIT = 4,
    RM_CLOCK_COUNTERS = 5,
};

/** counters/sender/NAME */
enum rm_sender_counter {
    /** datagrams: handed to the port, duplicates and corrupted ones included */
    RM_SENDER_SENT = 0,
    /** datagrams: not sent on purpose: injected loss */
    RM_SENDER_DROPPED = 1,
    /** datagrams: sent twice on purpose */
    RM_SENDER_DUPLICATED = 2,
    /** datagrams: sent after a later turn on purpose */
    RM_SENDER_REORDERED = 3,
    /** datagrams: sent late on purpose */
    RM_SENDER_DELAYED = 4,
    /** datagrams: sent with a flipped bit on purpose */
    RM_SENDER_CORRUPTED = 5,
    /** datagrams: sent too short on purpose */
    RM_SENDER_TRUNCATED = 6,
    /** datagrams: sent with an unknown version on purpose */
    RM_SENDER_WRONG_VERSION = 7,
    /** times: jumps of the turn counter made on purpose */
    RM_SENDER_TURN_JUMPS = 8,
    /** times: restarts of the turn counter made on purpose */
    RM_SENDER_TURN_RESETS = 9,
    /** times: times the link was full and the sender waited, as pause frames would make it */
    RM_SENDER_WAITS = 10,
    /** ticks: TSC ticks spent so */
    RM_SENDER_WAIT_TICKS = 11,
    /** ticks, gauge: the longest of them */
    RM_SENDER_LONGEST_WAIT_TICKS = 12,
    /** turns: turns sent */
    RM_SENDER_TURNS = 13,
    /** turns, gauge: turns by which the sender is behind its pace */
    RM_SENDER_BEHIND_TURNS = 14,
    /** turns: turns that passed unsent, because the sender was further behind than `max_lag_ms` */
    RM_SENDER_SKIPPED_TURNS = 15,
    /** fragments: not sent on purpose: their datagram never gets whole */
    RM_SENDER_FRAGMENTS_DROPPED = 16,
    /** fragments: sent twice on purpose */
    RM_SENDER_FRAGMENTS_DUPLICATED = 17,
    /** fragments: sent on purpose with bytes that another fragment has too */
    RM_SENDER_FRAGMENTS_OVERLAPPED = 18,
    /** datagrams: whose fragments were sent in another order on purpose */
    RM_SENDER_FRAGMENTS_REORDERED = 19,
    RM_SENDER_COUNTERS = 20,
};

/** counters/guard/APPLICATION */
enum rm_guard_counter {
    /** vectors: seen, as far as the transmit role saw them: the newest at each look */
    RM_GUARD_VECTORS = 0,
    /** vectors: vectors overwritten before they were sent: a newer one came first */
    RM_GUARD_OVERRUN = 1,
    /** vectors: not refused whole */
    RM_GUARD_TAKEN = 2,
    /** vectors: refused whole: of another grant number than the granted one */
    RM_GUARD_REFUSED_GRANT = 3,
    /** vectors: refused whole: the turn that it answers lies too far back */
    RM_GUARD_REFUSED_STALE = 4,
    /** vectors: refused whole: the turn that it answers is in the future */
    RM_GUARD_REFUSED_FUTURE = 5,
    /** values: refused: NaN or infinite */
    RM_GUARD_REFUSED_NUMBER = 6,
    /** values: refused: below the supply's lower limit */
    RM_GUARD_REFUSED_LOW = 7,
    /** values: refused: above the supply's upper limit */
    RM_GUARD_REFUSED_HIGH = 8,
    /** values: further away than the slew allows in one cycle; the step was shortened */
    RM_GUARD_SLEW_LIMITED = 9,
    /** values: asked for by hand although the supply belongs to an application */
    RM_GUARD_REFUSED_OWNERSHIP = 10,
    /** values: refused: the supply is tripped, its chain lost or not yet joined */
    RM_GUARD_REFUSED_FAULT = 11,
    /** times: good vectors stopped for longer than the watchdog allows */
    RM_GUARD_STALLS = 12,
    /** times: an instance of the application followed another */
    RM_GUARD_RESTARTS = 13,
    RM_GUARD_COUNTERS = 14,
};

/** counters/chain/NAME */
enum rm_chain_counter {
    /** datagrams: setpoints and queries handed to the port */
    RM_CHAIN_SENT = 0,
    /** datagrams: not taken by the port: link down or full for the whole cycle */
    RM_CHAIN_UNSENT = 1,
    /** datagrams: of the sent: without a command, to learn where the supplies stand */
    RM_CHAIN_QUERIES = 2,
    /** datagrams: cycles whose readback came whole */
    RM_CHAIN_ANSWERED = 3,
    /** datagrams: cycles whose readback did not come in the cycles it may take */
    RM_CHAIN_UNANSWERED = 4,
    /** datagrams: readbacks whose sequence number was not sent to this chain in that cycle, nor more than 64 cycles ago */
    RM_CHAIN_WRONG_ANSWER = 5,
    /** answers: to a datagram that the chain refused: it obeys a higher term, or another server under the same one */
    RM_CHAIN_OLD_TERM = 6,
    /** answers: in which the chain says that it refused another chain's datagram, or one of wrong length */
    RM_CHAIN_MISDIRECTED = 7,
    /** answers: in which the chain says that a setpoint datagram had been lost */
    RM_CHAIN_GAPS = 8,
    /** answers: in which the chain says that setpoints had stopped */
    RM_CHAIN_STOPPED = 9,
    /** times: no answer for as many cycles as it may take: lost, until it answers */
    RM_CHAIN_LOST = 10,
    /** times: a supply tripped */
    RM_CHAIN_TRIPS = 11,
    /** times: a supply began to saturate */
    RM_CHAIN_SATURATIONS = 12,
    /** times: a readback left its setpoint's tolerance for longer than it may */
    RM_CHAIN_DEVIATIONS = 13,
    RM_CHAIN_COUNTERS = 14,
};

/** counters/transmit */
enum rm_transmit_counter {
    /** cycles: sent */
    RM_TRANSMIT_CYCLES = 0,
    /** cycles: not sent: the role was late by a period or more, or a ring in lock-step did not wait yet */
    RM_TRANSMIT_SKIPPED = 1,
    /** cycles: sent later than a tenth of a period after their time */
    RM_TRANSMIT_LATE = 2,
    /** cycles: sent by the vector of the leading application, before their time */
    RM_TRANSMIT_LED = 3,
    /** looks: without a turn clock, or with one whose rate is not the nominal one within 2 %: nothing is sent */
    RM_TRANSMIT_UNANCHORED = 4,
    /** datagrams: handed to ports */
    RM_TRANSMIT_DATAGRAMS = 5,
    /** datagrams: not taken by a port */
    RM_TRANSMIT_UNSENT = 6,
    /** ticks, gauge: longest delay of a cycle after its time, so far */
    RM_TRANSMIT_LATEST_TICKS = 7,
    RM_TRANSMIT_COUNTERS = 8,
};

/** counters/application/NAME */
enum rm_application_counter {
    /** steps: called */
    RM_APPLICATION_STEPS = 0,
    /** vectors: committed */
    RM_APPLICATION_COMMITTED = 1,
    /** steps: that wanted nothing sent */
    RM_APPLICATION_QUIET = 2,
    /** steps: begun at their deadline, because an input was missing */
    RM_APPLICATION_LATE = 3,
    /** records: inputs that a step had to do without */
    RM_APPLICATION_MISSING = 4,
    /** steps: skipped, because an earlier one took too long */
    RM_APPLICATION_SKIPPED = 5,
    /** changes: of settings, taken over between two steps */
    RM_APPLICATION_SETTINGS = 6,
    /** changes: of settings that were asked for and not taken */
    RM_APPLICATION_REFUSED = 7,
    /** times: the server granted: at the start, and when the server was restarted */
    RM_APPLICATION_GRANTS = 8,
    /** ticks, gauge: longest step so far */
    RM_APPLICATION_LONGEST_TICKS = 9,
    /** records: of inputs that come in runs: no step was given them. They did not come in time, or were overwritten */
    RM_APPLICATION_LOST = 10,
    RM_APPLICATION_COUNTERS = 11,
};

/** counters/supply/CHAIN */
enum rm_supply_counter {
    /** datagrams: addressed to it */
    RM_SUPPLY_RECEIVED = 0,
    /** datagrams: obeyed */
    RM_SUPPLY_SETPOINTS = 1,
    /** datagrams: answered without a command */
    RM_SUPPLY_QUERIES = 2,
    /** datagrams: refused: not a setpoint datagram */
    RM_SUPPLY_MALFORMED = 3,
    /** datagrams: refused: for another chain, or of another length */
    RM_SUPPLY_MISDIRECTED = 4,
    /** datagrams: refused: of a lower term than it has seen, or of another server under the same one */
    RM_SUPPLY_OLD_TERM = 5,
    /** datagrams: missing in the sequence */
    RM_SUPPLY_GAPS = 6,
    /** datagrams: refused: a sequence number that was there already, or an older one */
    RM_SUPPLY_REPEATED = 7,
    /** datagrams: sent */
    RM_SUPPLY_ANSWERS = 8,
    /** times: setpoints stopped for longer than the time-out */
    RM_SUPPLY_STOPS = 9,
    /** times: a supply tripped */
    RM_SUPPLY_TRIPS = 10,
    /** times: a supply began to saturate */
    RM_SUPPLY_SATURATIONS = 11,
    /** datagrams: answers not sent, by a fault */
    RM_SUPPLY_FAULT_LOST = 12,
    /** datagrams: answers sent with another chain's id, by a fault */
    RM_SUPPLY_FAULT_OTHER = 13,
    /** datagrams: setpoints heard and not obeyed, because it was just switched on */
    RM_SUPPLY_LISTENED = 14,
    /** times: it was without power, by a fault or an event */
    RM_SUPPLY_POWER_CYCLES = 15,
    /** datagrams: obeyed, though it had obeyed a higher term, or another server of that term: there must be none */
    RM_SUPPLY_TWO_MASTERS = 16,
    /** setpoints: obeyed, and beyond the configured limits of their supply: there must be none */
    RM_SUPPLY_OVER_LIMIT = 17,
    /** setpoints: obeyed, and further from the last ones than the configured slew allows */
    RM_SUPPLY_OVER_SLEW = 18,
    /** cycles: without setpoints that were obeyed, between two with such */
    RM_SUPPLY_CYCLES_MISSED = 19,
    /** cycles: with setpoints of two servers that were obeyed */
    RM_SUPPLY_CYCLES_DOUBLED = 20,
    /** cycles, gauge: from one obeyed setpoint to the next, the longest so far; 1: none was missed */
    RM_SUPPLY_LONGEST_GAP = 21,
    RM_SUPPLY_COUNTERS = 22,
};

/** counters/recorder/LOG */
enum rm_recorder_counter {
    /** blocks: appended to the log */
    RM_RECORDER_BLOCKS = 0,
    /** bytes: of them, uncompressed, with their headers */
    RM_RECORDER_BYTES = 1,
    /** records: recorded: records of streams, steps of reductions, or events */
    RM_RECORDER_RECORDS = 2,
    /** records: that the streams did not have: lost before the recorder saw them */
    RM_RECORDER_MISSING = 3,
    /** records: lost: the stream's ring had gone round before the recorder came */
    RM_RECORDER_LAPPED = 4,
    /** records: lost: the disk or the quota was full for longer than the ring holds */
    RM_RECORDER_DISK_FULL = 5,
    /** records: lost: the disk took less than came for longer than the ring holds */
    RM_RECORDER_DISK_SLOW = 6,
    /** records: lost: the disk refused for longer than the ring holds */
    RM_RECORDER_DISK_FAILED = 7,
    /** times: a write, a sync or a new file was refused */
    RM_RECORDER_ERRORS = 8,
    /** looks: in which no buffer was free: the disk was behind */
    RM_RECORDER_WAITS = 9,
    /** files: sealed */
    RM_RECORDER_FILES = 10,
    /** files: deleted, by age or for room */
    RM_RECORDER_DELETED = 11,
    /** bytes: of sealed files before they were stored anew */
    RM_RECORDER_PLAIN_BYTES = 12,
    /** bytes: of them afterwards: the quotient is the ratio of compression */
    RM_RECORDER_STORED_BYTES = 13,
    /** ns: of one core spent on that */
    RM_RECORDER_STORE_NS = 14,
    RM_RECORDER_COUNTERS = 15,
};

/** counters/generator/PORT */
enum rm_generator_counter {
    /** packets: that the link took */
    RM_GENERATOR_SENT = 0,
    /** bytes: of them, without FCS */
    RM_GENERATOR_SENT_BYTES = 1,
    /** packets: that the link did not take at their time, and that were not sent */
    RM_GENERATOR_REFUSED = 2,
    /** packets: whose time was passed by, because this core had stood still */
    RM_GENERATOR_SKIPPED = 3,
    /** packets: sent after their time, because this core had stood still */
    RM_GENERATOR_LATE = 4,
    /** packets: taken */
    RM_GENERATOR_RECEIVED = 5,
    /** bytes: of them, without FCS */
    RM_GENERATOR_RECEIVED_BYTES = 6,
    /** packets: of up to 64 bytes with FCS */
    RM_GENERATOR_SIZE_64 = 7,
    /** packets: of 65 to 127 bytes with FCS */
    RM_GENERATOR_SIZE_127 = 8,
    /** packets: of 128 to 255 bytes with FCS */
    RM_GENERATOR_SIZE_255 = 9,
    /** packets: of 256 to 511 bytes with FCS */
    RM_GENERATOR_SIZE_511 = 10,
    /** packets: of 512 to 1023 bytes with FCS */
    RM_GENERATOR_SIZE_1023 = 11,
    /** packets: of 1024 to 1518 bytes with FCS */
    RM_GENERATOR_SIZE_1518 = 12,
    /** packets: of more than 1518 bytes with FCS */
    RM_GENERATOR_JUMBO = 13,
    /** packets: to all */
    RM_GENERATOR_BROADCAST = 14,
    /** packets: to a group */
    RM_GENERATOR_MULTICAST = 15,
    /** packets: ARP requests and answers that came */
    RM_GENERATOR_ARP = 16,
    /** packets: ICMP and ICMPv6 that came */
    RM_GENERATOR_ICMP = 17,
    /** packets: ARP requests and pings that were answered */
    RM_GENERATOR_ANSWERED = 18,
    /** packets: that no flow of ours sent */
    RM_GENERATOR_FOREIGN = 19,
    /** packets: of a flow of ours */
    RM_GENERATOR_STAMPED = 20,
    /** packets: not captured, because the file was behind */
    RM_GENERATOR_CAPTURE_LOST = 21,
    /** packets: shorter than their own headers say */
    RM_GENERATOR_BROKEN = 22,
    RM_GENERATOR_COUNTERS = 23,
};

/** counters/forward/PORT/ROLE */
enum rm_forward_counter {
    /** packets: taken from the port */
    RM_FORWARD_RECEIVED = 0,
    /** packets: given to another port, or back: whole, or in fragments */
    RM_FORWARD_FORWARDED = 1,
    /** packets: for this host, or of a protocol that it speaks: handed to the control side */
    RM_FORWARD_TO_KERNEL = 2,
    /** packets: handed to the control side until their neighbour is resolved */
    RM_FORWARD_WAITING = 3,
    /** packets: dropped: the control side was behind */
    RM_FORWARD_HANDOFF_FULL = 4,
    /** packets: dropped: no hop was left to live */
    RM_FORWARD_TTL_EXPIRED = 5,
    /** packets: dropped: no route goes there */
    RM_FORWARD_NO_ROUTE = 6,
    /** packets: dropped: nobody answers at the next hop, or a route says that it cannot be reached */
    RM_FORWARD_NO_NEIGHBOUR = 7,
    /** packets: dropped: a route says so */
    RM_FORWARD_BY_RULE = 8,
    /** packets: dropped: longer than the way out, and not to be cut */
    RM_FORWARD_TOO_BIG = 9,
    /** packets: dropped: an impossible header, or a wrong checksum */
    RM_FORWARD_BAD_HEADER = 10,
    /** packets: dropped: shorter than their own headers say */
    RM_FORWARD_TRUNCATED = 11,
    /** packets: dropped: from or to an address that may not be on a wire, or not leave it */
    RM_FORWARD_MARTIAN = 12,
    /** packets: dropped: of a VLAN without an interface */
    RM_FORWARD_WRONG_VLAN = 13,
    /** packets: dropped: to the MAC address of another station */
    RM_FORWARD_NOT_OURS = 14,
    /** packets: dropped by the bridge: their station is where they came from, or must not be passed on */
    RM_FORWARD_SAME_PORT = 15,
    /** packets: of those forwarded: sent in fragments */
    RM_FORWARD_CUT = 16,
    /** packets: ICMP errors sent to those who had sent here */
    RM_FORWARD_ERRORS_SENT = 17,
    /** packets: ICMP errors not sent: there were too many of late */
    RM_FORWARD_ERRORS_HELD = 18,
    /** packets: of any port: sent out by this one */
    RM_FORWARD_SENT = 19,
    /** packets: of any port: lost, because this one did not take them */
    RM_FORWARD_OUT_FULL = 20,
    /** stations, gauge: that the bridge knows */
    RM_FORWARD_STATIONS = 21,
    RM_FORWARD_COUNTERS = 22,
};

/** counters/router */
enum rm_router_counter {
    /** packets: handed over by the forwarding cores */
    RM_ROUTER_HANDED = 0,
    /** packets: given to a kernel interface */
    RM_ROUTER_TO_KERNEL = 1,
    /** packets: sent for the kernel out of a port */
    RM_ROUTER_FROM_KERNEL = 2,
    /** packets: ARP, neighbour solicitations and pings that the router answered itself */
    RM_ROUTER_ANSWERED = 3,
    /** packets: dropped: for this host, and there is no kernel interface that would want them */
    RM_ROUTER_UNCLAIMED = 4,
    /** packets: dropped: the kernel interface did not take them */
    RM_ROUTER_KERNEL_FULL = 5,
    /** packets: dropped: the forwarding core was behind in sending what it was given */
    RM_ROUTER_OUT_FULL = 6,
    /** packets: questions for neighbours */
    RM_ROUTER_ASKED = 7,
    /** neighbours: that answered when they were sought */
    RM_ROUTER_FOUND = 8,
    /** neighbours: that did not answer */
    RM_ROUTER_NOT_FOUND = 9,
    /** packets: that went on when their neighbour was found, or given up */
    RM_ROUTER_WAITED = 10,
    /** packets: dropped: too many waited for a neighbour, or too many neighbours were sought */
    RM_ROUTER_WAITING_FULL = 11,
    /** times: the kernel's routes and neighbours were asked for from the beginning */
    RM_ROUTER_KERNEL_DUMPS = 12,
    /** routes, gauge: in the tables */
    RM_ROUTER_ROUTES = 13,
    /** routes, gauge: that the router was told of, by the file, commands and the kernel */
    RM_ROUTER_ROUTES_KNOWN = 14,
    RM_ROUTER_COUNTERS = 15,
};

/** counters/camera/NAME */
enum rm_camera_counter {
    /** datagrams: of this camera */
    RM_CAMERA_RECEIVED = 0,
    /** datagrams: whose bytes went to their place */
    RM_CAMERA_PLACED = 1,
    /** datagrams: without bytes, of a frame in flight: leader, trailer, configuration */
    RM_CAMERA_INFORMED = 2,
    /** datagrams: whose bytes were here */
    RM_CAMERA_DUPLICATE = 3,
    /** datagrams: of a closed frame, with bytes */
    RM_CAMERA_LATE = 4,
    /** datagrams: of a closed frame, without bytes */
    RM_CAMERA_TRAILING = 5,
    /** datagrams: refused: an offset that is no multiple of the fragments' size, or longer than that */
    RM_CAMERA_MISPLACED = 6,
    /** datagrams: refused: beyond the frame, or the frame is beyond `frame_bytes` */
    RM_CAMERA_BEYOND = 7,
    /** datagrams: refused: another total, geometry, fragment size or end than the frame's */
    RM_CAMERA_CONTRADICTING = 8,
    /** datagrams: refused: all slots are leased, or in flight with later frames */
    RM_CAMERA_WITHOUT_ROOM = 9,
    /** datagrams: refused by the format: of another length than the format needs */
    RM_CAMERA_TOO_SHORT = 10,
    /** datagrams: refused by the format: another magic number or version */
    RM_CAMERA_FOREIGN = 11,
    /** datagrams: refused by the format: a kind of packet, payload or flag that is not read */
    RM_CAMERA_UNSUPPORTED = 12,
    /** datagrams: refused by the format: a place in the frame that cannot be */
    RM_CAMERA_BAD_PLACE = 13,
    /** datagrams: refused by the format: a geometry that is none, or does not come to the frame's bytes */
    RM_CAMERA_BAD_GEOMETRY = 14,
    /** datagrams: in which the camera says that it has no bytes */
    RM_CAMERA_CAMERA_ERROR = 15,
    /** datagrams: refused: from another address than the camera's that is heard */
    RM_CAMERA_OTHER_SENDER = 16,
    /** datagrams: that hold no piece of an image, or one that others complete */
    RM_CAMERA_GATHERED = 17,
    /** frames: of which a first fragment came */
    RM_CAMERA_BEGUN = 18,
    /** frames: of which all came */
    RM_CAMERA_WHOLE = 19,
    /** frames: closed with zeros in the places of what did not come */
    RM_CAMERA_INCOMPLETE = 20,
    /** frames: closed with bytes of the frame before in these places */
    RM_CAMERA_FILLED = 21,
    /** frames: not delivered: the camera's `incomplete` says so, or for room */
    RM_CAMERA_DROPPED = 22,
    /** frames: of those that are not whole: closed at their deadline */
    RM_CAMERA_AT_DEADLINE = 23,
    /** frames: of those: closed when later ones were whole */
    RM_CAMERA_BEHIND_LATER = 24,
    /** frames: of those: closed because a newer one needed the slot */
    RM_CAMERA_FOR_ROOM = 25,
    /** frames: of those: closed because the camera began its numbers anew */
    RM_CAMERA_AT_RESTART = 26,
    /** frames: closed, and taken back for room before they were published */
    RM_CAMERA_UNREAD = 27,
    /** frames: whose numbers the camera passed, and of which nothing came */
    RM_CAMERA_SKIPPED = 28,
    /** frames: that began after a newer one */
    RM_CAMERA_OUT_OF_ORDER = 29,
    /** times: the camera began its numbers anew */
    RM_CAMERA_RENUMBERINGS = 30,
    /** times: the geometry changed */
    RM_CAMERA_GEOMETRIES = 31,
    /** frames: given to readers */
    RM_CAMERA_PUBLISHED = 32,
    /** bytes: of the published frames */
    RM_CAMERA_BYTES = 33,
    /** records: in the camera's stream `frames` */
    RM_CAMERA_RECORDED = 34,
    /** frames: published without a record: no turn is known, or the turn's record was there */
    RM_CAMERA_UNRECORDED = 35,
    /** requests: to send packets again */
    RM_CAMERA_RESEND_REQUESTS = 36,
    /** packets: asked for in them */
    RM_CAMERA_RESEND_PACKETS = 37,
    /** packets: of those: asked for more than once */
    RM_CAMERA_RESEND_REPEATS = 38,
    /** packets: that the camera no longer had */
    RM_CAMERA_RESEND_UNAVAILABLE = 39,
    /** frames: of which no more may be asked for: `resend_percent` */
    RM_CAMERA_RESEND_OVER_BUDGET = 40,
    /** slots, gauge: neither published nor leased */
    RM_CAMERA_FREE_SLOTS = 41,
    RM_CAMERA_COUNTERS = 42,
};

/** counters/standby */
enum rm_standby_counter {
    /** times: it took over: the active server was silent, as a majority of chains said */
    RM_STANDBY_TAKEOVERS = 0,
    /** times: it began: chains stood without any server */
    RM_STANDBY_BEGINS = 1,
    /** times: it began, or ended, by a planned switch */
    RM_STANDBY_SWITCHES = 2,
    /** times: it stopped: a majority of chains obeys a higher term */
    RM_STANDBY_DEPOSITIONS = 3,
    /** times: it stopped: less than a majority of chains answered */
    RM_STANDBY_UNCONFIRMED = 4,
    /** times: it took a higher term while it sent: some chains had seen another */
    RM_STANDBY_RAISED = 5,
    /** packets: queries to chains */
    RM_STANDBY_ASKED = 6,
    /** cycles: without good orders: nothing was written, or the process that writes them stands or is not there */
    RM_STANDBY_REFUSED_ORDERS = 7,
    /** cycles: of the other server whose setpoints were taken over */
    RM_STANDBY_FOLLOWED = 8,
    /** cycles: in which the newest of these was older than one cycle */
    RM_STANDBY_LAGGED = 9,
    /** times: the file of the highest term could not be written */
    RM_STANDBY_TERM_UNSAVED = 10,
    RM_STANDBY_COUNTERS = 11,
};

/** counters/link */
enum rm_link_counter {
    /** datagrams: to the peer, over each link */
    RM_LINK_SENT = 0,
    /** datagrams: that came to the links' ports */
    RM_LINK_RECEIVED = 1,
    /** datagrams: of another length than they say */
    RM_LINK_BAD_LENGTH = 2,
    /** datagrams: of another protocol, or of a version that cannot be read */
    RM_LINK_BAD_VERSION = 3,
    /** datagrams: that were not made with the shared key */
    RM_LINK_BAD_KEY = 4,
    /** datagrams: that had come already, over another link or by repetition */
    RM_LINK_REPEATED = 5,
    /** datagrams: whose number was passed, and that did not come */
    RM_LINK_LOST = 6,
    /** datagrams: that came behind a later one */
    RM_LINK_REORDERED = 7,
    /** records: of decisions, brought to their streams */
    RM_LINK_RECORDS = 8,
    /** times: an application's state came whole */
    RM_LINK_SNAPSHOTS = 9,
    /** bytes: of these */
    RM_LINK_SNAPSHOT_BYTES = 10,
    /** datagrams: of another session, a third server, or with content that cannot be */
    RM_LINK_REFUSED = 11,
    /** datagrams: that could not be sent: the link was full */
    RM_LINK_FULL = 12,
    RM_LINK_COUNTERS = 13,
};

/** counters/follow/NAME */
enum rm_follow_counter {
    /** steps: by the decisions of the peer */
    RM_FOLLOW_FOLLOWED = 0,
    /** steps: of those: that came to other bits than the peer's */
    RM_FOLLOW_DIFFERENCES = 1,
    /** records: that the peer had, and that are missing here */
    RM_FOLLOW_INPUTS_MISSING = 2,
    /** times: the state was taken from the peer */
    RM_FOLLOW_RESTORED = 3,
    /** times: a step waited for an input or a decision */
    RM_FOLLOW_WAITS = 4,
    RM_FOLLOW_COUNTERS = 5,
};

// clang-format on

#endif
