import PortableFoundation

/// A mark of requests that a refresh of a token sends, which therefore can't wait for it.
enum IsPartOfRefresh: ContextKey {
  static let defaultValue = false

  /// Whether a refresh is starting on this thread.
  @TaskLocal static var isRefreshing = false
}

extension Request {
  /// Marks the request if its call starts in a refresh, and removes the mark of an earlier call.
  mutating func markRefresh() {
    let isRefreshing = IsPartOfRefresh.isRefreshing
    if context[IsPartOfRefresh.self] != isRefreshing { context[IsPartOfRefresh.self] = isRefreshing }
  }
}
