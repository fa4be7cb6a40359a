// SPDX-License-Identifier: Apache-2.0
/** Ports of GenTL: registers of the modules, and where their descriptions lie. */
#include <stdio.h>
#include <time.h>

#include "registers.h"

enum {
    /** A camera that has just been opened may not have sent a frame since; its size is waited for. */
    FIRST_FRAME_LOOKS = 100,
    LOOK_INTERVAL_NS = 10000000,
};

static GC_ERROR port_read_once(PORT_HANDLE handle, uint64_t address, void *buffer, size_t size) {
    struct gentl_library *library = gentl_enter();
    struct gentl_port port;
    GC_ERROR result = gentl_find_port(library, handle, &port);
    if (result == GC_ERR_SUCCESS)
        result = gentl_read(&port, address, buffer, size);
    return gentl_leave(library, result);
}

static GC_ERROR port_read(PORT_HANDLE handle, uint64_t address, void *buffer, size_t size) {
    GC_ERROR result = port_read_once(handle, address, buffer, size);
    for (uint32_t look = 0; result == GC_ERR_NO_DATA && look < FIRST_FRAME_LOOKS; ++look) {
        (void)nanosleep(&(struct timespec){.tv_nsec = LOOK_INTERVAL_NS}, NULL);
        result = port_read_once(handle, address, buffer, size);
    }
    return result;
}

static GC_ERROR port_write(PORT_HANDLE handle, uint64_t address, void const *buffer, size_t size) {
    struct gentl_library *library = gentl_enter();
    struct gentl_port port;
    GC_ERROR result = gentl_find_port(library, handle, &port);
    if (result == GC_ERR_SUCCESS)
        result = gentl_write(&port, address, buffer, size);
    return gentl_leave(library, result);
}

/** Checks the handle first, so that a wrong one is told whatever else is wrong. */
static GC_ERROR port_check(PORT_HANDLE handle, bool complete) {
    struct gentl_library *library = gentl_enter();
    struct gentl_port port;
    GC_ERROR result = gentl_find_port(library, handle, &port);
    if (result == GC_ERR_SUCCESS && !complete)
        result = gentl_fail(GC_ERR_INVALID_PARAMETER, "a port's function without a buffer or its size");
    return gentl_leave(library, result);
}

GC_ERROR GCReadPort(PORT_HANDLE handle, uint64_t address, void *buffer, size_t *size) {
    GC_ERROR result = port_check(handle, buffer && size);
    if (result != GC_ERR_SUCCESS)
        return result;
    result = port_read(handle, address, buffer, *size);
    if (result != GC_ERR_SUCCESS)
        *size = 0; // so many were read
    return result;
}

GC_ERROR GCWritePort(PORT_HANDLE handle, uint64_t address, void const *buffer, size_t *size) {
    GC_ERROR result = port_check(handle, buffer && size);
    if (result != GC_ERR_SUCCESS)
        return result;
    result = port_write(handle, address, buffer, *size);
    if (result != GC_ERR_SUCCESS)
        *size = 0; // so many were written
    return result;
}

GC_ERROR GCReadPortStacked(PORT_HANDLE handle, struct gentl_register *entries, size_t *count) {
    GC_ERROR result = port_check(handle, entries && count);
    size_t const wanted = entries && count ? *count : 0;
    size_t done = 0;
    for (; result == GC_ERR_SUCCESS && done < wanted; done += result == GC_ERR_SUCCESS)
        result = GCReadPort(handle, entries[done].address, entries[done].buffer, &entries[done].size);
    if (count)
        *count = done;
    return result;
}

GC_ERROR GCWritePortStacked(PORT_HANDLE handle, struct gentl_register *entries, size_t *count) {
    GC_ERROR result = port_check(handle, entries && count);
    size_t const wanted = entries && count ? *count : 0;
    size_t done = 0;
    for (; result == GC_ERR_SUCCESS && done < wanted; done += result == GC_ERR_SUCCESS)
        result = GCWritePort(handle, entries[done].address, entries[done].buffer, &entries[done].size);
    if (count)
        *count = done;
    return result;
}

