import NetLayer
import Streams

/// An interceptor that prints a request as a `curl` command instead of sending it.
struct DryRun: Interceptor {
  let console: Console

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    .deferred {
      console.print(request.curlCommand(redaction: .none))
      return .error(NetworkError(kind: .cancelled, reason: "printed instead of sent"))
    }
  }

  /// Prints the request for `endpoint` and returns the exit code.
  static func run(_ endpoint: some Endpoint, _ network: Network, _ console: Console) -> Int32 {
    do {
      _ = try network.with { $0.interceptors = [DryRun(console: console)] }.wait(for: endpoint)
    } catch {
      if error.kind == .cancelled { return 0 }
      console.complain(Problem(error).text)
    }
    return 1
  }
}
