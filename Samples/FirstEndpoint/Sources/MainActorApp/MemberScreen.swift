import Foundation
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

final class UploadScreen {
  private(set) var fraction = 0.0
  private(set) var note = ""
  private let network: Network

  init(network: Network) { self.network = network }

  func upload(_ film: URL) async {
    do {
      for try await event in network.transfer(.put("/films/7", .upload(film))).values {
        switch event {
        case .progress(let progress): fraction = progress.fractionSent ?? 0
        case .result: note = "The film is uploaded."
        }
      }
    } catch {
      note = error.localizedDescription
    }
  }
}
