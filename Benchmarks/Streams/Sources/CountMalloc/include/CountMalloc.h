#ifndef COUNT_MALLOC_H
#define COUNT_MALLOC_H

/// Starts counting the malloc calls of this process from 0.
///
/// Counting takes longer than many allocations do, so times are measured without it.
void count_start(void);

/// Stops counting, and returns the number of malloc calls since `count_start`, or 0 on platforms where they cannot be
/// counted.
long count_stop(void);

/// Returns the number of bytes requested by the counted calls.
long count_bytes(void);

#endif
