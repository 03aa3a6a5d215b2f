#ifndef COUNT_MALLOC_H
#define COUNT_MALLOC_H

/// How often this process has called malloc since it started; 0 where it cannot be counted.
long count_malloc(void);

#endif
