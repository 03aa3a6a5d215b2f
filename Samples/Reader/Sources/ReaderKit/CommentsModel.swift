import Foundation
import NetLayerOffline
import Observation
import Streams

/// A comment on an article. Its `id` lets the server recognize a comment that arrives twice.
package struct AddComment: Endpoint, Codable {
  package typealias Output = NoContent
  package let id: UUID
  package let article: Int
  package let text: String
  package var path: String { "/articles/\(article)/comments/\(id.uuidString)" }
  package var method: HTTPMethod { .put }
  package var task: HTTPTask { .json(["text": text]) }
}

/// The comments that the server has not received yet. They survive the end of the app.
@MainActor
@Observable
package final class CommentsModel {
  package private(set) var unsent: [AddComment] = []
  package private(set) var note: String?
  private let outbox: Outbox
  private let bag = DisposeBag()

  /// Shows the comments of the present `user`.
  package init(_ outbox: Outbox, of user: Observable<String?>) {
    self.outbox = outbox
    Observable.combineLatest(outbox.pending, user)
      .subscribeOnMain(with: self) { me, latest in
        let (entries, user) = latest
        me.unsent = entries.filter { $0.account == user }.compactMap { $0.endpoint(as: AddComment.self) }
      }
      .disposed(by: bag)
    outbox.results(of: AddComment.self)
      .subscribeOnMain(with: self) { me, added in
        if case .failure(let error) = added.result { me.note = "\(added.endpoint.text): \(error.message)" }
      }
      .disposed(by: bag)
  }

  /// Stores a comment, which is sent when there is a network. The comments of an article keep their order.
  package func add(_ text: String, to article: Int) {
    do {
      try outbox.send(AddComment(id: UUID(), article: article, text: text), lane: "articles/\(article)")
      note = nil
    } catch {
      note = error.message
    }
  }
}
