/// A finished request, for the log: nothing that was sent or received but the status.
package struct HTTPCall: Sendable {
  /// The purpose of the request, in a word of the program.
  package let purpose: String
  /// The request method.
  package let method: HTTPRequest.Method
  private let url: HTTPURL
  /// The status, or why there is none.
  package let result: Result<Int, HTTPFailure>
  /// From the caller's request to its answer, waiting for a turn included.
  package let duration: Duration

  /// A request that has ended.
  init(_ request: HTTPRequest, _ result: Result<HTTPResponse, HTTPFailure>, after duration: Duration) {
    purpose = request.purpose
    method = request.method
    url = request.url
    self.result = result.map(\.status)
    self.duration = duration
  }

  /// The host, with the port where it is not the scheme's own.
  package var host: String { String(url.origin.dropFirst(url.scheme.rawValue.utf8.count + "://".utf8.count)) }

  /// The path, without query and fragment, which may carry a key.
  package var path: String { String(url.target.prefix { $0 != "?" && $0 != "#" }) }

  /// Whether it deserves a warning: there was no answer, or one that reports a fault of the server.
  ///
  /// A caller that has cancelled, or the end of the broker, is none; nor is a refusal, which the client gets as an
  /// error of its own.
  package var isTrouble: Bool {
    switch result {
    case .success(let status): status >= 500 || status == 429 || status == 408
    case .failure(.cancelled), .failure(.closed): false
    case .failure: true
    }
  }
}
