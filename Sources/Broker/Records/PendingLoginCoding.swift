package import BrokerCore
import BrokerProtocol
import JSON
import Sealing
package import SecretMemory
import TextCoding

/// The coding of a pending login before it is sealed: one JSON object, the provider's handle in base64url.
package enum PendingLoginCoding {
  /// The limits of reading: a provider's description of a challenge may be as long as its reply; the database refuses a
  /// longer record as well, so nothing is ever written that cannot be read.
  private static let limits = JSONLimits(depth: 16, byteCount: 4 << 20)

  /// The object; the caller wipes it.
  package static func encode(_ login: PendingLogin) -> [UInt8] {
    var buffer: [UInt8] = []
    // Room for everything at once: a buffer that grows leaves its earlier bytes behind. Base64 makes 4 bytes of 3, an
    // escape 6 of 1; 1 KiB is more than the names, numbers and times have together.
    buffer.reserveCapacity(1024 + 2 * login.flow.byteCount + 6 * texts(of: login).reduce(0) { $0 + $1.utf8.count })
    var writer = JSONWriter(appendingTo: buffer)
    buffer = []
    writer.object { writer in
      writer.member(login.step.action == nil ? "challenge" : "action", login.step)
      var text = login.flow.withBytes { Base64.encode($0, as: .url) }
      writer.key("flow")
      writer.string(utf8: text.span)
      wipe(&text)
      writer.member("method", login.method.rawValue)
      writer.member("wrongCodes", login.wrongCodes)
      writer.member(ifPresent: "userId", login.expectedUser?.id)
      writer.member(ifPresent: "email", login.expectedUser?.email)
      if login.mayReplace { writer.member("mayReplace", true) }
      if login.isReminded { writer.member("isReminded", true) }
    }
    return writer.bytes
  }

  /// Everything that may be long.
  private static func texts(of login: PendingLogin) -> [String] {
    let own = [login.expectedUser?.id, login.expectedUser?.email, login.step.clientContext].compactMap(\.self)
    switch login.step {
    case .code(let challenge): return own + [challenge.maskedDestination, challenge.otpFlowID]
    case .action(let action):
      let optional = [action.verificationURI, action.verificationURIComplete, action.userCode].compactMap(\.self)
      return own + optional + [action.loginFlowID]
    }
  }

  /// - Throws: `JSONError` or `JSONMismatch` when it is not what was written, `SealingError.malformed`,
  ///   `.secretMemoryExhausted`.
  package static func decode(_ plaintext: Secret) throws -> PendingLogin {
    var bytes = plaintext.withBytes { plaintext in plaintext.indices.map { plaintext[$0] } }
    defer { wipe(&bytes) }
    return try login(of: bytes)
  }

  /// Earlier versions wrote a challenge and a handle, and nothing else.
  private static func login(of bytes: [UInt8]) throws -> PendingLogin {
    let root = try JSONDocument(parsing: bytes, limits: limits).root
    let step: PendingLoginStep =
      root["action"] == nil
      ? .code(try OTPChallenge(from: root.required("challenge")))
      : .action(try UserAction(from: root.required("action")))
    let flow = try root.required("flow").withStringBytes { text in
      Result { () throws(SealingError) -> Secret in try Secret.decodeBase64URL(text) }
    }.get()
    let method = try root.optional("method", String.init(from:)).flatMap(LoginMethod.init(rawValue:))
    var login = PendingLogin(
      step: step, flow: flow, method: method ?? .password,
      wrongCodes: try root.optional("wrongCodes", Int.init(from:)) ?? 0,
      expectedUser: ExpectedUser(
        id: try root.optional("userId", String.init(from:)), email: try root.optional("email", String.init(from:))))
    login.mayReplace = try root.optional("mayReplace", Bool.init(from:)) ?? false
    login.isReminded = try root.optional("isReminded", Bool.init(from:)) ?? false
    return login
  }
}
