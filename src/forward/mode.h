// SPDX-License-Identifier: Apache-2.0
/** What forward roles do with frames: one of these for all of a server's. */
#ifndef RM_FORWARD_MODE_H
#define RM_FORWARD_MODE_H

enum rm_forward_mode {
    /** They are routed, by their IP addresses. */
    RM_FORWARD_ROUTE,
    /** They leave as they came, by the other port of a pair. */
    RM_FORWARD_IO,
    /** The same, with source and destination MAC exchanged. */
    RM_FORWARD_MACSWAP,
    /** They leave by the port behind which their destination MAC was seen, else by all others. */
    RM_FORWARD_L2,
};

#endif
