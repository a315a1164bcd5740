/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 and UTF-16: MATLAB's characters are UTF-16 units, Octave's are UTF-8 bytes, published text is UTF-8. */
#include "layout.h"

static unsigned byte_at(const char* bytes, size_t index) {
  return (unsigned char)bytes[index];
}

/* Bytes of the well-formed sequence at the start of `bytes` (0: there is none), after the table of RFC 3629, section 4. */
static size_t sequence_length(const char* bytes, size_t size) {
  const unsigned lead = byte_at(bytes, 0);
  if (lead < 0x80) {
    return 1;
  }
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || size < length) {
    return 0;
  }
  unsigned low = 0x80, high = 0xbf;
  if (lead == 0xe0) {
    low = 0xa0; /* a shorter form exists below */
  } else if (lead == 0xed) {
    high = 0x9f; /* surrogates */
  } else if (lead == 0xf0) {
    low = 0x90;
  } else if (lead == 0xf4) {
    high = 0x8f; /* beyond U+10FFFF */
  }
  for (size_t i = 1; i < length; i++) {
    if (byte_at(bytes, i) < low || byte_at(bytes, i) > high) {
      return 0;
    }
    low = 0x80;
    high = 0xbf;
  }
  return length;
}

int wpm_is_utf8(const char* bytes, size_t size) {
  for (size_t at = 0; at < size;) {
    const size_t length = sequence_length(bytes + at, size - at);
    if (length == 0) {
      return 0;
    }
    at += length;
  }
  return 1;
}

int wpm_is_ascii(const char* bytes, size_t size) {
  unsigned all = 0;
  for (size_t i = 0; i < size; i++) {
    all |= byte_at(bytes, i);
  }
  return all < 0x80;
}

static size_t append_utf8(uint32_t point, char* target) {
  static const uint32_t kLead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  const size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  if (target != NULL) {
    for (size_t i = length; i-- > 1;) {
      target[i] = (char)(0x80u | (point & 0x3fu));
      point >>= 6;
    }
    target[0] = (char)(kLead[length == 1 ? 0 : length] | point);
  }
  return length;
}

size_t wpm_utf16_to_utf8(const uint16_t* units, size_t count, char* target) {
  size_t size = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t point = units[i];
    if (point >= 0xd800u && point < 0xe000u) {
      if (point >= 0xdc00u || i + 1 == count || units[i + 1] < 0xdc00u || units[i + 1] >= 0xe000u) {
        return (size_t)-1;
      }
      point = 0x10000u + ((point - 0xd800u) << 10) + (units[++i] - 0xdc00u);
    }
    size += append_utf8(point, target == NULL ? NULL : target + size);
  }
  return size;
}

size_t wpm_utf8_to_utf16(const char* bytes, size_t size, uint16_t* target) {
  static const unsigned kLeadBits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  size_t units = 0;
  for (size_t at = 0; at < size;) {
    const size_t length = sequence_length(bytes + at, size - at);
    if (length == 0) {
      return units; /* callers check with wpm_is_utf8 first */
    }
    uint32_t point = byte_at(bytes, at) & kLeadBits[length];
    for (size_t i = 1; i < length; i++) {
      point = (point << 6) | (byte_at(bytes, at + i) & 0x3fu);
    }
    at += length;
    if (point < 0x10000u) {
      if (target != NULL) {
        target[units] = (uint16_t)point;
      }
      units += 1;
    } else {
      if (target != NULL) {
        target[units] = (uint16_t)(0xd800u + ((point - 0x10000u) >> 10));
        target[units + 1] = (uint16_t)(0xdc00u + ((point - 0x10000u) & 0x3ffu));
      }
      units += 2;
    }
  }
  return units;
}
