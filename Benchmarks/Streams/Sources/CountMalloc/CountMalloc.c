#include "CountMalloc.h"
#include <stddef.h>

#ifdef __GLIBC__
#define COUNTED 1
#else
#include <features.h>
#ifdef __GLIBC__
#define COUNTED 1
#endif
#endif

static int counts;
static long calls;
static long bytes;

#ifdef COUNTED
// The executable's malloc takes precedence over the C library's, so every allocation passes here.
extern void *__libc_malloc(size_t size);

void *malloc(size_t size) {
  if (__builtin_expect(__atomic_load_n(&counts, __ATOMIC_RELAXED), 0)) {
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&bytes, (long)size, __ATOMIC_RELAXED);
  }
  return __libc_malloc(size);
}
#endif

void count_start(void) {
  __atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&bytes, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&counts, 1, __ATOMIC_RELAXED);
}

long count_stop(void) {
  __atomic_store_n(&counts, 0, __ATOMIC_RELAXED);
  return __atomic_load_n(&calls, __ATOMIC_RELAXED);
}

long count_bytes(void) { return __atomic_load_n(&bytes, __ATOMIC_RELAXED); }
