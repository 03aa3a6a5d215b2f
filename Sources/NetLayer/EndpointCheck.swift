import PortableFoundation
import Streams

/// A check of endpoint types for stored properties that look like a part of the call, but are not sent.
enum EndpointCheck {
  /// The types that were checked. The lock is held only for a lookup.
  private static let checked = Locked<Set<ObjectIdentifier>>([])

  static func report(_ endpoint: Any, usesTask: Bool, to print: (String) -> Void = StandardError.print) {
    guard checked.withLock({ $0.insert(ObjectIdentifier(type(of: endpoint))).inserted }) else { return }
    for problem in problems(of: endpoint, usesTask: usesTask) { print(problem) }
  }

  /// Returns a sentence for each stored property that is not sent.
  static func problems(of endpoint: Any, usesTask: Bool) -> [String] {
    let endpointType = type(of: endpoint)
    return Mirror(reflecting: endpoint).children.compactMap { name, value in
      let type = Swift.type(of: value)
      guard let name, let advice = advice(name, type, usesTask: usesTask) else { return nil }
      return "\(endpointType).\(name) of type \(type) is not sent: \(advice)"
    }
  }

  private static func advice(_ name: String, _ type: Any.Type, usesTask: Bool) -> String? {
    switch name {
    case "query" where type != Parameters.self && type != String.self && !usesTask:
      "declare it as query: Parameters"
    case "timeout" where type == Duration.self || type != Duration?.self && !usesTask:
      "declare it as timeout: Duration?"
    case "method" where type != HTTPMethod.self: "declare it as method: HTTPMethod"
    case "headers" where type != HTTPHeaders.self: "declare it as headers: HTTPHeaders"
    case "task" where type != HTTPTask.self: "declare it as task: HTTPTask"
    case "baseURL" where type != URL?.self: "declare it as baseURL: URL?"
    case "tags" where type != Set<CacheTag>.self: "declare it as tags: Set<CacheTag>"
    case "invalidates" where type != Set<CacheTag>.self: "declare it as invalidates: Set<CacheTag>"
    case "caching" where type != CacheOptions.self: "declare it as caching: CacheOptions"
    case "accept" where type != String?.self: "declare it as accept: String?"
    case "parameters" where !usesTask: "declare var task: HTTPTask { .parameters(parameters) }, or query: Parameters"
    case "body" where !usesTask: "declare var task: HTTPTask { .json(body) }"
    case "contentType" where !usesTask: "pass it to the task, as in .data(bytes, contentType: contentType)"
    default: nil
    }
  }
}
