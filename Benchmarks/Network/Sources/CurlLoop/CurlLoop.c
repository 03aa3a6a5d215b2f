#include "CurlLoop.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The numbers of options and infos in libcurl's ABI.
enum {
  WRITEDATA = 10001, URL = 10002, PROXY = 10004, WRITEFUNCTION = 20011, HEADERFUNCTION = 20079, HEADERDATA = 10029,
  NOSIGNAL = 99, PRIVATE = 10103, INFO_PRIVATE = 0x100015, INFO_STATUS = 0x200002, MULTI_MAXCONNECTS = 6
};

typedef struct {
  int msg;
  void *easy;
  union {
    void *whatever;
    int result;
  } data;
} message;

static struct {
  int (*global_init)(long);
  void *(*easy_init)(void);
  void (*easy_cleanup)(void *);
  int (*easy_setopt)(void *, int, ...);
  int (*easy_getinfo)(void *, int, ...);
  void *(*multi_init)(void);
  int (*multi_setopt)(void *, int, ...);
  int (*multi_add_handle)(void *, void *);
  int (*multi_remove_handle)(void *, void *);
  int (*multi_perform)(void *, int *);
  int (*multi_poll)(void *, void *, unsigned int, int, int *);
  message *(*multi_info_read)(void *, int *);
} curl;

const char *curl_loop_load(void) {
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return "libcurl.so.4 was not found";
  const struct {
    const char *name;
    void **slot;
  } symbols[] = {
    {"curl_global_init", (void **)&curl.global_init},
    {"curl_easy_init", (void **)&curl.easy_init},
    {"curl_easy_cleanup", (void **)&curl.easy_cleanup},
    {"curl_easy_setopt", (void **)&curl.easy_setopt},
    {"curl_easy_getinfo", (void **)&curl.easy_getinfo},
    {"curl_multi_init", (void **)&curl.multi_init},
    {"curl_multi_setopt", (void **)&curl.multi_setopt},
    {"curl_multi_add_handle", (void **)&curl.multi_add_handle},
    {"curl_multi_remove_handle", (void **)&curl.multi_remove_handle},
    {"curl_multi_perform", (void **)&curl.multi_perform},
    {"curl_multi_poll", (void **)&curl.multi_poll},
    {"curl_multi_info_read", (void **)&curl.multi_info_read},
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    *symbols[i].slot = dlsym(library, symbols[i].name);
    if (*symbols[i].slot == NULL) return "this libcurl is older than 7.66";
  }
  return curl.global_init(3) == 0 ? NULL : "curl_global_init failed";
}

// The body of one transfer, collected in memory as in a client.
typedef struct {
  void *easy;
  char *bytes;
  size_t count, capacity;
} transfer;

static size_t receive_body(char *data, size_t size, size_t count, void *context) {
  transfer *t = context;
  size_t length = size * count;
  if (t->count + length > t->capacity) {
    size_t wanted = (t->count + length) * 2;
    char *larger = realloc(t->bytes, wanted);
    if (larger == NULL) return 0;
    t->bytes = larger;
    t->capacity = wanted;
  }
  memcpy(t->bytes + t->count, data, length);
  t->count += length;
  return length;
}

static size_t receive_header(char *data, size_t size, size_t count, void *context) {
  (void)data;
  (void)context;
  return size * count;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// Kept between runs together with its connections.
static void *multi;

long curl_loop_run(const char *url, int in_flight, double seconds, long expected_bytes) {
  if (multi == NULL) {
    multi = curl.multi_init();
    if (multi == NULL) return -1;
    curl.multi_setopt(multi, MULTI_MAXCONNECTS, 1024L);
  }
  transfer *all = calloc((size_t)in_flight, sizeof *all);
  if (all == NULL) return -1;
  double end = now() + seconds;
  long done = 0, failed = 0;
  int left = in_flight;
  for (int i = 0; i < in_flight; i++) {
    transfer *t = &all[i];
    t->easy = curl.easy_init();
    curl.easy_setopt(t->easy, URL, url);
    curl.easy_setopt(t->easy, PROXY, "");
    curl.easy_setopt(t->easy, NOSIGNAL, 1L);
    curl.easy_setopt(t->easy, PRIVATE, t);
    curl.easy_setopt(t->easy, WRITEFUNCTION, receive_body);
    curl.easy_setopt(t->easy, WRITEDATA, t);
    curl.easy_setopt(t->easy, HEADERFUNCTION, receive_header);
    curl.easy_setopt(t->easy, HEADERDATA, t);
    curl.multi_add_handle(multi, t->easy);
  }
  while (left > 0) {
    int running = 0, queued = 0;
    message *next;
    curl.multi_perform(multi, &running);
    int goes_on = now() < end;
    while ((next = curl.multi_info_read(multi, &queued)) != NULL) {
      if (next->msg != 1) continue;
      int result = next->data.result;
      void *easy = next->easy, *context = NULL;
      long status = 0;
      curl.easy_getinfo(easy, INFO_PRIVATE, &context);
      curl.easy_getinfo(easy, INFO_STATUS, &status);
      transfer *t = context;
      if (result == 0 && status == 200 && (long)t->count == expected_bytes) done++; else failed++;
      t->count = 0;
      curl.multi_remove_handle(multi, easy);
      if (goes_on) {
        curl.easy_setopt(easy, URL, url);
        curl.multi_add_handle(multi, easy);
      } else {
        left--;
      }
    }
    if (left > 0) curl.multi_poll(multi, NULL, 0, 1000, NULL);
  }
  for (int i = 0; i < in_flight; i++) {
    curl.easy_cleanup(all[i].easy);
    free(all[i].bytes);
  }
  free(all);
  return failed == 0 ? done : -1;
}
