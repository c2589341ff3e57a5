/// The form of a request, by which libcurl's settings for it are those of another one: but for the address and the header
/// lines.
///
/// A body, and authorities whose files are read or checked each time, have settings of their own.
struct RequestForm: Equatable {
  private let method: HTTPRequest.Method
  private let scheme: HTTPURL.Scheme
  private let delivery: HTTPRequest.Delivery
  private let keepsConnection: Bool
  private let pins: PinSet?

  /// The form of an exchange of one client; nil where its settings serve no other.
  init?(_ exchange: Exchange, _ authorities: AuthorityBundle?, keepsConnection: Bool) {
    guard case .request(let request, _) = exchange.work, request.body == nil, exchange.stream?.upload == nil,
      authorities == nil, exchange.policy.caFile == nil
    else { return nil }
    (method, scheme, delivery) = (request.method, request.url.scheme, request.delivery)
    (self.keepsConnection, pins) = (keepsConnection, exchange.policy.pins)
  }
}
