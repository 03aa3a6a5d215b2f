#ifndef COUNT_MALLOC_H
#define COUNT_MALLOC_H

/// Returns the number of malloc calls of this process so far, or 0 on platforms where they cannot be counted.
long count_malloc(void);

/// Returns the number of bytes requested from malloc so far, or 0 on platforms where they cannot be counted.
long count_bytes(void);

#endif
