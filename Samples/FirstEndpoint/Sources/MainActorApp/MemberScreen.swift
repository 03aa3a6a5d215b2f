import NetLayer

nonisolated struct Member: Codable, Sendable {
  var name: String
}

nonisolated extension Network {
  func member(_ id: Int) -> Single<Member> { request(.get("/members/\(id)")) }
  func rename(_ id: Int, to name: String) async throws(NetworkError) {
    try await fetch(.patch("/members/\(id)", json: Member(name: name)))
  }
}

final class MemberScreen {
  private(set) var title = ""
  private let network: Network
  private let bag = DisposeBag()

  init(network: Network) { self.network = network }

  func load() async {
    do {
      let member: Member = try await network.fetch(.get("/members/1"))
      title = member.name
    } catch {
      title = error.message
    }
  }

  func follow(_ ids: Observable<Int>) {
    ids.flatMapLatest { [network] id in network.member(id).asResult() }
      .subscribeOnMain(with: self) { me, result in
        if case .success(let member) = result { me.title = member.name }
      }
      .disposed(by: bag)
  }
}
