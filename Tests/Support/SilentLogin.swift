import NetLayer
import Streams

/// A login of one user at a time, whose name is also its session in `X-User`. It reports no change.
package final class SilentLogin: Interceptor, AccountSource {
  package let user: Box<String>

  package init(_ name: String) { user = Box(name) }

  package var accountState: AccountState { .user(user.value) }
  package var accountChanges: Observable<Void>? { .never() }
  package func covers(_ request: Request) -> Bool { true }
  package func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    // Once, because it may change between two looks.
    let name = user.value
    return next(request, with: Request.Credentials(account: name, headers: ["X-User": name]))
  }
}
