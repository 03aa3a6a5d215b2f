// Excluded together with the transport by the trait URLSession (docs/deployment.md).
#if HAS_URLSESSION
  import Foundation
  import NetLayer

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  func pinned(_ pins: [PublicKeyPin]) -> URLSessionTransport {
    URLSessionTransport(
      .init(tls: .init(pins: ["api.example.com": pins], minVersion: .v1_3)) { session in
        session.allowsCellularAccess = false
      })
  }
#endif
