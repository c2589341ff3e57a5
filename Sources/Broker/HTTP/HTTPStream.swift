package import SecretMemory

/// Gives the body of a request piece by piece.
package protocol BodySource: AnyObject, Sendable {
  /// Writes the next piece, as far as there is room; on the client's thread, which must not wait.
  ///
  /// Where nothing is written and more may follow, it is asked again after ``HTTPStream/resume()``. A body that breaks
  /// off has no end: its request is cancelled.
  func fill(_ room: inout OutputSpan<UInt8>) -> Bool
}

/// Takes a response piece by piece.
package protocol ResponseSink: AnyObject {
  /// Takes the header, before any of the body; on the client's thread, which must not wait.
  ///
  /// Interim responses (1xx) and trailers are not passed on.
  ///
  /// - Parameter head: the response without its body.
  func begin(_ head: HTTPResponse)

  /// Takes a piece of the body as it was sent; on the client's thread, which must not wait.
  func take(_ piece: Span<UInt8>) -> PieceAnswer
}

/// A sink's answer to a piece of a response.
package enum PieceAnswer: Sendable {
  /// It was taken.
  case taken
  /// There is no room for it: it comes again after ``HTTPStream/resume()``, and meanwhile the server waits.
  case later
  /// There will never be room: the request ends with `HTTPFailure.responseTooLarge`.
  case tooMuch
}

/// A body that is sent while it comes into being.
package struct HTTPUpload: Sendable {
  /// The source of the body.
  let source: any BodySource
  /// How many bytes it has; of an unknown number, it is sent in chunks.
  let count: Int?
  /// The media type; nil where it is unknown.
  let contentType: String?

  /// A body of a source.
  ///
  /// - Throws: `HTTPFailure.invalidField` where the type cannot be sent.
  package init(_ source: any BodySource, count: Int?, contentType: String?) throws(HTTPFailure) {
    guard contentType.map(HTTPField.isValue) ?? true, count ?? 0 >= 0 else { throw .invalidField }
    self.source = source
    self.count = count
    self.contentType = contentType
  }
}

/// A request whose body and whose response are never held as a whole, however large they are and however long that
/// takes.
///
/// Of each there is never more here than one buffer of libcurl's. It ends when nothing has moved for a while in which
/// neither source nor sink was waited for; and at once when its caller gives up, also where it is one that spends.
package struct HTTPStream: Sendable {
  private let client: HTTPClient
  /// The work.
  let exchange: Exchange

  /// A request that is not sent yet.
  init(_ client: HTTPClient, _ exchange: Exchange) {
    self.client = client
    self.exchange = exchange
  }

  /// Sends the request; returns when the sink has taken all of the response.
  ///
  /// It is called once; cancelling the task gives it up.
  ///
  /// - Returns: the response without its body.
  /// - Throws: `HTTPFailure`, also after a part of the response has come.
  @discardableResult
  package func run() async throws(HTTPFailure) -> HTTPResponse { try await client.perform(exchange) }

  /// Asks an empty source again, and offers a full sink its piece again; from any thread.
  package func resume() { client.resume(exchange) }
}

extension AuthenticatedTransport {
  /// Prepares a request that is sent, and whose response is taken, piece by piece.
  ///
  /// - Parameters:
  ///   - request: what to send; without a body of its own where there is an upload.
  ///   - upload: its body.
  ///   - accessToken: whose request it is.
  ///   - stillness: how long the server may take to go on.
  ///   - sink: what the response goes to.
  /// - Returns: the request, to be run.
  package func stream(
    _ request: HTTPRequest, _ upload: HTTPUpload? = nil, bearer accessToken: Secret, stillness: Duration,
    to sink: any ResponseSink & Sendable
  ) -> HTTPStream {
    stream(request, upload, .bearer(accessToken), stillness, sink)
  }

  /// The same with a token that is bound to a key; the request has its proof.
  package func stream(
    _ request: HTTPRequest, _ upload: HTTPUpload? = nil, proven accessToken: Secret, stillness: Duration,
    to sink: any ResponseSink & Sendable
  ) -> HTTPStream {
    stream(request, upload, .proven(accessToken), stillness, sink)
  }

  /// The same with a secret in a field of its own.
  package func stream(
    _ request: HTTPRequest, _ upload: HTTPUpload? = nil, secret: Secret, in field: String, scheme: String,
    stillness: Duration, to sink: any ResponseSink & Sendable
  ) -> HTTPStream {
    stream(request, upload, .secret(secret, field: field, scheme: scheme), stillness, sink)
  }

  private func stream(
    _ request: HTTPRequest, _ upload: HTTPUpload?, _ authorization: Authorization, _ stillness: Duration,
    _ sink: any ResponseSink & Sendable
  ) -> HTTPStream {
    HTTPStream(
      client,
      Exchange(
        .request(request, authorization), policy, allowed: stillness,
        stream: Exchange.Stream(upload: upload, sink: sink)))
  }
}
