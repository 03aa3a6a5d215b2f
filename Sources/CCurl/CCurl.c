#include "CCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

// The head of libcurl's curl_version_info_data, as far as it is read here; `age` says which fields exist.
typedef struct {
  int age;
  const char *version;
  unsigned int version_num;
  const char *host;
  int features;
  const char *ssl_version;
  long ssl_version_num;
  const char *libz_version;
  const char *const *protocols;
  const char *ares;
  int ares_num;
  const char *libidn;
  int iconv_ver_num;
  const char *libssh_version;
  unsigned int brotli_ver_num;
  const char *brotli_version;
  unsigned int nghttp2_ver_num;
  const char *nghttp2_version;
  const char *quic_version;
  const char *cainfo;  // from age 6 on (7.70)
  const char *capath;
} version_data;

typedef struct {
  int msg;  // 1: done
  void *easy;
  union {
    void *whatever;
    int result;
  } data;
} message;

static struct {
  int (*global_init)(long);
  version_data *(*version_info)(int);
  void *(*easy_init)(void);
  void (*easy_cleanup)(void *);
  void (*easy_reset)(void *);
  const char *(*easy_strerror)(int);
  int (*easy_setopt)(void *, int, ...);
  int (*easy_getinfo)(void *, int, ...);
  int (*easy_pause)(void *, int);
  void *(*share_init)(void);
  int (*share_cleanup)(void *);
  int (*share_setopt)(void *, int, ...);
  void *(*multi_init)(void);
  int (*multi_cleanup)(void *);
  int (*multi_setopt)(void *, int, ...);
  int (*multi_add_handle)(void *, void *);
  int (*multi_remove_handle)(void *, void *);
  int (*multi_perform)(void *, int *);
  int (*multi_poll)(void *, void *, unsigned int, int, int *);
  int (*multi_wakeup)(void *);
  message *(*multi_info_read)(void *, int *);
} curl;

static const char *failure;
static ccurl_info info;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  static const char *const names[] = {"libcurl.so.4", "libcurl.so", "libcurl-gnutls.so.4"};
  void *library = NULL;
  for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++) {
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  }
  if (library == NULL) {
    failure = "no libcurl.so.4, libcurl.so or libcurl-gnutls.so.4 was found; install libcurl (Debian: libcurl4)";
    return;
  }
  const struct {
    const char *name;
    void **slot;
  } symbols[] = {
    {"curl_global_init", (void **)&curl.global_init},
    {"curl_version_info", (void **)&curl.version_info},
    {"curl_easy_init", (void **)&curl.easy_init},
    {"curl_easy_cleanup", (void **)&curl.easy_cleanup},
    {"curl_easy_reset", (void **)&curl.easy_reset},
    {"curl_easy_strerror", (void **)&curl.easy_strerror},
    {"curl_easy_setopt", (void **)&curl.easy_setopt},
    {"curl_easy_getinfo", (void **)&curl.easy_getinfo},
    {"curl_easy_pause", (void **)&curl.easy_pause},
    {"curl_share_init", (void **)&curl.share_init},
    {"curl_share_cleanup", (void **)&curl.share_cleanup},
    {"curl_share_setopt", (void **)&curl.share_setopt},
    {"curl_multi_init", (void **)&curl.multi_init},
    {"curl_multi_cleanup", (void **)&curl.multi_cleanup},
    {"curl_multi_setopt", (void **)&curl.multi_setopt},
    {"curl_multi_add_handle", (void **)&curl.multi_add_handle},
    {"curl_multi_remove_handle", (void **)&curl.multi_remove_handle},
    {"curl_multi_perform", (void **)&curl.multi_perform},
    {"curl_multi_poll", (void **)&curl.multi_poll},
    {"curl_multi_wakeup", (void **)&curl.multi_wakeup},
    {"curl_multi_info_read", (void **)&curl.multi_info_read},
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    *symbols[i].slot = dlsym(library, symbols[i].name);
    if (*symbols[i].slot == NULL) {
      failure = "the libcurl found is older than 7.68 (it lacks curl_multi_wakeup or an older function); update libcurl";
      return;
    }
  }
  if (curl.global_init(3) != 0) {  // CURL_GLOBAL_ALL
    failure = "curl_global_init failed: libcurl's TLS library could not be set up";
    return;
  }
  const version_data *data = curl.version_info(5);  // CURLVERSION_SIXTH: libcurl answers with what it has
  info.number = data->version_num;
  info.version = data->version;
  info.tls = data->ssl_version;
  info.features = data->features;
  if (data->age >= 6) {
    info.ca_file = data->cainfo;
    info.ca_directory = data->capath;
  }
}

const char *ccurl_load(void) {
  pthread_once(&once, load);
  return failure;
}

ccurl_info ccurl_get_info(void) { return info; }

