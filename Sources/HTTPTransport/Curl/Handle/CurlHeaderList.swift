#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  /// The header lines of one request as libcurl reads them: a linked list, in one allocation.
  ///
  /// libcurl keeps the pointer, so the list must outlive the transfer. `curl_slist_append` would walk the list and
  /// allocate twice per line.
  final class CurlHeaderList {
    let head: UnsafeMutablePointer<ccurl_slist>?
    private let storage: UnsafeMutableRawPointer?

    /// - Parameter removed: The names of the lines that libcurl would otherwise add.
    init(_ headers: HTTPHeaders, removed: [String]) {
      let count = headers.count + removed.count
      guard count > 0 else {
        head = nil
        storage = nil
        return
      }
      var size = count * MemoryLayout<ccurl_slist>.stride
      for field in headers { size += field.name.utf8.count + field.value.utf8.count + 3 }
      for name in removed { size += name.utf8.count + 2 }
      let storage = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: MemoryLayout<ccurl_slist>.alignment)
      let nodes = storage.bindMemory(to: ccurl_slist.self, capacity: count)
      var text = (storage + count * MemoryLayout<ccurl_slist>.stride).assumingMemoryBound(to: UInt8.self)
      var index = 0
      func put(_ part: String) {
        for byte in part.utf8 {
          text.pointee = byte
          text += 1
        }
      }
      func line(_ parts: String...) {
        let start = UnsafeMutableRawPointer(text).assumingMemoryBound(to: CChar.self)
        for part in parts { put(part) }
        text.pointee = 0
        text += 1
        nodes[index] = ccurl_slist(data: start, next: index + 1 < count ? nodes + index + 1 : nil)
        index += 1
      }
      for field in headers {
        // "Name:" would remove the line; "Name;" sends it with an empty value (CURLOPT_HTTPHEADER(3)).
        if field.value.isEmpty { line(field.name, ";") } else { line(field.name, ": ", field.value) }
      }
      for name in removed { line(name, ":") }
      head = nodes
      self.storage = storage
    }

    deinit { storage?.deallocate() }
  }
#endif
