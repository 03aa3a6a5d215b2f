#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  /// The state of a handle, grouped by its lifetime. Each group is replaced as a whole.
  extension CurlHandle {
    /// The options that are set. A reset, or a new easy handle, begins again with these values.
    struct Settings {
      var url = ""
      var connectMilliseconds = 0
      /// The size of libcurl's read buffer: approximately the size of the last response.
      var bufferSize = CurlHandle.defaultBuffer
      var waitsForMultiplexing = false
      /// The HTTP version set last; `nil` if it is not set.
      var chosenVersion: Int?
      var headersSent: HTTPHeaders?
      var cookiesSent: String?
      /// The lists that libcurl has pointers to.
      var headerList: CurlHeaderList?
      var addressLine: CurlLine?
      /// The proxy that is set, before exceptions.
      var route: ProxyRoute?
      var hasRoute = false
      /// Whether there are settings that a plain GET does not have.
      var needsReset = false
      /// The error of a security-related setting that libcurl does not accept. Nothing may then be sent.
      var failure: NetworkError?
    }

    /// One attempt to send a request.
    struct Attempt {
      /// The request of a WebSocket that is being opened instead of a transfer.
      var opening: Request?
      /// The uptime in nanoseconds at which the transfer was passed to libcurl.
      var startedAt: UInt64 = 0
      /// The turn of the loop in which the transfer was passed to libcurl. Until the next turn, libcurl still reports the
      /// data of the previous transfer.
      var turn: UInt64 = 0
      /// The target of the connection instead of the URL's host.
      var address: AddressOverride?
      /// The body of the request, if it is larger than an inline body.
      var body: BodySource?
      /// The source of a body that is a stream or in files.
      var pump: ChunkPump?
      /// The number of times that libcurl has started to send the request.
      var starts = 0
      /// The uptime in nanoseconds of the last start. libcurl's times do not include its waits for a connection.
      var sentAt: UInt64?
      /// Whether the transport has refused the connection, so that the request was not sent.
      var isRefused = false
      /// The error of the body's source.
      var bodyFailure: NetworkError?
      /// Whether the request waits for permission to send the body, and whether libcurl has requested its first bytes.
      var expectsContinue = false
      var hasBodyBegun = false
      var isSendPaused = false
      /// The reason why a callback ended the transfer: the response violates a rule.
      var abortReason: String?
      /// The failure of the connection because of which a callback ended the transfer.
      var problem: ConnectionProblem?
      /// The reason why a request on a lost connection was not sent again.
      var lossReason: String?
      /// The libcurl code with which the loop ends the transfer after the current callback; `nil` if it continues.
      var endCode: CURLcode?
      /// Whether libcurl has reported the end of the transfer without an error.
      var hasSucceeded = false
    }

    /// The progress of receiving a response.
    struct Reception {
      /// The decoder for the content coding; `nil` if the response is not coded.
      var decoder: ContentDecoder?
      /// The state of the check of the first header field; see `awaitFirstField`.
      var firstField = FirstField.unseen
      /// The decision about a redirect.
      var redirect: RedirectPolicy.Decision?
      /// The size of a redirect's body so far, and whether it was too long to be read completely.
      var dropped = 0
      var hasLeftBody = false
      /// Whether the consumer of the body has requested a pause, as known to the loop.
      var isHeld = false
      /// Whether the loop continues to decode the input in its next turn.
      var isResting = false
      var isPaused = false
      /// The code with which libcurl ended the transfer while a pause still holds decoded content back.
      var heldCode: CURLcode?
    }

    enum FirstField { case unseen, awaited, shown }
  }
#endif
