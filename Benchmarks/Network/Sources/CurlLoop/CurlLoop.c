#include "CurlLoop.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The numbers of options and infos in libcurl's ABI.
enum {
  WRITEDATA = 10001, URL = 10002, PROXY = 10004, WRITEFUNCTION = 20011, HEADERFUNCTION = 20079, HEADERDATA = 10029,
  NOSIGNAL = 99, PRIVATE = 10103, CAINFO = 10065, FORBID_REUSE = 75, HTTP_VERSION = 84, SSL_SESSIONID_CACHE = 150,
  PIPEWAIT = 237, SHARE = 10100, SHARE_WHAT = 1, SHARE_SESSIONS = 4, INFO_PRIVATE = 0x100015, INFO_STATUS = 0x200002,
  MULTI_MAXCONNECTS = 6
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
  int (*multi_wakeup)(void *);
  void *(*share_init)(void);
  int (*share_setopt)(void *, int, ...);
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
    {"curl_share_init", (void **)&curl.share_init},
    {"curl_share_setopt", (void **)&curl.share_setopt},
    {"curl_multi_wakeup", (void **)&curl.multi_wakeup},
    {"curl_multi_info_read", (void **)&curl.multi_info_read},
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    *symbols[i].slot = dlsym(library, symbols[i].name);
    if (*symbols[i].slot == NULL) return "this libcurl is older than 7.68";
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

// Returns the multi handle, which is kept between runs together with its connections.
static void *kept(void **multi) {
  if (*multi == NULL && (*multi = curl.multi_init()) != NULL) curl.multi_setopt(*multi, MULTI_MAXCONNECTS, 1024L);
  return *multi;
}

static void begin(transfer *t, const curl_loop_target *target) {
  t->easy = curl.easy_init();
  curl.easy_setopt(t->easy, URL, target->url);
  curl.easy_setopt(t->easy, PROXY, "");
  curl.easy_setopt(t->easy, NOSIGNAL, 1L);
  curl.easy_setopt(t->easy, PRIVATE, t);
  curl.easy_setopt(t->easy, WRITEFUNCTION, receive_body);
  curl.easy_setopt(t->easy, WRITEDATA, t);
  curl.easy_setopt(t->easy, HEADERFUNCTION, receive_header);
  curl.easy_setopt(t->easy, HEADERDATA, t);
  // 2 is HTTP/1.1, and 4 is HTTP/2 over TLS.
  curl.easy_setopt(t->easy, HTTP_VERSION, target->http2 ? 4L : 2L);
  curl.easy_setopt(t->easy, PIPEWAIT, target->http2 ? 1L : 0L);
  if (target->certificate != NULL) curl.easy_setopt(t->easy, CAINFO, target->certificate);
  if (target->connections != CURL_LOOP_KEEPS) curl.easy_setopt(t->easy, FORBID_REUSE, 1L);
  // A new handle knows the sessions of former ones only through a share.
  if (target->connections == CURL_LOOP_RESUMES) {
    static void *share;
    if (share == NULL && (share = curl.share_init()) != NULL) curl.share_setopt(share, SHARE_WHAT, SHARE_SESSIONS);
    curl.easy_setopt(t->easy, SHARE, share);
  }
  if (target->connections == CURL_LOOP_STARTS_OVER) curl.easy_setopt(t->easy, SSL_SESSIONID_CACHE, 0L);
}

static void end_transfer(transfer *t) {
  curl.easy_cleanup(t->easy);
  free(t->bytes);
}

// Removes the next finished transfer, and stores whether it has the expected response. Returns NULL if none has finished.
static transfer *next_finished(void *multi, long bytes, int *is_expected) {
  message *next;
  int queued = 0;
  while ((next = curl.multi_info_read(multi, &queued)) != NULL) {
    if (next->msg != 1) continue;
    int result = next->data.result;
    void *easy = next->easy, *context = NULL;
    long status = 0;
    curl.easy_getinfo(easy, INFO_PRIVATE, &context);
    curl.easy_getinfo(easy, INFO_STATUS, &status);
    transfer *t = context;
    *is_expected = result == 0 && status == 200 && (long)t->count == bytes;
    t->count = 0;
    curl.multi_remove_handle(multi, easy);
    return t;
  }
  return NULL;
}

long curl_loop_run(curl_loop_target target, int in_flight, double seconds) {
  static void *stored;
  void *multi = kept(&stored);
  transfer *all = calloc((size_t)in_flight, sizeof *all);
  if (multi == NULL || all == NULL) return -1;
  double end = now() + seconds;
  long done = 0, failed = 0;
  int left = in_flight;
  for (int i = 0; i < in_flight; i++) {
    begin(&all[i], &target);
    curl.multi_add_handle(multi, all[i].easy);
  }
  while (left > 0) {
    int running = 0, is_expected = 0;
    transfer *t;
    curl.multi_perform(multi, &running);
    int goes_on = now() < end;
    while ((t = next_finished(multi, target.bytes, &is_expected)) != NULL) {
      if (is_expected) done++; else failed++;
      if (goes_on) {
        curl.easy_setopt(t->easy, URL, target.url);
        curl.multi_add_handle(multi, t->easy);
      } else {
        left--;
      }
    }
    if (left > 0) curl.multi_poll(multi, NULL, 0, 1000, NULL);
  }
  for (int i = 0; i < in_flight; i++) end_transfer(&all[i]);
  free(all);
  return failed == 0 ? done : -1;
}

// The thread that runs libcurl, and the request that it shares with the caller.
static struct {
  void *multi;
  transfer transfer;
  long bytes;
  pthread_mutex_t lock;
  int is_waiting, is_over, is_expected;
  sem_t finished;
} background = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *run_background(void *unused) {
  (void)unused;
  for (;;) {
    int running = 0;
    pthread_mutex_lock(&background.lock);
    int is_new = background.is_waiting, is_over = background.is_over;
    background.is_waiting = 0;
    pthread_mutex_unlock(&background.lock);
    if (is_over) return NULL;
    if (is_new) curl.multi_add_handle(background.multi, background.transfer.easy);
    curl.multi_perform(background.multi, &running);
    if (next_finished(background.multi, background.bytes, &background.is_expected) != NULL) sem_post(&background.finished);
    curl.multi_poll(background.multi, NULL, 0, 1000, NULL);
  }
}

static void wake(int *flag) {
  pthread_mutex_lock(&background.lock);
  *flag = 1;
  pthread_mutex_unlock(&background.lock);
  curl.multi_wakeup(background.multi);
}

long curl_loop_run_on_thread(curl_loop_target target, double seconds) {
  pthread_t thread;
  if (kept(&background.multi) == NULL) return -1;
  background.bytes = target.bytes;
  background.is_over = 0;
  begin(&background.transfer, &target);
  sem_init(&background.finished, 0, 0);
  if (pthread_create(&thread, NULL, run_background, NULL) != 0) return -1;
  double end = now() + seconds;
  long done = 0, failed = 0;
  do {
    curl.easy_setopt(background.transfer.easy, URL, target.url);
    wake(&background.is_waiting);
    while (sem_wait(&background.finished) != 0) {}
    if (background.is_expected) done++; else failed++;
  } while (now() < end);
  wake(&background.is_over);
  pthread_join(thread, NULL);
  end_transfer(&background.transfer);
  memset(&background.transfer, 0, sizeof background.transfer);
  return failed == 0 ? done : -1;
}
