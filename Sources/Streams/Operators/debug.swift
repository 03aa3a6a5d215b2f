import PortableFoundation

extension ObservableType {
  /// Prints the subscription, the events and the disposal to standard error, one line each, with the time.
  ///
  /// - Parameters:
  ///   - identifier: The label of the lines; by default, the file and line of this call.
  ///   - print: A closure that receives the lines instead of standard error.
  ///   - file: The file of this call.
  ///   - line: The line of this call.
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
