#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  /// The callbacks that libcurl calls on the loop's thread, within `ccurl_multi_wait` and `ccurl_multi_work`. The
  /// context is the `ccurl_transfer`, whose owner is the handle. The loop retains the handle.
  enum CurlCallbacks {
    static func handle(_ context: UnsafeMutableRawPointer?) -> CurlHandle? {
      context?.assumingMemoryBound(to: ccurl_transfer.self).pointee.owner.map {
        Unmanaged<CurlHandle>.fromOpaque($0).takeUnretainedValue()
      }
    }

    static let receiveBody: ccurl_data_callback = { bytes, size, count, context in
      guard let handle = handle(context), let bytes else { return 0 }
      handle.transfer?.touch()
      return handle.receiveBody(bytes, size * count)
    }

    static let receiveHeader: ccurl_data_callback = { bytes, size, count, context in
      guard let handle = handle(context), let bytes else { return 0 }
      handle.transfer?.touch()
      if CurlLibrary.keepsFreedFields { handle.awaitFirstField(after: bytes, size * count) }
      let continues = bytes.withMemoryRebound(to: UInt8.self, capacity: size * count) {
        handle.receiveHead(UnsafeBufferPointer(start: $0, count: size * count))
      }
      return continues ? size * count : 0
    }

    static let sendBody: ccurl_data_callback = { bytes, size, count, context in
      guard let handle = handle(context), let bytes else { return 0 }
      handle.transfer?.touch()
      return handle.sendBody(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
    }

    static let seekBody: ccurl_seek_callback = { context, offset, origin in
      guard origin == 0, let handle = handle(context) else { return Int32(CURL_SEEKFUNC_FAIL) }
      // Without a body, there is nothing to rewind.
      let isRewound =
        handle.attempt.pump.map { offset == 0 && $0.rewind() } ?? handle.attempt.body?.seek(to: offset) ?? true
      return isRewound ? 0 : Int32(CURL_SEEKFUNC_FAIL)
    }

    static let reportProgress: ccurl_progress_callback = { context, receiveTotal, received, sendTotal, sent in
      // The body of a redirect is not reported. libcurl passes 0 for an unknown length.
      guard let handle = handle(context), let transfer = handle.transfer, !(300..<400).contains(handle.response.status)
      else { return 0 }
      transfer.report(
        TransferProgress(
          sent: sent, sendTotal: sendTotal > 0 ? sendTotal : nil, received: received,
          receiveTotal: receiveTotal > 0 ? receiveTotal : nil),
        at: transfer.loop.now)
      return 0
    }

    static let aboutToSend: ccurl_prereq_callback = { context, _, _, _, localPort in
      guard let handle = handle(context), !handle.beginSending(from: localPort) else { return 0 }
      return Int32(CURL_PREREQFUNC_ABORT)
    }
  }
#endif
