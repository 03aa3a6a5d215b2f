import PortableFoundation
import Streams

/// The sources of a network, which its rooms ask about a request: for the accounts of keys, and for the sign-out of its users.
struct AccountLogins: Sendable {
  /// Interceptors in order, then the signer and the transport.
  let all: [AccountLogin]
  /// The account of a signer that has none.
  private let signerAccount: String?
  /// Whether an interceptor is a custom source.
  let hasOwn: Bool

  init(_ interceptors: [(any AccountSource)?], others: [(any AccountSource)?], signerAccount: String?) {
    all =
      interceptors.enumerated().compactMap { place, source in
        source.map { AccountLogin(place: place, source: $0, recorder: $0 as? any RecordsCredentials) }
      } + others.compactMap { source in source.map { AccountLogin(place: nil, source: $0, recorder: nil) } }
    hasOwn = all.contains { $0.place != nil && $0.recorder == nil }
    self.signerAccount = signerAccount
  }

  var isEmpty: Bool { all.isEmpty }

  func own(at place: Int) -> (any AccountSource)? { all.first { $0.place == place && $0.recorder == nil }?.source }

  func receivers(of request: Request) -> CallReceivers {
    CallReceivers(call: request.context[CallAccounts.self], isForeign: request.isForeign)
  }

  /// Returns the error of `request` if a user of its call has signed out since; `nil` if it may be sent, or receive a stored
  /// response.
  func signOut(of request: Request) -> NetworkError? {
    all.isEmpty ? nil : request.context[CallAccounts.self]?.failure(of: request)
  }

  /// Returns the accounts with which the interceptors from `place` on, and the signer, will authenticate `request`; `nil` for
  /// none.
  ///
  /// - Parameter end: The place before which the interceptors end; `nil` for all, and the signer.
  func account(of request: Request, from place: Int, to end: Int? = nil, isAsked: Bool = true) -> String? {
    guard !all.isEmpty || signerAccount != nil else { return nil }
    let call = request.context[CallAccounts.self]
    var accounts: [String] = []
    for login in all where login.authenticates(request, from: place, to: end ?? .max, isAsked: isAsked) {
      if let account = CallAccounts.state(of: login.source, in: call).account { accounts.append(account) }
    }
    if end == nil, let account = signerAccount(of: request) { accounts.append(account) }
    return Request.Credentials.joined(accounts)
  }

  func signerAccount(of request: Request) -> String? {
    guard let constant = signerAccount, let signing = request.context[Signing.self] else { return nil }
    return signing.account(of: request) ?? constant
  }

  /// Returns a text that stands for the users of `request`, as far as keys do not have their accounts; empty for nobody.
  func text(of request: Request) -> String {
    guard all.count > 1 || all.first.map({ $0.recorder == nil }) ?? false else { return "" }
    let call = request.context[CallAccounts.self]
    return all.enumerated().compactMap { index, login -> String? in
      guard login.source.covers(request) else { return nil }
      let state = CallAccounts.state(of: login.source, in: call)
      if login.recorder != nil { return state.isUser ? "\(index)" : nil }
      return state.account.map { "\(index):\($0.utf8.count):\($0)" }
    }
    .joined()
  }

  /// Returns a text that stands for the users of `request`, without their names and tokens; `nil` for nobody.
  func digest(of request: Request) throws(NetworkError) -> String? {
    if let failure = signOut(of: request) { throw failure }
    let call = request.context[CallAccounts.self] ?? CallAccounts(all.map(\.source))
    var text = call?.text(of: request) ?? ""
    // A signer that is not a source.
    if let signer = request.context[Signing.self]?.signer, !(signer is any AccountSource), let account = signer.account
    {
      text += "signer:\(account)"
    }
    return text.isEmpty ? nil : Hash.sha256(Data(text.utf8)).hex
  }
}

struct AccountLogin: Sendable {
  /// The place of its interceptor in the chain; `nil` for a signer and a transport.
  let place: Int?
  let source: any AccountSource
  /// The same, if it records its credentials in each request.
  let recorder: (any RecordsCredentials)?

  /// Returns whether it is an interceptor of these places that will add credentials to `request`.
  func authenticates(_ request: Request, from start: Int, to end: Int, isAsked: Bool) -> Bool {
    guard let place, place >= start, place < end, source.covers(request) else { return false }
    return !isAsked || recorder?.authenticates(request) ?? true
  }
}

extension Signing {
  /// Returns the account whose key signs `request`: of a source, the user of the call.
  func account(of request: Request) -> String? {
    guard let source = signer as? any AccountSource else { return signer.account }
    return CallAccounts.state(of: source, in: request.context[CallAccounts.self]).account
  }
}
