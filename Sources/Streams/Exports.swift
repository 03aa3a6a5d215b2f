// The lock of every module of this package.
#if compiler(>=6.2)
  @_exported public import struct PortableFoundation.Locked
#else
  @_exported public import class PortableFoundation.Locked
#endif
