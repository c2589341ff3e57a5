import BrokerProtocol
import JSONRPC
import SecretMemory

/// What is needed to go on with a login that waits for its user: the provider's own handle of it.
///
/// It is a secret, since with it the login can be finished; and it says everything, so that another process can go on.
enum PendingFlow: Sendable {
  /// At another device (RFC 8628, section 3.2).
  case device(code: Secret, scopes: [String])
  /// In a browser on this machine.
  case redirect(RedirectFlow)
  /// With a code that the user was sent, or finds in an authenticator where there is none to refer to.
  case secondFactor(token: Secret, reference: Secret?, scopes: [String])

  /// Larger ones were made by nobody.
  private static let limits = JSONLimits(depth: 4, byteCount: 32_768)

  /// The handle.
  ///
  /// - Throws: `SecretMemoryExhausted`.
  func handle() throws(SecretMemoryExhausted) -> Secret {
    var writer = JSONWriter()
    writer.object { writer in
      switch self {
      case .device(let code, let scopes):
        writer.member(revealing: "device", code)
        writer.member("scopes", scopes)
      case .redirect(let flow): flow.write(to: &writer)
      case .secondFactor(let token, let reference, let scopes):
        writer.member(revealing: "secondFactor", token)
        writer.member(revealing: "reference", reference)
        writer.member("scopes", scopes)
      }
    }
    return try Secret(wiping: &writer.bytes)
  }

  /// Reads a handle; nil for what is none.
  init?(_ handle: Secret) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(handle.byteCount)
    handle.withBytes { span in for index in span.indices { bytes.append(span[index]) } }
    defer { wipe(&bytes) }
    guard let flow = Self.read(bytes) else { return nil }
    self = flow
  }

  /// When it returns, nothing refers to the bytes any more.
  private static func read(_ bytes: [UInt8]) -> PendingFlow? {
    guard let root = try? JSONDocument(parsing: bytes, limits: limits).root else { return nil }
    if let code = root["device"].flatMap({ try? $0.secret() }) { return .device(code: code, scopes: scopes(root)) }
    if let token = root["secondFactor"].flatMap({ try? $0.secret() }) {
      let reference = root["reference"].flatMap { try? $0.secret() }
      return .secondFactor(token: token, reference: reference, scopes: scopes(root))
    }
    return RedirectFlow(root).map { .redirect($0) }
  }

  /// The scopes that were asked for.
  static func scopes(_ root: JSONNode) -> [String] {
    ((try? root["scopes"]?.elements()) ?? []).compactMap { try? $0.string() }
  }
}
