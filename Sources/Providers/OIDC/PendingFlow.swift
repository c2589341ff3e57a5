import BrokerCore
import BrokerProtocol
import JSON
import SecretMemory

/// The state of a login that waits for its user: the provider's own handle of it.
///
/// It is a secret, since with it the login can be finished; and it is complete, so that another process can go on.
enum PendingFlow: Sendable {
  /// At another device (RFC 8628, section 3.2).
  case device(code: Secret, scopes: [String], key: ProofKey? = nil)
  /// In a browser on this machine.
  case redirect(RedirectFlow)
  /// With a code that was sent to the user, or one of an authenticator, which has no reference.
  case secondFactor(token: Secret, reference: Secret?, scopes: [String], key: ProofKey? = nil)

  /// The limits of a handle: two tokens of the longest kind with every byte escaped, and the rest.
  private static let limits = JSONLimits(depth: 4, byteCount: 1 << 20)

  /// The handle.
  ///
  /// - Throws: `SecretMemoryExhausted`.
  func handle() throws(SecretMemoryExhausted) -> Secret {
    var writer = JSONWriter()
    writer.object { writer in
      switch self {
      case .device(let code, let scopes, let key):
        writer.member(revealing: "device", code)
        writer.member("scopes", scopes)
        ProofKey.write(key, to: &writer)
      case .redirect(let flow): flow.write(to: &writer)
      case .secondFactor(let token, let reference, let scopes, let key):
        writer.member(revealing: "secondFactor", token)
        writer.member(revealing: "reference", reference)
        writer.member("scopes", scopes)
        ProofKey.write(key, to: &writer)
      }
    }
    return try Secret(wiping: &writer.bytes)
  }

  /// Reads a handle; nil for what is none.
  ///
  /// - Throws: `SecretMemoryExhausted` where there is no room for what is in it: the handle is as good as before.
  init?(_ handle: Secret) throws(SecretMemoryExhausted) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(handle.byteCount)
    handle.withBytes { span in for index in span.indices { bytes.append(span[index]) } }
    defer { wipe(&bytes) }
    guard let flow = try Self.read(bytes) else { return nil }
    self = flow
  }

  /// When it returns, nothing refers to the bytes any more.
  private static func read(_ bytes: [UInt8]) throws(SecretMemoryExhausted) -> PendingFlow? {
    guard let root = try? JSONDocument(parsing: bytes, limits: limits).root else { return nil }
    if let code = try root["device"]?.foundSecret() {
      return .device(code: code, scopes: scopes(root), key: try ProofKey.read(root))
    }
    if let token = try root["secondFactor"]?.foundSecret() {
      return .secondFactor(
        token: token, reference: try root["reference"]?.foundSecret(), scopes: scopes(root),
        key: try ProofKey.read(root))
    }
    return try RedirectFlow(root).map { .redirect($0) }
  }

  /// The scopes that were asked for.
  static func scopes(_ root: JSONNode) -> [String] {
    ((try? root["scopes"]?.elements()) ?? []).compactMap { try? $0.string() }
  }
}

extension OIDCProvider {
  /// Reads the state in a handle; nil for anything else.
  ///
  /// - Throws: `.transient(.overloaded)` where there is no room for it: the handle is as good as before.
  func pendingFlow(_ handle: Secret) throws(ProviderFailure) -> PendingFlow? {
    do throws(SecretMemoryExhausted) { return try PendingFlow(handle) } catch { throw .transient(.overloaded) }
  }
}
