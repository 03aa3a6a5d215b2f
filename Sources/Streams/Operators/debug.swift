import PortableFoundation

extension ObservableType {
  /// Prints subscription, events and disposal to standard error, one line each with the time.
  ///
  /// - Parameters:
  ///   - identifier: what the lines are marked with; the place of this call, if there is none.
  ///   - print: takes the lines instead of standard error.
  ///   - file: the place of this call.
  ///   - line: the place of this call.
  public func debug(
    _ identifier: String? = nil, print: (@Sendable (String) -> Void)? = nil, file: StaticString = #fileID,
    line: UInt = #line
  ) -> Observable<Element> {
    let name = identifier ?? "\(file):\(line)"
    let show: @Sendable (String) -> Void = { event in
      if let print { return print("\(name) -> \(event)") }
      let time = Date().formatted(.iso8601.time(includingFractionalSeconds: true))
      StandardError.print("\(time): \(name) -> \(event)")
    }
    return self.do(
      onNext: { show("next(\($0))") }, onError: { show("error(\($0))") }, onCompleted: { show("completed") },
      onSubscribe: { show("subscribed") }, onDispose: { show("disposed") })
  }
}
