#ifdef __linux__

#include "CDeflate.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "Linking.h"
#include "ZStream.h"

#ifdef CCURL_LINKED
#pragma comment(lib, "z")
#endif

enum { Z_SYNC_FLUSH = 2, Z_DEFLATED = 8, Z_DEFAULT = -1 };
// Raw deflate with a window of 32 KB, the maximum.
enum { WINDOW_BITS = -15, MEMORY_LEVEL = 8 };

static zlib_functions zlib;
static bool is_available;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  void *library = OPEN("libz.so.1");
  if (library == NULL) return;
  const struct {
    void *function;
    void **slot;
  } symbols[] = {
    {FIND(library, deflateInit2_), (void **)&zlib.deflateInit2}, {FIND(library, deflate), (void **)&zlib.deflate},
    {FIND(library, deflateReset), (void **)&zlib.deflateReset},  {FIND(library, deflateEnd), (void **)&zlib.deflateEnd},
    {FIND(library, inflateInit2_), (void **)&zlib.inflateInit2}, {FIND(library, inflate), (void **)&zlib.inflate},
    {FIND(library, inflateReset), (void **)&zlib.inflateReset},  {FIND(library, inflateEnd), (void **)&zlib.inflateEnd},
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    *symbols[i].slot = symbols[i].function;
    if (*symbols[i].slot == NULL) return;
  }
  is_available = true;
}

const zlib_functions *zlib_load(void) {
  pthread_once(&once, load);
  return is_available ? &zlib : NULL;
}

zlib_step zlib_run(z_stream *stream, int (*work)(z_stream *, int), int flush, const void *input, size_t count,
                   void *output, size_t room) {
  enum { LIMIT = 1 << 30 };
  unsigned int in = count > LIMIT ? LIMIT : (unsigned int)count, out = room > LIMIT ? LIMIT : (unsigned int)room;
  stream->next_in = input;
  stream->avail_in = in;
  stream->next_out = output;
  stream->avail_out = out;
  int code = work(stream, flush);
  return (zlib_step){in - stream->avail_in, out - stream->avail_out, code};
}

bool cdeflate_available(void) { return zlib_load() != NULL; }

struct cdeflate {
  z_stream out, in;
};

cdeflate *cdeflate_make(void) {
  if (!cdeflate_available()) return NULL;
  cdeflate *pair = calloc(1, sizeof *pair);
  if (pair == NULL) return NULL;
  // zlib checks the first character of the version and the size of the structure.
  int size = (int)sizeof pair->out;
  if (zlib.deflateInit2(&pair->out, Z_DEFAULT, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL, 0, "1.2.0", size) != Z_OK) {
    free(pair);
    return NULL;
  }
  if (zlib.inflateInit2(&pair->in, WINDOW_BITS, "1.2.0", size) != Z_OK) {
    zlib.deflateEnd(&pair->out);
    free(pair);
    return NULL;
  }
  return pair;
}

void cdeflate_free(cdeflate *pair) {
  zlib.deflateEnd(&pair->out);
  zlib.inflateEnd(&pair->in);
  free(pair);
}

static cdeflate_step run(z_stream *stream, int (*work)(z_stream *, int), const void *input, size_t count, void *output,
                         size_t room) {
  zlib_step ran = zlib_run(stream, work, Z_SYNC_FLUSH, input, count, output, room);
  cdeflate_step step = {ran.consumed, ran.produced, false};
  step.is_broken = ran.code != Z_OK && ran.code != Z_BUF_ERROR && ran.code != Z_STREAM_END;
  // A sender may end its stream with a message (RFC 7692 §7.2.3.4).
  if (ran.code == Z_STREAM_END && zlib.inflateReset(stream) != Z_OK) step.is_broken = true;
  return step;
}

cdeflate_step cdeflate_compress(cdeflate *pair, const void *input, size_t count, void *output, size_t room) {
  return run(&pair->out, zlib.deflate, input, count, output, room);
}

void cdeflate_reset_compression(cdeflate *pair) { zlib.deflateReset(&pair->out); }

cdeflate_step cdeflate_decompress(cdeflate *pair, const void *input, size_t count, void *output, size_t room) {
  return run(&pair->in, zlib.inflate, input, count, output, room);
}

#endif
