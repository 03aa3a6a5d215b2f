import Foundation
import NetLayerOAuth

// A command-line tool with a user. Usage: Tool ISSUER API FILE [--device | --sign-out]. FILE stores the token.
guard CommandLine.arguments.count > 3, let api = URL(string: CommandLine.arguments[2]) else {
  print("usage: Tool ISSUER API FILE [--device | --sign-out]")
  exit(2)
}
let file = URL(filePath: CommandLine.arguments[3])
let options = CommandLine.arguments.dropFirst(4)

/// Prints a line immediately, also into a pipe.
@Sendable func tell(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

let login = OAuthClient(issuer: CommandLine.arguments[1], id: "shop-cli", scope: "orders")
let authentication = AuthenticationInterceptor(
  for: [api], store: FileTokenStore(storingIn: file), refresh: login.refresh)
let shop = Network(Backend(baseURL: api, interceptors: [RetryInterceptor(), authentication]))

do {
  let token = try await authentication.token
  if options.contains("--sign-out") {
    if let token { try await login.revoke(token) }
    try await authentication.setToken(nil)
    tell("signed out")
  } else {
    if token == nil {
      let grant =
        options.contains("--device")
        ? try await login.authorizeDevice { tell("Enter \($0.code) at \($0.url.absoluteString)") }
        : try await login.authorizeOnLoopback { tell("Open \($0.absoluteString)") }
      try await authentication.setToken(grant.token)
    }
    tell(try await shop.fetch(.get("/orders"), as: String.self))
  }
} catch {
  tell(error.localizedDescription)
  exit(1)
}
