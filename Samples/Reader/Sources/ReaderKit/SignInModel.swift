import NetLayer
import Observation

/// The form of a sign-in.
@MainActor
@Observable
package final class SignInModel {
  package var user = ""
  package var password = ""
  package private(set) var note: String?
  package private(set) var isSignedIn = false
  private let reader: Reader

  package init(_ reader: Reader) { self.reader = reader }

  package func signIn() async {
    do {
      try await reader.signIn(user, password: password)
      (isSignedIn, note, password) = (true, nil, "")
    } catch {
      note = error.localizedDescription
    }
  }

  package func signOut() async {
    do {
      try await reader.signOut()
      isSignedIn = false
    } catch {
      note = error.localizedDescription
    }
  }
}
