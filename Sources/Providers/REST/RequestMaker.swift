import BrokerProtocol
import HTTP
import ProviderKit

/// Makes the requests of a mapping, without credentials.
struct RequestMaker: Sendable {
  /// The mapping of requests and replies.
  let mapping: RESTMapping
  /// The backend's address.
  let baseURL: HTTPURL

  /// Checks that each address can be made; each is made when it is used, since most profiles of a fleet use none.
  ///
  /// - Throws: `HTTPFailure.invalidURL` for a path that can stand in none.
  init(_ mapping: RESTMapping, _ baseURL: HTTPURL) throws(HTTPFailure) {
    self.mapping = mapping
    self.baseURL = baseURL
    for endpoint in mapping.endpoints.values {
      guard baseURL.canAppend(path: endpoint.path) else { throw .invalidURL }
    }
  }

  /// The address of an endpoint.
  ///
  /// - Throws: nothing after `init`, which has checked them all.
  private func url(of endpoint: RESTEndpoint) throws(HTTPFailure) -> HTTPURL {
    try baseURL.appending(path: endpoint.path)
  }

  /// The addresses at which sessions and accounts are made, changed and ended: all but that of the user.
  var tokenAddresses: [TargetAddress] {
    mapping.endpoints.filter { $0.key != .currentUser }.values.compactMap { (try? url(of: $0))?.address }
  }

  /// A request for the user without a token, which changes nothing and names no account.
  ///
  /// Where the backend has no such endpoint, it reads the backend's address. It gets a connection of its own, so that
  /// the name, the certificate and the pins are checked again.
  var probe: HTTPRequest {
    let user = mapping.endpoints[.currentUser].flatMap { try? url(of: $0) }
    var request = HTTPRequest(.get, user ?? baseURL, deadline: .interactive)
    request.delivery = .once
    return request
  }

  /// The request for something, or nil where the backend has no such endpoint.
  ///
  /// - Parameters:
  ///   - name: what is asked for.
  ///   - values: what is sent along; what the backend does not want is left out.
  ///   - extra: fields that do not come from the mapping.
  ///   - encoding: how the body is written, where neither the endpoint nor the mapping decides.
  /// - Returns: the request.
  /// - Throws: `HTTPFailure.invalidField`, `.secretMemoryExhausted`.
  func request(
    _ name: RESTEndpoint.Name, _ values: [(RESTEndpoint.Field, RequestFields.Value)],
    extra: [(String, RequestFields.Value)] = [], encoding: RESTMapping.Encoding? = nil
  ) throws(HTTPFailure) -> HTTPRequest? {
    guard let endpoint = mapping.endpoints[name],
      let method = HTTPRequest.Method(rawValue: endpoint.method.rawValue)
    else { return nil }
    let url = try url(of: endpoint)
    var fields = RequestFields()
    // Constants first: no configuration can put one in the place of what a user has given.
    for (name, constant) in endpoint.added.sorted(by: { $0.key < $1.key }) { fields.set(name, .constant(constant)) }
    var cookie: HTTPCookie?
    for (field, value) in values {
      if field == .refreshToken, case .secret(let token) = value, let name = mapping.reply.refreshCookie {
        cookie = HTTPCookie(name: name, value: token)
        continue
      }
      if let theirs = endpoint.fields[field] { fields.set(theirs, value) }
    }
    for (name, value) in extra { fields.set(name, value) }
    let deadline: HTTPRequest.Deadline = name == .refresh ? .refresh : .interactive
    let body =
      fields.isEmpty ? nil : try fields.body(encoding ?? endpoint.encoding ?? mapping.encoding, for: deadline)
    var request = HTTPRequest(
      method, url, fields: [try HTTPField("Accept", endpoint.accept)], body: method == .get ? nil : body,
      deadline: deadline, purpose: name.rawValue)
    request.cookie = cookie
    request.isWhole = ReplyObject.isWhole
    return request
  }
}
