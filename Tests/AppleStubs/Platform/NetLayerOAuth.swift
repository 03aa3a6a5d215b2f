// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// In Apple's Foundation, Darwin is a part. Declarations of a module precede those of Glibc and of Linux's Foundation.
@_exported import Darwin

// On Darwin, not an enumeration.
let SOCK_STREAM: Int32 = 1
