// The lock of every module of this package.
@_exported public import struct PortableFoundation.Locked
