#if canImport(CCurl)
  import CCurl
  import Foundation

  /// A transfer's way: accepted, waiting, handed to libcurl, finished; the loop's thread only.
  extension CurlLoop {
    func accept(_ transfer: CurlTransfer) {
      // Its cancellation may have come out of the inbox before it did.
      guard !transfer.isFinished else { return }
      transfer.index = live.count
      live.append(transfer)
      if let refusal = transfer.refusal {
        end(transfer, .failure(refusal))
        return
      }
      guard !isEnding else { return }
      nextCheck = Swift.min(nextCheck, transfer.totalDeadline)
      enqueue(transfer)
    }

    private func enqueue(_ transfer: CurlTransfer) {
      let lane = lane(for: transfer.hopURL)
      transfer.lane = lane
      if queue.admit(transfer, in: lane, priority: transfer.priority), !begin(transfer) { start(queue.finished(lane)) }
    }

    /// Starts what may run; what has ended while it waited makes room for the next.
    private func start(_ admitted: [CurlTransfer]) {
      var admitted = admitted
      var index = 0
      while index < admitted.count {
        let transfer = admitted[index]
        if !begin(transfer), let lane = transfer.lane { admitted += queue.finished(lane) }
        index += 1
      }
    }

    /// Hands a transfer to libcurl; `false` when there is nothing to run.
    private func begin(_ transfer: CurlTransfer) -> Bool {
      guard !transfer.isFinished, !isEnding else { return false }
      guard let handle = idle.popLast() ?? CurlHandle(configuration, share: share) else {
        end(transfer, .failure(CurlFailure.outOfMemory(transfer)))
        return false
      }
      do {
        try handle.prepare(transfer)
      } catch {
        retire(handle)
        end(transfer, .failure(error))
        return false
      }
      guard ccurl_multi_add(multi, handle.easy) == 0 else {
        retire(handle)
        end(transfer, .failure(CurlFailure.outOfMemory(transfer)))
        return false
      }
      handle.startedAt = now
      transfer.startedAt = transfer.startedAt ?? now
      transfer.handle = handle
      transfer.lastActivity = now
      nextCheck = Swift.min(nextCheck, Deadline.after(transfer.request.timeouts.idle, from: now))
      return true
    }

    func deliverFinished() {
      var code: Int32 = 0
      while let context = ccurl_multi_next_done(multi, &code) {
        let handle = Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue()
        ccurl_multi_remove(multi, handle.easy)
        guard let transfer = handle.transfer else { continue }
        let outcome = outcome(of: transfer, handle, code)
        let isMultiplexed = transfer.isSecure && handle.spokeHTTP2
        release(transfer, handle, isMultiplexed: isMultiplexed)
        switch outcome {
        case .done(let result): end(transfer, result)
        case .hop(let next, let isRedirect):
          transfer.hop = next
          transfer.hopURL = next.url.absoluteString
          if isRedirect { transfer.hops += 1 }
          enqueue(transfer)
        }
      }
    }

    private enum Outcome {
      case done(Result<Response, NetworkError>)
      case hop(Request, isRedirect: Bool)
    }

    private func outcome(of transfer: CurlTransfer, _ handle: CurlHandle, _ code: Int32) -> Outcome {
      // What came in behind a cancellation was dropped: no success, however whole the answer was on the wire.
      guard !transfer.isCancelled else { return .done(.failure(measured(Self.cancelledError(transfer), transfer))) }
      switch handle.redirect {
      case .follow(let next) where code == 0 || handle.hasLeftBody: return .hop(next, isRedirect: true)
      case .refuse(let error): return .done(.failure(measured(error, transfer)))
      default: break
      }
      if code == 0, handle.mayBeSentAgain {
        transfer.hasRefusedExpectation = true
        return .hop(transfer.hop, isRedirect: false)
      }
      // A chunk that a pause held may have been refused where libcurl's code does not tell.
      guard code == 0, handle.answer.isHeadComplete, !handle.answer.isTooLarge else {
        return .done(.failure(failure(of: transfer, handle, code)))
      }
      let status = handle.answer.status
      let headers = handle.answer.headers
      handle.deliverHead()
      if transfer.reportsProgress { transfer.report(handle.finalProgress, last: true) }
      var response = Response(
        request: transfer.request, url: transfer.hop.url, status: status, headers: headers)
      response.body = handle.answer.takeBody()
      response.metrics = handle.metrics(of: transfer, at: now)
      return .done(.success(response))
    }

    /// Why libcurl's `code` ended the transfer; 0 where a rule of ours did.
    func failure(of transfer: CurlTransfer, _ handle: CurlHandle, _ code: Int32) -> NetworkError {
      guard !transfer.isCancelled else { return measured(Self.cancelledError(transfer), transfer) }
      return measured(
        code == 0 && !handle.answer.isTooLarge
          ? CurlFailure.headCutShort(transfer) : CurlFailure.error(code, handle: handle, transfer: transfer),
        transfer)
    }

    /// `error` with what the exchange has taken, on its handle or in the queue.
    private func measured(_ error: NetworkError, _ transfer: CurlTransfer) -> NetworkError {
      guard error.metrics == nil else { return error }
      var error = error
      error.metrics = transfer.handle?.metrics(of: transfer, at: now) ?? transfer.metricsWithoutHandle
      return error
    }

    /// Ends a transfer in whatever state it is; does nothing when it has ended.
    func end(_ transfer: CurlTransfer, _ result: Result<Response, NetworkError>) {
      guard !transfer.isFinished else { return }
      var result = result
      if case .failure(let error) = result { result = .failure(measured(error, transfer)) }
      if let handle = transfer.handle {
        ccurl_multi_remove(multi, handle.easy)
        release(transfer, handle, isMultiplexed: false)
      }
      if transfer.index >= 0 {
        let last = live.removeLast()
        if last !== transfer {
          live[transfer.index] = last
          last.index = transfer.index
        }
        transfer.index = -1
      }
      transfer.finish(result)
    }

    private func release(_ transfer: CurlTransfer, _ handle: CurlHandle, isMultiplexed: Bool) {
      transfer.handle = nil
      retire(handle)
      if let lane = transfer.lane { start(queue.finished(lane, multiplexed: isMultiplexed)) }
    }

    private func retire(_ handle: CurlHandle) {
      handle.release()
      if idle.count < maxIdleHandles, !isEnding { idle.append(handle) }
    }

    /// The lane of the URL's origin: neighbours in time mostly go to the same one.
    private func lane(for url: String) -> ConnectionQueue<CurlTransfer>.Lane {
      let bytes = url.utf8
      if let (origin, lane) = lastLane, bytes.starts(with: origin.utf8) {
        let end = bytes.index(bytes.startIndex, offsetBy: origin.utf8.count)
        if end == bytes.endIndex || bytes[end] == 0x2f { return lane }
      }
      let authority = bytes.firstIndex(of: 0x3a).flatMap { bytes.index($0, offsetBy: 3, limitedBy: bytes.endIndex) }
      let start = authority ?? bytes.startIndex
      let end = bytes[start...].firstIndex { $0 == 0x2f || $0 == 0x3f || $0 == 0x23 } ?? bytes.endIndex
      let origin = String(url[..<end])
      let lane = queue.lane(for: origin)
      lastLane = (origin, lane)
      return lane
    }
  }
#endif
