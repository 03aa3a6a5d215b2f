import Foundation

/// What users read when a call fails and the server said nothing itself (article row 0.25).
public struct Messages: Sendable {
  /// The message where the server could not be reached.
  public var network: String
  /// The message when a time limit was reached.
  public var timeout: String
  /// The message for a cancelled call.
  public var cancelled: String
  /// The message when the certificate or the TLS version is refused.
  public var tls: String
  /// The message for JSON that is malformed or not of the expected shape.
  public var parse: String
  /// The message for parameters that cannot be sent.
  public var parameter: String
  /// The message for 401, and when a new token could not be got.
  public var authentication: String
  /// The message for 403: who is signed in has not the right.
  public var forbidden: String
  /// The message for 404 and 410.
  public var notFound: String
  /// The message for the other statuses from 400 to 499, and where the envelope refuses without a word.
  public var badRequest: String
  /// The message for statuses from 500, and for redirects that lead nowhere.
  public var server: String
  /// The message when a file cannot be written.
  public var file: String
  /// The message where nothing is stored and the server may not be asked.
  public var notCached: String
  /// The message for every other kind.
  public var other: String

  /// The table in English.
  public static let english = Messages(
    network: "The server could not be reached. Please try again later.",
    timeout: "The request timed out. Please try again later.",
    cancelled: "The request was cancelled.",
    tls: "A secure connection could not be made.",
    parse: "The server's data could not be read.",
    parameter: "The parameters are wrong. Please try again later.",
    authentication: "You need to sign in to do this.",
    forbidden: "You are not allowed to do this.",
    notFound: "What you asked for does not exist.",
    badRequest: "The request was refused.",
    server: "The server has a problem. Please try again later.",
    file: "The file could not be saved.",
    notCached: "This is not available offline.",
    other: "Something went wrong. Please try again later.")

  /// The table in Chinese; the first, fifth and sixth are the articles' own words.
  public static let chinese = Messages(
    network: "网络状态不佳,请稍候再试!",
    timeout: "请求超时,请稍候再试!",
    cancelled: "请求已取消。",
    tls: "无法建立安全连接!",
    parse: "服务器数据解析错误!",
    parameter: "参数错误,请稍候再试!",
    authentication: "请先登录!",
    forbidden: "您没有权限执行此操作!",
    notFound: "您访问的内容不存在!",
    badRequest: "请求被拒绝!",
    server: "服务器出错,请稍候再试!",
    file: "文件保存失败!",
    notCached: "离线时无法查看该内容!",
    other: "出错了,请稍候再试!")

  /// The table for the user's first preferred language: Chinese where it starts with `zh`, else English.
  public static let localized: Messages =
    (Locale.preferredLanguages.first ?? "en").lowercased().hasPrefix("zh") ? chinese : english

  /// The message for an error of `kind`; for `status` errors, `status` chooses.
  public func text(for kind: NetworkError.Kind, status: Int? = nil) -> String {
    kind.message(in: self, status: status)
  }
}
