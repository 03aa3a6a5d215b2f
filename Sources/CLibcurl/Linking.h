#ifndef LINKING_H
#define LINKING_H

// The lookup of the functions of libcurl and zlib: at run time, or by the linker if the program has no dlopen. The
// latter applies to static programs over musl (Swift's Static Linux SDK, which contains libcurl.a and libz.a).
// CCURL_LINKED selects it elsewhere, too.

#include <stdlib.h>  // Any header of the C library defines __GLIBC__.

#if !defined(CCURL_LINKED) && !defined(__GLIBC__) && !defined(__ANDROID__)
#define CCURL_LINKED 1
#endif

#ifdef CCURL_LINKED

// Strong references, because a linker takes nothing from an archive for a weak one.
#define OPEN(name) ((void *)(name))
#define FIND(library, name) __extension__({ extern void name(void); (void)(library); (void *)name; })

#else

#include <dlfcn.h>

#define OPEN(name) dlopen(name, RTLD_NOW | RTLD_LOCAL)
#define FIND(library, name) dlsym(library, #name)

#endif

#endif
