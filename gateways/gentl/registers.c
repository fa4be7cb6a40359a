// SPDX-License-Identifier: Apache-2.0
#include "registers.h"

#include <string.h>

#include "acquisition.h"

enum { TEXT_BYTES = 64, NUMBER_BYTES = 8 };

/** The modules with ports, in the order of enum gentl_kind. */
static struct gentl_port const ports[] = {
    {.kind = GENTL_SYSTEM, .name = "TLPort", .module = "TLSystem", .model = "system"},
    {.kind = GENTL_INTERFACE, .name = "InterfacePort", .module = "TLInterface", .model = "interface"},
    {.kind = GENTL_DEVICE, .name = "DevicePort", .module = "TLDevice", .model = "device"},
    {.kind = GENTL_CAMERA, .name = "Device", .module = "Device", .model = "camera"},
    {.kind = GENTL_STREAM, .name = "StreamPort", .module = "TLDataStream", .model = "stream"},
};

static struct gentl_description const *description_named(char const *name) {
    struct gentl_description const *description = gentl_descriptions;
    while (strcmp(description->name, name) != 0)
        ++description;
    return description;
}

GC_ERROR gentl_find_port(struct gentl_library *library, PORT_HANDLE handle, struct gentl_port *port) {
    enum gentl_kind const kind = gentl_handle_kind(handle);
    if (kind < GENTL_SYSTEM || kind > GENTL_STREAM)
        return gentl_fail(GC_ERR_INVALID_HANDLE, "%p is no module that has a port", handle);
    struct gentl_camera *camera = NULL;
    GC_ERROR const result = gentl_find(library, handle, kind, &camera);
    if (result != GC_ERR_SUCCESS)
        return result;
    *port = ports[kind - GENTL_SYSTEM];
    port->camera = kind >= GENTL_DEVICE ? camera : NULL;
    port->id = port->camera ? camera->name : kind == GENTL_INTERFACE ? GENTL_INTERFACE_ID : "ringmaster.cti";
    port->description = description_named(port->model);
    return GC_ERR_SUCCESS;
}

static void put_text(uint8_t *registers, uint32_t index, char const *text) {
    size_t const length = strlen(text);
    memcpy(&registers[(size_t)index * TEXT_BYTES], text, length < TEXT_BYTES ? length : TEXT_BYTES - 1);
}

static void put_number(uint8_t *registers, uint32_t address, uint64_t number) {
    memcpy(&registers[address], &number, NUMBER_BYTES); // x86-64 is little-endian
}

static void put_camera(uint8_t *registers, struct gentl_camera const *camera) {
    struct gentl_image const *image = &camera->newest;
    put_number(registers, GENTL_REGISTER_WIDTH, image->width);
    put_number(registers, GENTL_REGISTER_HEIGHT, image->height);
    put_number(registers, GENTL_REGISTER_OFFSET_X, image->offset_x);
    put_number(registers, GENTL_REGISTER_OFFSET_Y, image->offset_y);
    put_number(registers, GENTL_REGISTER_PIXEL_FORMAT, image->pixel_format);
    put_number(registers, GENTL_REGISTER_PAYLOAD_SIZE, image->length);
    put_number(registers, GENTL_REGISTER_LOCKED, camera->parameters_locked);
}

/** True where a range lies in one that has `length` bytes from `first` on. */
static bool range_in(uint64_t address, size_t size, uint64_t first, uint64_t length) {
    return address >= first && address - first <= length && size <= length - (address - first);
}

GC_ERROR gentl_read(struct gentl_port const *port, uint64_t address, void *buffer, size_t size) {
    struct gentl_description const *description = port->description;
    if (range_in(address, size, GENTL_REGISTER_XML, description->length)) {
        memcpy(buffer, &description->text[address - GENTL_REGISTER_XML], size);
        return GC_ERR_SUCCESS;
    }
    bool const is_camera = port->kind == GENTL_CAMERA;
    if (!range_in(address, size, 0, is_camera ? GENTL_REGISTERS_END : GENTL_REGISTER_WIDTH))
        return gentl_fail(GC_ERR_INVALID_ADDRESS, "%s has no %zu bytes at 0x%llx; its description has its registers",
                          port->name, size, (unsigned long long)address);
    if (is_camera) {
        gentl_look(port->camera);
        if (!port->camera->has_image && address + size > GENTL_REGISTER_WIDTH && address < GENTL_REGISTER_START)
            return gentl_fail(GC_ERR_NO_DATA, "no frame of %s has come yet, so its size is not known; start the camera",
                              port->id);
    }
    uint8_t registers[GENTL_REGISTERS_END] = {0};
    char const *const texts[] = {GENTL_VENDOR, port->model, port->id, GENTL_TYPE};
    for (uint32_t i = 0; i < sizeof texts / sizeof texts[0]; ++i)
        put_text(registers, i, texts[i]);
    if (is_camera)
        put_camera(registers, port->camera);
    memcpy(buffer, &registers[address], size);
    return GC_ERR_SUCCESS;
}

static void camera_acquire(struct gentl_camera *camera, bool acquiring) {
    camera->skip = camera->skip || (acquiring && !camera->acquiring);
    camera->acquiring = acquiring;
    if (camera->stream.generation)
        gentl_changed(&camera->stream);
}

GC_ERROR gentl_write(struct gentl_port const *port, uint64_t address, void const *buffer, size_t size) {
    bool const is_register = port->kind == GENTL_CAMERA && size == NUMBER_BYTES && address >= GENTL_REGISTER_START &&
                             address < GENTL_REGISTERS_END && address % NUMBER_BYTES == 0;
    if (!is_register)
        return gentl_fail(GC_ERR_INVALID_ADDRESS, "%s has nothing that %zu bytes are written to at 0x%llx", port->name,
                          size, (unsigned long long)address);
    if (address == GENTL_REGISTER_LOCKED)
        memcpy(&port->camera->parameters_locked, buffer, NUMBER_BYTES);
    else
        camera_acquire(port->camera, address == GENTL_REGISTER_START);
    return GC_ERR_SUCCESS;
}
