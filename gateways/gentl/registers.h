// SPDX-License-Identifier: Apache-2.0
/** The registers behind the ports of the modules, as the descriptions in descriptions/ have them. Little-endian.
 *
 *     0x000   64 bytes each: vendor, model, id, type; texts that end with zeros
 *     0x100   8 bytes each, of a camera alone: GENTL_REGISTER_WIDTH …
 *     0x10000 the description, XML: of each module its own
 *
 * Commands and TLParamsLocked are written, all else is read. Before the first frame the numbers that describe frames
 * cannot be read: GC_ERR_NO_DATA. */
#ifndef GENTL_REGISTERS_H
#define GENTL_REGISTERS_H

#include "modules.h"

enum {
    GENTL_REGISTER_WIDTH = 0x100,
    GENTL_REGISTER_HEIGHT = 0x108,
    GENTL_REGISTER_OFFSET_X = 0x110,
    GENTL_REGISTER_OFFSET_Y = 0x118,
    /** PFNC's number. */
    GENTL_REGISTER_PIXEL_FORMAT = 0x120,
    /** Bytes of a frame. */
    GENTL_REGISTER_PAYLOAD_SIZE = 0x128,
    GENTL_REGISTER_START = 0x130,
    GENTL_REGISTER_STOP = 0x138,
    GENTL_REGISTER_LOCKED = 0x140,
    GENTL_REGISTERS_END = 0x148,
    GENTL_REGISTER_XML = 0x10000,
};

/** A description, made of a file in descriptions/. */
struct gentl_description {
    /** "camera" */
    char const *name;
    uint8_t const *text;
    size_t length;
};
extern struct gentl_description const gentl_descriptions[];

/** A module that has a port. */
struct gentl_port {
    enum gentl_kind kind;
    /** NULL: system and interface. */
    struct gentl_camera *camera;
    /** As its description and the standard name it: "TLPort", "TLSystem". */
    char const *name, *module;
    /** Of the vendor's things: "camera"; and of this one: "cam01". */
    char const *model, *id;
    struct gentl_description const *description;
};

/** The port of a handle. */
GC_ERROR gentl_find_port(struct gentl_library *library, PORT_HANDLE handle, struct gentl_port *port);

GC_ERROR gentl_read(struct gentl_port const *port, uint64_t address, void *buffer, size_t size);
GC_ERROR gentl_write(struct gentl_port const *port, uint64_t address, void const *buffer, size_t size);

#endif
