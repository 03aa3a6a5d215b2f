#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  // Bug: without a body, libcurl loses the rest of a request head that a socket has accepted in two parts.
  // Issue: none known. Versions: 7.x.
  // Hook: `CurlHandle.prepareMethodAndBody`. Heads above `longHead` are also never reused from the previous
  // request.
  // Test: `CurlConnectionTests.test_aHeadOfAnySizeIsSentCompletely`, `test_aLongURLAfterAShortOneIsSentCompletely`.
  // Delete this file when 8.0 is the oldest supported version.

  extension CurlLibrary {
    static let losesLongHeads = !isAtLeast(0x08_0000)
  }

  extension CurlHandle {
    /// The number of bytes that a socket accepts in one call, even if the connection is slow.
    static let longHead = 1 << 14

    func isLong(_ request: Request) -> Bool {
      let fields = request.headers.reduce(transfer?.currentURL.utf8.count ?? 0) {
        $0 + $1.name.utf8.count + $1.value.utf8.count + 4
      }
      return fields > Self.longHead
    }

    /// Declares an empty body of unknown length: the cause is a comparison of the number of sent body bytes with 0.
    func prepareLongHead(_ request: Request, _ sendsLength: Bool) -> (removed: [String], added: HTTPHeaders) {
      settings.needsReset = true
      set(CURLOPT_UPLOAD, 1)
      set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
      set(bodySize: -1)
      return (["Transfer-Encoding", "Expect"], sendsLength ? ["Content-Length": "0"] : [:])
    }
  }
#endif
