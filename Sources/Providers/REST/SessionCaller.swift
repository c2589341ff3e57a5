import BrokerCore
import BrokerProtocol
import HTTP
import ProviderKit

/// Asks the backend for what needs a session: every request carries an access token.
struct SessionCaller: Sendable {
  private let maker: RequestMaker
  private let transport: AuthenticatedTransport
  private let clock: RESTProvider.Clock

  /// Nothing is tried again after that long: a person waits.
  private static let patience = Duration.seconds(10)

  /// A caller as a configuration wants it.
  init(_ maker: RequestMaker, _ transport: AuthenticatedTransport, _ clock: @escaping RESTProvider.Clock) {
    self.maker = maker
    self.transport = transport
    self.clock = clock
  }

  /// Sends one request and waits for the answer.
  ///
  /// One that only reads is repeated after a failure that may pass, by ``ReadRepetition``, unless the backend asks for
  /// patience; any other only where no connection was made.
  func ask(
    _ name: RESTEndpoint.Name, _ values: [(RESTEndpoint.Field, RequestFields.Value)] = [],
    extra: [(String, RequestFields.Value)] = [], as token: BoundToken
  ) async throws(ProviderFailure) -> BackendReply {
    guard maker.mapping.endpoints[name] != nil else { throw .unsupported }
    do throws(HTTPFailure) {
      guard let request = try maker.request(name, values, extra: extra) else { throw .invalidURL }
      return try await send(request, name, token)
    } catch {
      throw ProviderFailure(error)
    }
  }

  private func send(
    _ request: HTTPRequest, _ name: RESTEndpoint.Name, _ token: BoundToken
  ) async throws(HTTPFailure) -> BackendReply {
    let begin = clock()
    var request = request
    var attempts = 0
    while true {
      attempts += 1
      let isReading = request.method == .get
      let isLast = attempts >= (isReading ? ReadRepetition.attempts : 2) || clock() - begin >= Self.patience
      do throws(HTTPFailure) {
        let sentAt = clock()
        let response = try await transport.send(request, with: token)
        let reply = BackendReply(name, response, maker.mapping, sentAt: sentAt, receivedAt: clock())
        if isLast || !isReading || !reply.isWorthAnotherTry { return reply }
      } catch  where !isLast && Self.isWorthAnotherTry(error, isReading: isReading) {}
      if isReading {
        request.pause = ReadRepetition.pause(afterFailures: attempts, jitter: .random(in: 0...1))
      }
    }
  }

  private static func isWorthAnotherTry(_ failure: HTTPFailure, isReading: Bool) -> Bool {
    switch failure {
    case .nameNotResolved, .connectFailed, .connectionLost(false): true
    case .connectionLost(true): isReading
    default: false
    }
  }
}
