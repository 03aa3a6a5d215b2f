#ifdef __linux__

#include "Libcurl.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

// Easy handles and their options.

void *ccurl_easy_init(void) { return ccurl.easy_init(); }
void ccurl_easy_cleanup(void *easy) { ccurl.easy_cleanup(easy); }
void ccurl_easy_reset(void *easy) { ccurl.easy_reset(easy); }

ccurl_code ccurl_easy_set_url(void *easy, void **parsed, const char *url, bool parses) {
  if (*parsed == NULL) *parsed = ccurl.url();
  // The flags are those with which libcurl parses the text of CURLOPT_URL.
  bool is_parsed = *parsed != NULL && parses
                   && ccurl.url_set(*parsed, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS) == 0;
  ccurl.easy_setopt(easy, CURLOPT_CURLU, is_parsed ? *parsed : NULL);
  return ccurl.easy_setopt(easy, CURLOPT_URL, url);
}

void ccurl_url_cleanup(void *parsed) { ccurl.url_cleanup(parsed); }

const char *ccurl_easy_strerror(ccurl_code code) { return ccurl.easy_strerror(code); }
#define SETTER(name, type) \
  ccurl_code ccurl_easy_set_##name(void *easy, ccurl_option option, type value) { \
    return ccurl.easy_setopt(easy, option, value); \
  }
SETTER(long, long)
SETTER(int64, int64_t)
SETTER(pointer, const void *)
SETTER(data_callback, ccurl_data_callback)
SETTER(seek_callback, ccurl_seek_callback)
SETTER(progress_callback, ccurl_progress_callback)
SETTER(debug_callback, ccurl_debug_callback)
SETTER(prereq_callback, ccurl_prereq_callback)

int64_t ccurl_easy_get_int64(void *easy, ccurl_infoname info) {
  int64_t value = -1;
  return ccurl.easy_getinfo(easy, info, &value) == 0 ? value : -1;
}
long ccurl_easy_get_long(void *easy, ccurl_infoname info) {
  long value = -1;
  return ccurl.easy_getinfo(easy, info, &value) == 0 ? value : -1;
}

ccurl_code ccurl_easy_send(void *easy, const void *bytes, size_t count, size_t *sent) {
  return ccurl.easy_send(easy, bytes, count, sent);
}
ccurl_code ccurl_easy_receive(void *easy, void *bytes, size_t count, size_t *received) {
  return ccurl.easy_recv(easy, bytes, count, received);
}
int ccurl_easy_get_socket(void *easy) {
  int socket = -1;
  return ccurl.easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket) == 0 ? socket : -1;
}
ccurl_code ccurl_easy_pause(void *easy, int what) { return ccurl.easy_pause(easy, what); }
ccurl_code ccurl_easy_set_blob(void *easy, ccurl_option option, const void *bytes, size_t count) {
  struct {
    const void *data;
    size_t length;
    unsigned int flags;
  } blob = {bytes, count, CURL_BLOB_COPY};
  return ccurl.easy_setopt(easy, option, &blob);
}
ccurl_metrics ccurl_easy_get_metrics(void *easy) {
  ccurl_metrics metrics = {
    .pretransfer = ccurl_easy_get_int64(easy, CURLINFO_PRETRANSFER_TIME_T),
    .posttransfer = ccurl_easy_get_int64(easy, CURLINFO_POSTTRANSFER_TIME_T),
    .first_byte = ccurl_easy_get_int64(easy, CURLINFO_STARTTRANSFER_TIME_T),
    .sent = ccurl_easy_get_int64(easy, CURLINFO_SIZE_UPLOAD_T),
    .received = ccurl_easy_get_int64(easy, CURLINFO_SIZE_DOWNLOAD_T),
    .port = ccurl_easy_get_long(easy, CURLINFO_PRIMARY_PORT),
    .http_version = ccurl_easy_get_long(easy, CURLINFO_HTTP_VERSION),
  };
  ccurl.easy_getinfo(easy, CURLINFO_PRIMARY_IP, &metrics.address);
  // Without an established connection, none was reused.
  metrics.reused = metrics.pretransfer > 0 && metrics.address != NULL && *metrics.address != 0
                   && ccurl_easy_get_long(easy, CURLINFO_NUM_CONNECTS) == 0;
  if (!metrics.reused) {
    metrics.name_lookup = ccurl_easy_get_int64(easy, CURLINFO_NAMELOOKUP_TIME_T);
    metrics.connect = ccurl_easy_get_int64(easy, CURLINFO_CONNECT_TIME_T);
    metrics.tls = ccurl_easy_get_int64(easy, CURLINFO_APPCONNECT_TIME_T);
  }
  return metrics;
}

