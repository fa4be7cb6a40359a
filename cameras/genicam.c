// SPDX-License-Identifier: Apache-2.0
#include "genicam.h"

#include <stdio.h>
#include <stdlib.h>

#include "device_registers.h"
#include "frames/pixels.h"

enum feature_kind {
    FEATURE_TEXT,
    FEATURE_WHOLE,
    FEATURE_FLOAT,
    FEATURE_COMMAND,
    FEATURE_FORMATS,
    FEATURE_PATTERNS,
    FEATURE_MODES
};

struct feature {
    char const *name, *help, *unit;
    enum feature_kind kind;
    enum rm_device_register address;
    uint32_t bytes;
    bool writable;
    /** Of a whole number: its range; `most_is` names the feature that has the largest value. */
    uint32_t least, most;
    char const *most_is;
};

static struct feature const features[] = {
    {"DeviceVendorName", "Who makes it.", .kind = FEATURE_TEXT, .address = RM_DEVICE_VENDOR, .bytes = 32},
    {"DeviceModelName", "What it is.", .kind = FEATURE_TEXT, .address = RM_DEVICE_MODEL, .bytes = 32},
    {"DeviceSerialNumber", "The camera's name.", .kind = FEATURE_TEXT, .address = RM_DEVICE_SERIAL, .bytes = 16},
    {"DeviceUserID", "The camera's name.", .kind = FEATURE_TEXT, .address = RM_DEVICE_USER_NAME, .bytes = 16},
    {"SensorWidth", "Pixels of a line of the sensor.", .kind = FEATURE_WHOLE, .address = RM_DEVICE_SENSOR_WIDTH},
    {"SensorHeight", "Lines of the sensor.", .kind = FEATURE_WHOLE, .address = RM_DEVICE_SENSOR_HEIGHT},
    {"OffsetX", "First pixel of a line.", .kind = FEATURE_WHOLE, .address = RM_DEVICE_OFFSET_X},
    {"OffsetY", "First line.", .kind = FEATURE_WHOLE, .address = RM_DEVICE_OFFSET_Y},
    {"Width", "Pixels of a line.", .kind = FEATURE_WHOLE, .address = RM_DEVICE_WIDTH, .writable = true, .least = 1,
     .most_is = "SensorWidth"},
    {"Height", "Lines of a frame.", .kind = FEATURE_WHOLE, .address = RM_DEVICE_HEIGHT, .writable = true, .least = 1,
     .most_is = "SensorHeight"},
    {"PixelFormat", "Bits of a pixel, and their places.", .kind = FEATURE_FORMATS, .address = RM_DEVICE_PIXEL_FORMAT,
     .writable = true},
    {"TestPattern", "What frames show.", .kind = FEATURE_PATTERNS, .address = RM_DEVICE_PATTERN, .writable = true},
    {"PayloadSize", "Bytes of a frame.", .kind = FEATURE_WHOLE, .address = RM_DEVICE_PAYLOAD_SIZE},
    {"AcquisitionMode", "How many frames it sends.", .kind = FEATURE_MODES, .address = RM_DEVICE_ACQUISITION_MODE,
     .writable = true},
    {"AcquisitionStart", "Frames are sent.", .kind = FEATURE_COMMAND, .address = RM_DEVICE_START, .writable = true},
    {"AcquisitionStop", "No more frames are sent.", .kind = FEATURE_COMMAND, .address = RM_DEVICE_STOP,
     .writable = true},
    {"AcquisitionFrameRate", "Frames a second.", "Hz", FEATURE_FLOAT, RM_DEVICE_FRAME_RATE, .writable = true,
     .most = 100000},
    {"ExposureTime", "Of each frame.", "us", FEATURE_FLOAT, RM_DEVICE_EXPOSURE, .writable = true, .most = 10000000},
    {"GevSCPSPacketSize", "Bytes of the longest IP packet.", "B", FEATURE_WHOLE, RM_DEVICE_PACKET_SIZE,
     .writable = true, .least = 576, .most = 9500},
    {"GevTimestampTickFrequency", "Of time stamps.", "Hz", FEATURE_WHOLE, RM_DEVICE_TICK_HZ_HIGH, .bytes = 8},
};

enum { FEATURES = sizeof features / sizeof features[0], WORD = 4 };

_Static_assert(FEATURES <= 20, "few enough to be understood at a glance");

static void write_register(struct feature const *feature, char const *node, char const *suffix, FILE *out) {
    fprintf(out,
            "<%s Name=\"%s%s\"><Address>0x%X</Address><Length>%u</Length><AccessMode>%s</AccessMode>"
            "<pPort>Device</pPort>",
            node, feature->name, suffix, feature->address, feature->bytes == 0 ? WORD : feature->bytes,
            feature->kind == FEATURE_COMMAND ? "WO"
            : feature->writable              ? "RW"
                                             : "RO");
    if (feature->kind != FEATURE_TEXT && feature->kind != FEATURE_FLOAT)
        fputs("<Sign>Unsigned</Sign>", out);
    if (feature->kind != FEATURE_TEXT)
        fputs("<Endianess>BigEndian</Endianess>", out);
    fprintf(out, "</%s>\n", node);
}

