/// The header lines of the last request, for the next one: those of one client's requests are mostly the same.
///
/// They are in the locked arena, with the credentials.
struct KeptHeader {
  private struct Key {
    let fields: [HTTPField]
    let type: String?
    let authorization: Authorization
  }

  private let isOn: Bool
  private var last: (key: Key, list: StringList)?

  /// No lines yet; they are kept where that `isOn`.
  init(isOn: Bool) { self.isOn = isOn }

  /// The lines of an exchange, made where those before were others.
  ///
  /// - Throws: as the initializers of `StringList`.
  mutating func list(of exchange: Exchange) throws(HTTPFailure) -> StringList {
    switch exchange.work {
    case .request(let request, let authorization):
      try list(request, authorization, exchange.stream?.upload)
    case .mail(let mail): try StringList(recipient: mail.recipient)
    }
  }

  private mutating func list(
    _ request: HTTPRequest, _ authorization: Authorization, _ upload: HTTPUpload?
  ) throws(HTTPFailure) -> StringList {
    // What is shown once is not kept; and the lines depend on a body of the request's own as well.
    guard isOn, request.cookie == nil, request.proof == nil, request.body == nil else {
      return try StringList(request, authorization, upload)
    }
    let type = upload?.contentType
    if let (key, list) = last, key.type == type, key.fields == request.fields,
      key.authorization.isSameToken(as: authorization)
    {
      return list
    }
    let list = try StringList(request, authorization, upload)
    last = (Key(fields: request.fields, type: type, authorization: authorization), list)
    return list
  }

  /// Forgets them.
  mutating func clear() { last = nil }
}