void *ccurl_share_init(void) {
  void *share = ccurl.share_init();
  if (share != NULL) ccurl.share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  return share;
}
void ccurl_share_cleanup(void *share) { ccurl.share_cleanup(share); }

// The connections of a multi handle.

int64_t ccurl_multi_last_input(const ccurl_multi *multi, const ccurl_transfer *transfer) {
  return is_open(multi, transfer) ? multi->sockets[transfer->socket].last_input : 0;
}

bool ccurl_multi_reads(const ccurl_multi *multi, const ccurl_transfer *transfer) {
  return !is_open(multi, transfer) || (multi->sockets[transfer->socket].wanted & CURL_POLL_IN) != 0;
}

bool ccurl_multi_is_open(const ccurl_multi *multi, const ccurl_transfer *transfer) { return is_open(multi, transfer); }

int ccurl_multi_count_use(ccurl_multi *multi, const ccurl_transfer *transfer) {
  return is_open(multi, transfer) ? ++multi->sockets[transfer->socket].uses : 0;
}

uint64_t ccurl_multi_connection(const ccurl_multi *multi, int socket) {
  return socket >= 0 && socket < multi->count ? multi->sockets[socket].connection : 0;
}

in_port_t ccurl_local_port(int socket) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  if (getsockname(socket, (struct sockaddr *)&address, &length) != 0) return 0;
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return 0;
  return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                             : ((struct sockaddr_in *)&address)->sin_port);
}

void ccurl_multi_note_port(ccurl_multi *multi, ccurl_transfer *transfer, int port) {
  if (port <= 0) return;
  if (is_open(multi, transfer) && multi->sockets[transfer->socket].local_port == port) return;
  for (int socket = 0; socket < multi->count; socket++) {
    if (multi->sockets[socket].connection == 0) continue;
    if (multi->sockets[socket].local_port == 0) multi->sockets[socket].local_port = ccurl_local_port(socket);
    if (multi->sockets[socket].local_port != port) continue;
    transfer->socket = socket;
    transfer->connection = multi->sockets[socket].connection;
    return;
  }
}

// Returns whether a connection goes to the Unix domain socket `path`.
static bool goes_to(int socket, const char *path) {
  struct sockaddr_un address = {0};
  socklen_t length = sizeof address;
  return getpeername(socket, (struct sockaddr *)&address, &length) == 0 && address.sun_family == AF_UNIX
         && strncmp(address.sun_path, path, sizeof address.sun_path) == 0;
}

void ccurl_multi_note_file(ccurl_multi *multi, ccurl_transfer *transfer, const char *path, bool is_new) {
  int found = -1, count = 0;
  for (int socket = 0; socket < multi->count; socket++) {
    if (multi->sockets[socket].connection == 0 || !multi->sockets[socket].is_unix || !goes_to(socket, path)) continue;
    if (found < 0 || multi->sockets[found].connection < multi->sockets[socket].connection) found = socket;
    count++;
  }
  if (found < 0 || (!is_new && count > 1)) return;
  transfer->socket = found;
  transfer->connection = multi->sockets[found].connection;
  multi->sockets[found].lane = transfer->lane;
}

uint64_t ccurl_multi_next_connection(const ccurl_multi *multi, int *socket, uint32_t *lane) {
  while (++*socket < multi->count) {
    if (multi->sockets[*socket].connection == 0) continue;
    *lane = multi->sockets[*socket].lane;
    return multi->sockets[*socket].connection;
  }
  return 0;
}

#endif
