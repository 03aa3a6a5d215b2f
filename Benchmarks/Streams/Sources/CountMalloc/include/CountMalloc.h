#ifndef COUNT_MALLOC_H
#define COUNT_MALLOC_H

/// How often this process has called malloc since it started; 0 where it cannot be counted.
long count_malloc(void);

/// How many bytes it has asked malloc for; 0 where they cannot be counted.
long count_bytes(void);

#endif
