import Foundation
import NetLayerOAuth

// A service without users. Usage: Service ISSUER API, with the secret in the environment variable CLIENT_SECRET.
guard CommandLine.arguments.count == 3, let api = URL(string: CommandLine.arguments[2]) else {
  print("usage: Service ISSUER API")
  exit(2)
}
let secret = ProcessInfo.processInfo.environment["CLIENT_SECRET"] ?? ""

let service = OAuthClient(
  issuer: CommandLine.arguments[1], id: "billing", authentication: .secret(secret), scope: "orders")
let authentication = AuthenticationInterceptor(for: [api], requiresToken: true) { _ in
  try await service.clientCredentials()
}
let shop = Network(Backend(baseURL: api, interceptors: [RetryInterceptor(), authentication]))

do {
  print(try await shop.fetch(.get("/orders"), as: String.self))
} catch {
  print(error.localizedDescription)
  exit(1)
}
