extension Messages {
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
}
