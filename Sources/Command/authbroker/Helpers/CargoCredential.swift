import BrokerProtocol
import JSON
import SecretMemory

/// A request of cargo to a credential provider, and the answers
/// (https://doc.rust-lang.org/cargo/reference/credential-provider-protocol.html), version 1.
struct CargoCredential: Equatable, Sendable {
  /// Why a question cannot be followed.
  enum Fault: Error, Equatable, Sendable {
    /// It is no JSON object with the members that it must have.
    case malformed
    /// It is of another version.
    case otherVersion

    /// The fault, as a sentence.
    var sentence: String {
      switch self {
      case .malformed: "cargo's request cannot be read"
      case .otherVersion: "cargo's request has a version that was not offered"
      }
    }
  }

  /// The first line, by which the provider says what it speaks.
  static let hello = #"{"v":[1]}"#

  /// The kind of request: `get`, `login` or `logout`, or one of a later cargo.
  var kind: String
  /// The address of the registry's index, without cargo's prefix for its form.
  var index: String
  /// The arguments behind the provider in cargo's configuration.
  var arguments: [String] = []

  /// Reads a line.
  ///
  /// - Throws: why it cannot be followed.
  init(parsing line: [UInt8]) throws(Fault) {
    guard let root = try? JSONDocument(parsing: line).root, root.kind == .object,
      let version = try? root["v"]?.integer()
    else { throw .malformed }
    guard version == 1 else { throw .otherVersion }
    guard let kind = try? root["kind"]?.string(), let index = try? root["registry"]?["index-url"]?.string(),
      HelperAnswer.isVisible(index)
    else { throw .malformed }
    self.kind = kind
    let form = ["sparse+", "registry+"].first(where: index.hasPrefix) ?? ""
    self.index = String(index.dropFirst(form.utf8.count))
    guard let list = root["args"], !list.isNull else { return }
    guard let elements = try? list.elements() else { throw .malformed }
    for element in elements {
      guard let text = try? element.string() else { throw .malformed }
      arguments.append(text)
    }
  }

  /// The answer with a token, which is the value of the header `Authorization`; the caller wipes it.
  static func answer(_ token: AccessToken, for target: Target) -> [UInt8] {
    var value = AuthorizationValue.field(with: token, for: target).value
    defer { wipe(&value) }
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("Ok")
      writer.object { writer in
        writer.member("kind", "get")
        writer.key("token")
        writer.string(utf8: value.span)
        writer.member("cache", token.expiresAt == nil ? "session" : "expires")
        if let expiry = token.expiresAt {
          writer.key("expiration")
          writer.integer(expiry.milliseconds / 1000)
        }
        writer.member("operation_independent", true)
      }
    }
    return writer.bytes
  }

  /// The answer where nothing is to be given.
  static func done(_ kind: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("Ok")
      writer.object { $0.member("kind", kind) }
    }
    return writer.bytes
  }

  /// A refusal; `message` goes with the kind `other` alone.
  static func refusal(_ kind: String, _ message: String? = nil) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("Err")
      writer.object { writer in
        writer.member("kind", kind)
        guard let message else { return }
        writer.member("message", message)
        writer.member("caused-by", [String]())
      }
    }
    return writer.bytes
  }
}
