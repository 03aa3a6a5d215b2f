// As in libcurl's header: CLibcurl must not define a type with this name.
typedef enum { CURLE_OK, CURLE_UNSUPPORTED_PROTOCOL } CURLcode;

CURLcode ccurl_version(void);
