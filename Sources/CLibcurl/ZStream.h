#ifndef ZSTREAM_H
#define ZSTREAM_H

#include <stddef.h>
#include <stdint.h>

// The z_stream and the results of zlib, which its ABI fixes (zlib.h).
typedef struct {
  const uint8_t *next_in;
  unsigned int avail_in;
  unsigned long total_in;
  uint8_t *next_out;
  unsigned int avail_out;
  unsigned long total_out;
  const char *msg;
  void *state, *zalloc, *zfree, *opaque;
  int data_type;
  unsigned long adler, reserved;
} z_stream;

enum { Z_OK = 0, Z_STREAM_END = 1, Z_MEM_ERROR = -4, Z_BUF_ERROR = -5 };

// The functions of zlib.
typedef struct {
  int (*deflateInit2)(z_stream *, int, int, int, int, int, const char *, int);
  int (*deflate)(z_stream *, int);
  int (*deflateReset)(z_stream *);
  int (*deflateEnd)(z_stream *);
  int (*inflateInit2)(z_stream *, int, const char *, int);
  int (*inflate)(z_stream *, int);
  int (*inflateReset)(z_stream *);
  int (*inflateEnd)(z_stream *);
} zlib_functions;

// Loads zlib once; NULL without it. Thread-safe.
const zlib_functions *zlib_load(void);

// Runs `work`, which is inflate or deflate, on at most 1 GB of input and output.
typedef struct {
  size_t consumed, produced;
  int code;
} zlib_step;
zlib_step zlib_run(z_stream *stream, int (*work)(z_stream *, int), int flush, const void *input, size_t count,
                   void *output, size_t room);

#endif
