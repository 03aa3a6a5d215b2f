#if canImport(CLibcurl)
  import PortableFoundation

  // Bug: over HTTP/2, libcurl loses buffered parts of a response if its buffer is smaller than a TLS record of 16
  // KB.
  // Issue: none known. Versions: 7.88; HTTP/2 requires 8.14 since, which was not tested with small buffers.
  // Hook: `CurlHandle.prepare`.
  // Test: none.
  // Delete this file after a test of HTTP/2 with small buffers on 8.14.

  extension CurlHandle {
    func losesPartsInSmallBuffers(_ transfer: CurlTransfer) -> Bool { transfer.mayMultiplex }
  }
#endif
