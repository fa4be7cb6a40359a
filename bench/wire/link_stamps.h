// SPDX-License-Identifier: Apache-2.0
/** Whether the kernel's interfaces stamp datagrams in hardware, in one word for reports. */
#ifndef RM_BENCH_WIRE_LINK_STAMPS_H
#define RM_BENCH_WIRE_LINK_STAMPS_H

#include <stdint.h>

/** Writes "transmit and receive of the card, not used" or the like into `stamps` where the interface can. */
void rm_interface_hardware_stamps(char const *interface, char stamps[64]);

/** The same of the interface that has this IPv4 address, in host byte order. */
void rm_address_hardware_stamps(uint32_t ipv4, char stamps[64]);

#endif
