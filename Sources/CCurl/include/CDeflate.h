#ifndef CDEFLATE_H
#define CDEFLATE_H

// Bare deflate streams (RFC 1951) in both directions, for permessage-deflate (RFC 7692); zlib is found at run time.

#include <stdbool.h>
#include <stddef.h>

// Whether zlib was found. Thread-safe.
bool cdeflate_available(void);

typedef struct cdeflate cdeflate;
// A pair of streams, one for each direction; NULL without memory or zlib.
cdeflate *cdeflate_make(void);
void cdeflate_free(cdeflate *pair);

typedef struct {
  size_t consumed, produced;
  bool is_broken;
} cdeflate_step;
// Compresses what fits into `output`, and ends on a byte boundary (Z_SYNC_FLUSH); again with the rest of `input` while
// `output` was filled.
cdeflate_step cdeflate_compress(cdeflate *pair, const void *input, size_t count, void *output, size_t room);
// Forgets what was compressed before.
void cdeflate_reset_compression(cdeflate *pair);
// Removes compression from what fits into `output`; again with the rest of `input` while `output` was filled.
cdeflate_step cdeflate_decompress(cdeflate *pair, const void *input, size_t count, void *output, size_t room);

#endif
