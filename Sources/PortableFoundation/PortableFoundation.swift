// The part of Foundation that the sources use. Where the platform has FoundationEssentials, a static program then needs neither
// Foundation nor its 37 MB of ICU data; docs/deployment.md has the numbers.
#if canImport(FoundationEssentials)
  @_exported import Dispatch
  @_exported import FoundationEssentials
  #if canImport(Glibc)
    @_exported import Glibc
  #elseif canImport(Musl)
    @_exported import Musl
  #endif
#else
  @_exported import Foundation
#endif
