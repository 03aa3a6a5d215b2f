// A call with several requests, such as pages and reconnections, has one calling context: they start on other threads, where the
// caller's task-locals have no values.
extension Network {
  /// Lets the interceptors record values of the calling context in `request`.
  package func captureContext(into request: inout Request) {
    for interceptor in interceptors { interceptor.captureContext(into: &request) }
  }

  /// Returns `content` as a call that begins here, with what the interceptors record.
  package func capturingContext(_ content: CallContent) -> CallContent {
    guard !interceptors.isEmpty, let url = try? content.target.url(below: content.baseURL ?? builder.baseURL) else {
      return content
    }
    var (content, request) = (content, Request(method: content.method, url: url, headers: content.headers))
    request.context = content.context
    let hasNotes = !request.context.isEmpty
    captureContext(into: &request)
    request.context[HasNotes.self] = hasNotes
    request.context[HasCallingContext.self] = true
    content.context = request.context
    return content
  }
}
