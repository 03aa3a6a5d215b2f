import Foundation
import NetLayerTesting
import Testing

@testable import MainActorApp

struct MemberScreenTests {
  private let stub = StubTransport([
    .init(.get, "/members/1", .json(#"{"name":"Ada"}"#)), .init(.get, "/members/2", .json(#"{"name":"Grace"}"#)),
    .init(.patch, "/members/1", .response(status: 403)),
  ])
  private var network: Network {
    Network(
      Backend(
        baseURL: URL(string: "https://members.example"), messages: .english, transport: stub,
        interceptors: [RequestID()]))
  }

  @Test func aCallComesBackToTheMainActor() async {
    let screen = MemberScreen(network: network)
    await screen.load()
    #expect(screen.title == "Ada")
    #expect(stub.requests.map { $0.headers["X-Request-ID"] } == ["r-1"])
  }

  @Test(.timeLimit(.minutes(1))) func aStreamIsDeliveredOnTheMainActor() async {
    let screen = MemberScreen(network: network)
    screen.follow(.just(2))
    while screen.title.isEmpty { await Task.yield() }
    #expect(screen.title == "Grace")
  }

  @Test func aBodyIsReadOnTheMainActor() async throws {
    let stub = StubTransport { _ in .chunks([Data(count: 3), Data(count: 4)]) }
    #expect(try await size(of: 1, on: network.with { $0.transport = stub }) == 7)
  }

  @Test func aFailureIsTyped() async {
    await #expect { try await network.rename(1, to: "Ada") } throws: { ($0 as? NetworkError)?.status == 403 }
  }
}
