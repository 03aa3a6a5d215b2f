// The part of Foundation that the sources use. If the platform has FoundationEssentials, a static program needs neither
// Foundation nor its 37 MB of ICU data; see docs/deployment.md.
#if canImport(FoundationEssentials)
  @_exported import Dispatch
  @_exported import FoundationEssentials
  #if canImport(Glibc)
    @_exported import Glibc
  #elseif canImport(Musl)
    @_exported import Musl
  #elseif canImport(Android)
    @_exported import Android
  #endif
#else
  @_exported import Foundation
#endif
