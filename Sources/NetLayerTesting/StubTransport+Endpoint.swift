import NetLayer
import PortableFoundation

extension StubTransport.Stub {
  /// Creates a stub for the requests of `endpoint`. It matches the method and the path, for any base URL; parameters
  /// are not compared.
  public init(_ endpoint: some Endpoint, _ answer: StubTransport.StubbedResponse) {
    let (method, base, path) = (endpoint.method, endpoint.baseURL, endpoint.path)
    self.init(
      { request in
        guard request.method == method else { return false }
        let root = base ?? URL(string: "/", relativeTo: request.url)?.absoluteURL
        guard let wanted = try? path.url(below: root).path else { return false }
        let (path, below) = (request.url.path, wanted.hasPrefix("/") ? wanted : "/" + wanted)
        return path == below || (base == nil && path.hasSuffix(below))
      }, answer)
  }
}