void *ccurl_easy_init(void) { return curl.easy_init(); }
void ccurl_easy_cleanup(void *easy) { curl.easy_cleanup(easy); }
void ccurl_easy_reset(void *easy) { curl.easy_reset(easy); }
const char *ccurl_easy_strerror(int code) { return curl.easy_strerror(code); }
int ccurl_easy_set_long(void *easy, int option, long value) { return curl.easy_setopt(easy, option, value); }
int ccurl_easy_set_int64(void *easy, int option, int64_t value) { return curl.easy_setopt(easy, option, value); }
int ccurl_easy_set_pointer(void *easy, int option, const void *value) { return curl.easy_setopt(easy, option, value); }
int ccurl_easy_set_data_callback(void *easy, int option, ccurl_data_callback value) {
  return curl.easy_setopt(easy, option, value);
}
int ccurl_easy_set_seek_callback(void *easy, int option, ccurl_seek_callback value) {
  return curl.easy_setopt(easy, option, value);
}

int ccurl_easy_set_progress_callback(void *easy, int option, ccurl_progress_callback value) {
  return curl.easy_setopt(easy, option, value);
}
int ccurl_easy_set_prereq_callback(void *easy, int option, ccurl_prereq_callback value) {
  return curl.easy_setopt(easy, option, value);
}
int64_t ccurl_easy_get_int64(void *easy, int what) {
  int64_t value = -1;
  return curl.easy_getinfo(easy, what, &value) == 0 ? value : -1;
}
long ccurl_easy_get_long(void *easy, int what) {
  long value = -1;
  return curl.easy_getinfo(easy, what, &value) == 0 ? value : -1;
}

int ccurl_easy_pause(void *easy, int what) { return curl.easy_pause(easy, what); }
int ccurl_easy_set_blob(void *easy, int option, const void *bytes, size_t count) {
  struct {
    const void *data;
    size_t length;
    unsigned int flags;
  } blob = {bytes, count, 1};  // CURL_BLOB_COPY
  return curl.easy_setopt(easy, option, &blob);
}
ccurl_metrics ccurl_easy_get_metrics(void *easy) {
  ccurl_metrics metrics = {
    .name_lookup = ccurl_easy_get_int64(easy, 0x600033), .connect = ccurl_easy_get_int64(easy, 0x600034),
    .tls = ccurl_easy_get_int64(easy, 0x600038), .pretransfer = ccurl_easy_get_int64(easy, 0x600035),
    .first_byte = ccurl_easy_get_int64(easy, 0x600036), .total = ccurl_easy_get_int64(easy, 0x600032),
    .sent = ccurl_easy_get_int64(easy, 0x600007), .received = ccurl_easy_get_int64(easy, 0x600008),
    .connects = ccurl_easy_get_long(easy, 0x20001a), .port = ccurl_easy_get_long(easy, 0x200028),
    .http_version = ccurl_easy_get_long(easy, 0x20002e), .address = NULL,
  };
  curl.easy_getinfo(easy, 0x100020, &metrics.address);
  return metrics;
}

void *ccurl_share_init(void) {
  void *share = curl.share_init();
  if (share != NULL) curl.share_setopt(share, 1, 4);  // CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION
  return share;
}
void ccurl_share_cleanup(void *share) { curl.share_cleanup(share); }

void *ccurl_multi_init(void) { return curl.multi_init(); }
void ccurl_multi_cleanup(void *multi) { curl.multi_cleanup(multi); }
int ccurl_multi_set_long(void *multi, int option, long value) { return curl.multi_setopt(multi, option, value); }
int ccurl_multi_add(void *multi, void *easy) { return curl.multi_add_handle(multi, easy); }
int ccurl_multi_remove(void *multi, void *easy) { return curl.multi_remove_handle(multi, easy); }
int ccurl_multi_perform(void *multi) {
  int running = 0;
  return curl.multi_perform(multi, &running);
}
int ccurl_multi_poll(void *multi, int milliseconds) { return curl.multi_poll(multi, NULL, 0, milliseconds, NULL); }
int ccurl_multi_wakeup(void *multi) { return curl.multi_wakeup(multi); }

void *ccurl_multi_next_done(void *multi, int *code) {
  int left = 0;
  const message *next;
  while ((next = curl.multi_info_read(multi, &left)) != NULL) {
    void *context = NULL;
    if (next->msg != 1) continue;
    *code = next->data.result;
    if (curl.easy_getinfo(next->easy, 0x100015, &context) == 0 && context != NULL) return context;  // CURLINFO_PRIVATE
  }
  return NULL;
}

void ccurl_name_thread(const char *name) {
#ifdef __linux__
  prctl(PR_SET_NAME, name, 0, 0, 0);
#else
  (void)name;
#endif
}
