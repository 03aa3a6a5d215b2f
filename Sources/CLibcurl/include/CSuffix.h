#ifndef CSUFFIX_H
#define CSUFFIX_H

// The list of public suffixes of libpsl, which most builds of libcurl are linked with, loaded at run time.

#include <stdbool.h>

// Returns whether the list is available. Thread-safe.
bool csuffix_available(void);

// Returns whether `domain`, in lowercase, is a public suffix; false if the list is not available. Thread-safe.
bool csuffix_contains(const char *domain);

#endif
