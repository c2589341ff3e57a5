import BrokerProtocol
import JSON
import SecretMemory

/// The forms in which `authbroker token` prints a token.
enum TokenFormat: String, CaseIterable, Sendable {
  /// The token alone.
  case raw
  /// The broker's whole answer.
  case json
  /// Commands for sh(1) that set variables.
  case env
  /// The line of HTTP that carries it.
  case header
  /// What a credential helper of docker answers.
  case docker
  /// What an exec plugin of Kubernetes answers.
  case execcredential

  /// The option that chooses one.
  static let option = Option.value(
    "--format", "FORM", "json, env, header, docker or execcredential in place of the bare token")

  /// The form that a command line asks for; `--json` is one too.
  ///
  /// - Throws: a usage failure for an unknown one, and for two that differ.
  static func chosen(_ context: Context) throws(CommandFailure) -> TokenFormat {
    guard let word = context.arguments[option.name] else { return context.wantsJSON ? .json : .raw }
    guard let format = TokenFormat(rawValue: word) else {
      let all = allCases.map(\.rawValue)
      throw .unknown("format", word, likely: Spelling.nearest(to: word, among: all), choices: all.joined(separator: ", "))
    }
    guard !context.wantsJSON || format == .json else { throw .usage("--json and --format \(word) exclude each other") }
    guard format == .env || context.arguments.all(EnvironmentTemplate.option.name).isEmpty else {
      throw .usage("--env goes with --format env")
    }
    return format
  }
}

/// A token as the broker's answer holds it, and what is known of it.
struct PrintedToken {
  /// What the user name of a token is that has none in the configuration.
  private static let standardUsername = "oauth2"

  /// The whole answer.
  let root: JSONNode
  /// The member that holds the token.
  let member: String
  /// The server that it is for, where the command line names one.
  var target: Target?

  /// When it expires.
  var expiresAt: Timestamp? { try? root.optional("expiresAt", Timestamp.init(from:)) }

  private var username: String { target?.username ?? Self.standardUsername }

  /// The bytes of a form, without an end of line; the caller wipes them.
  ///
  /// - Parameters:
  ///   - format: the form.
  ///   - variables: what `env` sets.
  /// - Throws: a failure where the answer has no token, or the form needs more than is known.
  func bytes(_ format: TokenFormat, _ variables: [EnvironmentTemplate]) throws(CommandFailure) -> [UInt8] {
    guard format != .docker || target != nil else {
      throw .usage("--format docker needs the address of the registry: --url URL")
    }
    guard let node = root[member] else { throw Self.isMissing }
    let bytes = try? node.withStringBytes { token -> [UInt8]? in
      switch format {
      case .raw: Self.joined("", token)
      case .json: Array(root.text)
      case .env: environment(token, variables)
      case .header: header(token)
      case .docker: docker(token)
      case .execcredential: execCredential(token)
      }
    }
    guard let bytes = bytes ?? nil else { throw Self.isMissing }
    return bytes
  }

  private static let isMissing = CommandFailure(.failure, "the broker's answer has no token, or not when it expires")

  /// A text and the token behind it, in a buffer that never moves.
  private static func joined(_ prefix: String, _ token: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    // One more for the end of the line.
    bytes.reserveCapacity(prefix.utf8.count + token.count + 1)
    bytes.append(contentsOf: prefix.utf8)
    for index in token.indices { bytes.append(token[index]) }
    return bytes
  }

  /// `Authorization: Bearer TOKEN` (RFC 6750), or basic authentication (RFC 7617) where the target wants that.
  private func header(_ token: Span<UInt8>) -> [UInt8] {
    guard target?.scheme == .basic else { return Self.joined("Authorization: Bearer ", token) }
    var pair = Self.joined("\(username):", token)
    defer { wipe(&pair) }
    var encoded = Base64.encoded(pair.span)
    defer { wipe(&encoded) }
    return Self.joined("Authorization: Basic ", encoded.span)
  }

  /// `export NAME='value'`, a line for each variable: a quote in a value ends the quotes, stands escaped, begins them again.
  private func environment(_ token: Span<UInt8>, _ variables: [EnvironmentTemplate]) -> [UInt8]? {
    var bytes: [UInt8] = []
    for variable in variables {
      guard var value = variable.variable(token, expiresAt: expiresAt) else { return nil }
      defer { wipe(&value) }
      let name = variable.name.utf8.count
      bytes.reserveCapacity(bytes.count + value.count * 4 + 16)
      if !bytes.isEmpty { bytes.append(UInt8(ascii: "\n")) }
      bytes.append(contentsOf: "export \(variable.name)='".utf8)
      for byte in value.dropFirst(name + 1).dropLast() {
        if byte == UInt8(ascii: "'") { bytes.append(contentsOf: "'\\''".utf8) } else { bytes.append(byte) }
      }
      bytes.append(UInt8(ascii: "'"))
    }
    return bytes
  }

  private func docker(_ token: Span<UInt8>) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("ServerURL", target?.url ?? "")
      writer.member("Username", username)
      writer.key("Secret")
      writer.string(utf8: token)
    }
    return writer.bytes
  }

  /// `client.authentication.k8s.io/v1`; an expiry to the second and never later.
  private func execCredential(_ token: Span<UInt8>) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("apiVersion", "client.authentication.k8s.io/v1")
      writer.member("kind", "ExecCredential")
      writer.key("status")
      writer.object { writer in
        if let expiresAt {
          writer.member("expirationTimestamp", Timestamp(milliseconds: expiresAt.milliseconds / 1000 * 1000))
        }
        writer.key("token")
        writer.string(utf8: token)
      }
    }
    return writer.bytes
  }
}
