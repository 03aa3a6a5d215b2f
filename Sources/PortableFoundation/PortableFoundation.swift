// The part of Foundation that the sources use. If the platform has FoundationEssentials, a static program needs neither
// Foundation nor its 37 MB of ICU data; see docs/deployment.md. Before Swift 6.2, only NSString decodes most charsets.
#if canImport(FoundationEssentials) && compiler(>=6.2)
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

extension String {
  /// Decodes `bytes` in `encoding`; nil if they are invalid in it.
  package init?(_ bytes: Data, in encoding: String.Encoding) {
    #if compiler(>=6.2)
      self.init(data: bytes, encoding: encoding)
    #else
      guard let text = NSString(data: bytes, encoding: encoding.rawValue) else { return nil }
      self = text as String
    #endif
  }
}
