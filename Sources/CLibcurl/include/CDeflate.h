#ifndef CDEFLATE_H
#define CDEFLATE_H

// Raw deflate streams (RFC 1951) in both directions, for permessage-deflate (RFC 7692), with zlib loaded at run time.

#include <stdbool.h>
#include <stddef.h>

// Returns whether zlib is available. Thread-safe.
bool cdeflate_available(void);

typedef struct cdeflate cdeflate;
// Creates a pair of streams, one for each direction. Returns NULL without memory or zlib.
cdeflate *cdeflate_make(void);
void cdeflate_free(cdeflate *pair);

typedef struct {
  size_t consumed, produced;
  bool is_broken;
} cdeflate_step;
// Compresses as much as fits into `output`, and ends on a byte boundary (Z_SYNC_FLUSH). Call it again with the rest of
// `input` as long as `output` was filled.
cdeflate_step cdeflate_compress(cdeflate *pair, const void *input, size_t count, void *output, size_t room);
// Clears the window, so that later data does not refer to earlier data.
void cdeflate_reset_compression(cdeflate *pair);
// Decompresses as much as fits into `output`. Call it again with the rest of `input` as long as `output` was filled.
cdeflate_step cdeflate_decompress(cdeflate *pair, const void *input, size_t count, void *output, size_t room);

#endif
