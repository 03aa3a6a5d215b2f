import PortableFoundation

extension StubTransport.Stub {
  /// Answers the requests of `endpoint`: its method, and its path below any base URL. Parameters are not compared.
  public init(_ endpoint: some Endpoint, _ answer: StubTransport.Answer) {
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