static void write_entry(char const *name, uint32_t value, FILE *out) {
    fprintf(out, "<EnumEntry Name=\"%s\"><Value>%u</Value></EnumEntry>\n", name, value);
}

static void write_entries(struct feature const *feature, FILE *out) {
    static char const *const patterns[] = {
        [RM_CAMERA_RAMP] = "Ramp",       [RM_CAMERA_BARS] = "Bars",   [RM_CAMERA_CHECKER] = "Checker",
        [RM_CAMERA_COUNTER] = "Counter", [RM_CAMERA_NOISE] = "Noise", [RM_CAMERA_SPOT] = "Spot"};
    struct rm_pixel_format const *format;
    if (feature->kind == FEATURE_MODES)
        write_entry("Continuous", 0, out);
    for (size_t i = 0; feature->kind == FEATURE_FORMATS && (format = rm_pixel_format_at(i)) != NULL; ++i)
        write_entry(format->name, format->number, out);
    for (uint32_t i = 0; feature->kind == FEATURE_PATTERNS && i < sizeof patterns / sizeof patterns[0]; ++i)
        write_entry(patterns[i], i, out);
}

static void write_range(struct feature const *feature, FILE *out) {
    if (!feature->writable)
        return;
    fprintf(out, "<Min>%u</Min>", feature->least);
    if (feature->most_is != NULL)
        fprintf(out, "<pMax>%s</pMax>", feature->most_is);
    else
        fprintf(out, "<Max>%u</Max>", feature->most);
}

/** A feature, and the register behind it. */
static void write_feature(struct feature const *feature, FILE *out) {
    static char const *const nodes[] = {
        [FEATURE_WHOLE] = "Integer",       [FEATURE_FLOAT] = "Float",          [FEATURE_COMMAND] = "Command",
        [FEATURE_FORMATS] = "Enumeration", [FEATURE_PATTERNS] = "Enumeration", [FEATURE_MODES] = "Enumeration"};
    if (feature->kind == FEATURE_TEXT) {
        write_register(feature, "StringReg", "", out);
        return;
    }
    char const *const node = nodes[feature->kind];
    fprintf(out, "<%s Name=\"%s\" NameSpace=\"Standard\"><Description>%s</Description>\n", node, feature->name,
            feature->help);
    write_entries(feature, out);
    fprintf(out, "<pValue>%sRegister</pValue>", feature->name);
    if (feature->kind == FEATURE_COMMAND)
        fputs("<CommandValue>1</CommandValue>", out);
    if (feature->kind == FEATURE_WHOLE || feature->kind == FEATURE_FLOAT)
        write_range(feature, out);
    if (feature->unit != NULL)
        fprintf(out, "<Unit>%s</Unit>", feature->unit);
    fprintf(out, "</%s>\n", node);
    write_register(feature, feature->kind == FEATURE_FLOAT ? "FloatReg" : "IntReg", "Register", out);
}

static void write_description(FILE *out) {
    fputs("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
          "<RegisterDescription ModelName=\"VirtualCamera\" VendorName=\"Ringmaster\" StandardNameSpace=\"GEV\" "
          "SchemaMajorVersion=\"1\" SchemaMinorVersion=\"1\" SchemaSubMinorVersion=\"0\" MajorVersion=\"1\" "
          "MinorVersion=\"0\" SubMinorVersion=\"0\" ToolTip=\"A camera without hardware\" "
          "ProductGuid=\"7A4E5E52-5AD1-4B38-9C43-2D1A1F1B0001\" VersionGuid=\"7A4E5E52-5AD1-4B38-9C43-2D1A1F1B0002\" "
          "xmlns=\"http://www.genicam.org/GenApi/Version_1_1\">\n"
          "<Category Name=\"Root\" NameSpace=\"Standard\">\n",
          out);
    for (size_t i = 0; i < FEATURES; ++i)
        fprintf(out, "<pFeature>%s</pFeature>\n", features[i].name);
    fputs("</Category>\n", out);
    for (size_t i = 0; i < FEATURES; ++i)
        write_feature(&features[i], out);
    fputs("<Port Name=\"Device\" NameSpace=\"Standard\"/>\n</RegisterDescription>\n", out);
}

char *rm_genicam_write(size_t *bytes) {
    char *text = NULL;
    FILE *const out = open_memstream(&text, bytes);
    if (out == NULL)
        return NULL;
    write_description(out);
    bool bad = fflush(out) != 0;
    for (size_t i = 0, rest = (WORD - *bytes % WORD) % WORD; i < rest; ++i)
        fputc('\0', out);
    bad |= fclose(out) != 0;
    if (bad) {
        free(text);
        return NULL;
    }
    return text;
}
