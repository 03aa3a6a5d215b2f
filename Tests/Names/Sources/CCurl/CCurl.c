#include "CCurl.h"

CURLcode ccurl_version(void) { return CURLE_UNSUPPORTED_PROTOCOL; }
