import PortableFoundation

extension OutboxState {
  /// A reason why an entry is not sent when its turn comes.
  enum Hold: Hashable, Sendable {
    /// The server has rejected it, or the attempts are used up.
    case parked(status: Int?)
    case newerVersion
    /// Its file can't be read now, so that its key is unknown: all later entries with a key wait.
    case unreadable
  }

  /// The result of a request.
  enum Outcome: Sendable {
    case accepted
    case rejected(status: Int?)
    /// The server may accept it later; `after` is the pause that it requests.
    case failed(NetworkError, after: Duration? = nil)
    case unreachable(NetworkError)
    case unauthenticated
    /// The server has rejected the current token after a refresh.
    case refused
    /// Nothing was sent, because another user is signed in.
    case otherAccount
    /// Nothing was sent, because the user is not known yet.
    case unknownAccount(NetworkError)
  }

  enum Event {
    /// The entries in the directory. As owner, this process sends.
    case list([Item], isOwner: Bool)
    /// Another process may send from now on. What is in flight ends here.
    case disown
    case add([Item])
    case end(OutboxName, Outcome)
    /// The subscribers have received the result.
    case reported(OutboxName)
    case online(Bool)
    /// The token has changed; the account of the current one.
    case account(String?)
    case retry(OutboxName)
    case drop(OutboxName)
    case wake
  }

  enum Action: Equatable {
    case start(OutboxName)
    case cancel(OutboxName)
    /// Deliver the result, then send `reported`.
    case report(OutboxName)
    case remove(OutboxName)
    case park(OutboxName, status: Int?)
    case unpark(OutboxName)
  }
}