static GC_ERROR port_info(struct gentl_port const *port, struct gentl_answer answer, int32_t command) {
    switch (command) {
    case PORT_INFO_ID:
        return gentl_answer_text(answer, port->id);
    case PORT_INFO_VENDOR:
        return gentl_answer_text(answer, GENTL_VENDOR);
    case PORT_INFO_MODEL:
        return gentl_answer_text(answer, port->model);
    case PORT_INFO_TLTYPE:
        return gentl_answer_text(answer, GENTL_TYPE);
    case PORT_INFO_MODULE:
        return gentl_answer_text(answer, port->module);
    case PORT_INFO_LITTLE_ENDIAN:
    case PORT_INFO_ACCESS_READ:
        return gentl_answer_flag(answer, true);
    case PORT_INFO_ACCESS_WRITE:
        return gentl_answer_flag(answer, port->kind == GENTL_CAMERA);
    case PORT_INFO_BIG_ENDIAN:
    case PORT_INFO_ACCESS_NA:
    case PORT_INFO_ACCESS_NI:
        return gentl_answer_flag(answer, false);
    case PORT_INFO_VERSION:
        return gentl_answer_text(answer, GENTL_VERSION);
    case PORT_INFO_PORTNAME:
        return gentl_answer_text(answer, port->name);
    default:
        return gentl_answer_unknown("PORT_INFO", command);
    }
}

GC_ERROR GCGetPortInfo(PORT_HANDLE handle, int32_t command, int32_t *type, void *buffer, size_t *size) {
    struct gentl_library *library = gentl_enter();
    struct gentl_port port;
    GC_ERROR result = gentl_find_port(library, handle, &port);
    if (result == GC_ERR_SUCCESS)
        result = port_info(&port, (struct gentl_answer){type, buffer, size}, command);
    return gentl_leave(library, result);
}

static GC_ERROR port_url(struct gentl_port const *port, struct gentl_answer answer, int32_t command) {
    char text[128];
    switch (command) {
    case URL_INFO_URL:
        (void)snprintf(text, sizeof text, "local:ringmaster_%s.xml;%x;%zx", port->model, GENTL_REGISTER_XML,
                       port->description->length);
        return gentl_answer_text(answer, text);
    case URL_INFO_FILENAME:
        (void)snprintf(text, sizeof text, "ringmaster_%s.xml", port->model);
        return gentl_answer_text(answer, text);
    case URL_INFO_SCHEMA_VER_MAJOR:
    case URL_INFO_SCHEMA_VER_MINOR:
    case URL_INFO_FILE_VER_MAJOR:
        return gentl_answer_int32(answer, 1);
    case URL_INFO_FILE_VER_MINOR:
    case URL_INFO_FILE_VER_SUBMINOR:
        return gentl_answer_int32(answer, 0);
    case URL_INFO_FILE_REGISTER_ADDRESS:
        return gentl_answer_uint64(answer, GENTL_REGISTER_XML);
    case URL_INFO_FILE_SIZE:
        return gentl_answer_uint64(answer, port->description->length);
    case URL_INFO_SCHEME:
        return gentl_answer_int32(answer, URL_SCHEME_LOCAL);
    default:
        return gentl_answer_unknown("URL_INFO", command);
    }
}

GC_ERROR GCGetPortURLInfo(PORT_HANDLE handle, uint32_t index, int32_t command, int32_t *type, void *buffer,
                          size_t *size) {
    struct gentl_library *library = gentl_enter();
    struct gentl_port port;
    GC_ERROR result = gentl_find_port(library, handle, &port);
    if (result == GC_ERR_SUCCESS && index != 0)
        result = gentl_fail(GC_ERR_INVALID_INDEX, "URL %u of 1; the only one has index 0", index);
    if (result == GC_ERR_SUCCESS)
        result = port_url(&port, (struct gentl_answer){type, buffer, size}, command);
    return gentl_leave(library, result);
}

GC_ERROR GCGetPortURL(PORT_HANDLE handle, char *url, size_t *size) {
    return GCGetPortURLInfo(handle, 0, URL_INFO_URL, NULL, url, size);
}

GC_ERROR GCGetNumPortURLs(PORT_HANDLE handle, uint32_t *count) {
    GC_ERROR const result = port_check(handle, count);
    if (result == GC_ERR_SUCCESS)
        *count = 1;
    return result;
}
