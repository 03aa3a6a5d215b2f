import Streams

/// The switch from the transport's thread to the mapping queue, `Backend.mapping`.
extension Transmission {
  /// Queues an event and starts the delivery on the mapping queue, unless it is running. Called on the transport's thread.
  ///
  /// - Parameter handsOver: Whether the receiver of the response, not this object, cancels the rest of the request.
  func add(_ event: Event, handsOver: Bool = false) {
    let starts = state.withLock { state in
      guard state.receiver != nil else { return false }
      if handsOver { state.sent = nil }
      if state.event == nil { state.event = event } else { state.laterEvents.append(event) }
      defer { state.isDelivering = true }
      return !state.isDelivering
    }
    if starts { pipeline.answering.runOnMappingQueue { [self] in deliver() } }
  }

  /// Delivers the queued events. Called on the mapping queue.
  private func deliver() {
    while let (event, receiver) = takeEvent() {
      // Consumed, so that the response is usually the only reference to its storage and is modified in place.
      switch consume event {
      case .progress(let progress): self.progress?(progress)
      case .response(var response):
        pipeline.mark(&response)
        receiver.deliver(response)
        receiver.subscription.complete()
      case .failure(let error): receiver.subscription.fail(pipeline.reading.translated(error))
      }
    }
  }

  /// Takes the oldest event. A call that finds no event ends the delivery.
  private func takeEvent() -> (Event, Sink<Response>)? {
    state.withLock { state in
      guard state.receiver != nil, let event = state.event.take() else {
        state.isDelivering = false
        return nil
      }
      if !state.laterEvents.isEmpty { state.event = state.laterEvents.removeFirst() }
      // Moved if it is the last event.
      let receiver = if case .progress = event { state.receiver } else { state.receiver.take() }
      return receiver.map { (event, $0) }
    }
  }
}
