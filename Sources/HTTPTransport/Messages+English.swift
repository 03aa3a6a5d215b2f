extension NetworkError.Messages {
  /// The messages in English.
  public static let english = NetworkError.Messages(
    network: "Could not connect to the server. Check your internet connection, and try again.",
    timeout: "The request timed out. Please try again later.",
    cancelled: "The request was cancelled.",
    tls: "A secure connection could not be established.",
    parse: "The server's response could not be read.",
    parameter: "The request could not be sent.",
    authentication: "You need to sign in to do this.",
    forbidden: "You are not allowed to do this.",
    notFound: "The requested content does not exist.",
    tooManyRequests: "Too many requests. Please try again in a moment.",
    badRequest: "The request was rejected.",
    server: "The server encountered an error. Please try again later.",
    file: "The file could not be read or saved.",
    notCached: "This is not available offline.",
    fileInUse: "This is already in progress.",
    unknownOutcome: "It is not known whether this was saved. Check before you send it again.",
    other: "Something went wrong. Please try again later.")
}
