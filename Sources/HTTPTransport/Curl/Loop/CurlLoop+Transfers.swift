#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  /// The states of a transfer: accepted, waiting, passed to libcurl, finished. Used only on the loop's thread.
  extension CurlLoop {
    func accept(_ transfer: CurlTransfer) {
      // The inbox may deliver a cancellation before the submission.
      guard !transfer.isFinished else { return }
      transfer.index = live.count
      live.append(transfer)
      if let failure = transfer.requestFailure {
        end(transfer, .failure(failure))
        return
      }
      guard !isEnding else { return }
      nextCheck = Swift.min(nextCheck, transfer.totalDeadline)
      enqueue(transfer)
    }

    private func enqueue(_ transfer: CurlTransfer) {
      let lane = lane(for: transfer.currentURL)
      transfer.lane = lane
      transfer.isWaiting = !queue.admit(transfer, in: lane, priority: transfer.priority)
      if !transfer.isWaiting, !begin(transfer) { start(queue.finished(lane)) }
    }

    /// Starts admitted transfers. If a transfer has ended while it waited, the next one starts instead.
    private func start(_ admitted: [any HostQueue.Item]) {
      var admitted = admitted
      var index = 0
      while index < admitted.count {
        defer { index += 1 }
        guard let transfer = admitted[index] as? CurlTransfer else { continue }
        transfer.isWaiting = false
        if !begin(transfer), let lane = transfer.lane { admitted += queue.finished(lane) }
      }
    }

    /// Passes a transfer to libcurl. Returns `false` if it ended instead.
    private func begin(_ transfer: CurlTransfer) -> Bool {
      guard !transfer.isFinished, !isEnding else { return false }
      guard !transfer.isCancelled else {
        end(transfer, .failure(Self.cancelledError(transfer)))
        return false
      }
      guard let handle = idle.popLast() ?? CurlHandle(configuration, multi: multi, share: share) else {
        end(transfer, .failure(CurlFailure.outOfMemory(transfer)))
        return false
      }
      do {
        try handle.prepare(transfer)
      } catch {
        retire(handle)
        end(transfer, .failure(error.about(transfer.request)))
        return false
      }
      guard ccurl_multi_add(multi, handle.easy) == 0 else {
        retire(handle)
        end(transfer, .failure(CurlFailure.outOfMemory(transfer)))
        return false
      }
      handle.attempt.startedAt = now
      handle.attempt.turn = turn
      if transfer.startedAt != nil { transfer.rate.restart() }
      transfer.startedAt = transfer.startedAt ?? now
      transfer.handle = handle
      transfer.lastActivity = now
      nextCheck = Swift.min(
        nextCheck, Deadline.after(Swift.min(transfer.limits.idle, transfer.limits.head), from: now),
        Deadline.after(transfer.limits.connect, from: now),
        transfer.currentRequest.body.isEmpty ? .max : nextLook(at: transfer))
      return true
    }

    func deliverFinished() {
      var code = CURLE_OK
      while let context = ccurl_multi_next_done(multi, &code) {
        let handle = Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue()
        guard let transfer = handle.transfer else { continue }
        handle.attempt.hasSucceeded = code == CURLE_OK
        endOtherStreams(of: transfer, handle, code)
        // The connection may be lost after a complete response, before the end of the upload.
        if handle.fate(code) == .complete { code = CURLE_OK }
        if code == CURLE_OK, handle.holdsContent, !transfer.isCancelled {
          // The consumer first takes the rest of the decoded content.
          ccurl_multi_remove(multi, handle.easy)
          handle.reception.heldCode = code
        } else {
          finish(transfer, handle, code)
        }
      }
    }

    /// Finishes a transfer that libcurl has ended with `code`, or that may be removed from libcurl.
    func finish(_ transfer: CurlTransfer, _ handle: CurlHandle, _ code: CURLcode) {
      let isMultiplexed = transfer.mayMultiplex && handle.isMultiplexed
      let result = continues(transfer, handle, code) ? nil : result(of: transfer, handle, code)
      // libcurl keeps the connection of a response that this package rejects.
      if code == CURLE_OK, case .failure? = result { ccurl_multi_distrust(multi, handle.connectionData) }
      if handle.reception.heldCode == nil { ccurl_multi_remove(multi, handle.easy) }
      release(transfer, handle, isMultiplexed: isMultiplexed)
      if let result { end(transfer, result) } else { enqueue(transfer) }
    }

    /// Returns whether the transfer continues, and prepares it: with a redirect, or by sending the same request again.
    private func continues(_ transfer: CurlTransfer, _ handle: CurlHandle, _ code: CURLcode) -> Bool {
      guard !transfer.isCancelled else { return false }
      switch handle.reception.redirect {
      case .follow(let next, let trail) where code == CURLE_OK || handle.reception.hasLeftBody:
        transfer.follow(next, trail)
        return true
      case .fail: return false
      default: break
      }
      // libcurl may have tried to resend it and been prevented.
      if code == CURLE_OK || handle.wasRestarted, handle.needsResend {
        transfer.lane?.ignoresExpectations = true
        return true
      }
      let fate = handle.fate(code)
      // A request on a new HTTP/1.1 connection that is lost would probably be lost again.
      guard fate == .notSent || fate == .mayHaveBeenProcessed && (transfer.mayMultiplex || handle.isOnReusedConnection)
      else { return false }
      if let obstacle = transfer.obstacleToRepetition(fate, isBodyTaken: handle.attempt.hasBodyBegun) {
        handle.attempt.lossReason = CurlFailure.lost(handle, code, obstacle)
        return false
      }
      if fate == .notSent { transfer.refusals += 1 }
      transfer.needsNewConnection = fate == .notSent || !transfer.mayMultiplex || transfer.isLastSend
      return true
    }

    private func result(
      of transfer: CurlTransfer, _ handle: CurlHandle, _ code: CURLcode
    ) -> Result<Response, NetworkError> {
      // Data received after a cancellation was dropped, so that even a complete response is not a success.
      guard !transfer.isCancelled else { return .failure(measured(Self.cancelledError(transfer), transfer)) }
      if case .fail(let error) = handle.reception.redirect { return .failure(measured(error, transfer)) }
      // A chunk that was held back by a pause may have failed without an error code from libcurl.
      guard code == CURLE_OK, handle.response.isHeadComplete, !handle.response.isTooLarge else {
        return .failure(failure(of: transfer, handle, code))
      }
      if let incompleteness = handle.incompleteness {
        return .failure(measured(CurlFailure.incompleteBody(transfer, handle, incompleteness), transfer))
      }
      handle.deliverHead()
      if transfer.reportsProgress { transfer.report(handle.finalProgress, at: now, last: true) }
      let metrics = handle.metrics(of: transfer, at: now)
      let url = transfer.currentRequest.url
      var response = Response(
        request: transfer.takeRequest(), url: url, status: handle.response.status, headers: handle.response.headers,
        body: handle.response.takeBody(), metrics: metrics, redirects: transfer.trail.redirects)
      response.trailers = handle.response.trailers
      return .success(response)
    }

    /// Returns the error for libcurl's `code`; `CURLE_OK` means that a rule of this package ended the transfer.
    func failure(of transfer: CurlTransfer, _ handle: CurlHandle, _ code: CURLcode) -> NetworkError {
      guard !transfer.isCancelled else { return measured(Self.cancelledError(transfer), transfer) }
      return measured(
        code == CURLE_OK && !handle.response.isTooLarge
          ? CurlFailure.incompleteHead(transfer) : CurlFailure.error(code, handle: handle, transfer: transfer),
        transfer)
    }

    /// Returns `error` with the measurements of the transfer, from its handle or from the queue.
    private func measured(_ error: NetworkError, _ transfer: CurlTransfer) -> NetworkError {
      guard error.metrics == nil else { return error }
      var error = error
      let handle = transfer.handle.flatMap { $0.attempt.turn == turn ? nil : $0 }
      error.metrics = handle?.metrics(of: transfer, at: now) ?? transfer.metricsWithoutHandle
      return error
    }

    /// Ends a transfer in any state; has no effect if it has ended.
    func end(_ transfer: CurlTransfer, _ result: Result<Response, NetworkError>) {
      guard !transfer.isFinished else { return }
      if case .failure(let error) = result, error.metrics == nil {
        return end(transfer, .failure(measured(error, transfer)))
      }
      if let handle = transfer.handle {
        if handle.reception.heldCode == nil { ccurl_multi_remove(multi, handle.easy) }
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
      if transfer.isWaiting, let lane = transfer.lane { queue.endedWaiting(in: lane, priority: transfer.priority) }
    }

    private func release(_ transfer: CurlTransfer, _ handle: CurlHandle, isMultiplexed: Bool) {
      transfer.handle = nil
      retire(handle)
      if let lane = transfer.lane { start(queue.finished(lane, multiplexed: isMultiplexed)) }
    }

    private func retire(_ handle: CurlHandle) {
      if handle.release(), idle.count < maxIdleHandles, !isEnding { idle.append(handle) }
    }

    /// Returns the lane of the URL's origin. Consecutive requests mostly have the same origin.
    private func lane(for url: String) -> HostQueue.Lane {
      if let (origin, lane) = lastLane, Origin.isIn(origin.text, url) { return lane }
      guard let origin = URL(text: url).map(Origin.init) else { return queue.lane(for: url) }
      let lane = queue.lane(for: origin.text)
      lastLane = (origin, lane)
      return lane
    }
  }
#endif
