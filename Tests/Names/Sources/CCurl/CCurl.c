#include "CCurl.h"

int ccurl_version(void) { return 8; }
