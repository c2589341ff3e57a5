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
  /// The same as a JSON object of headers.
  case headers
  /// The answer of a credential helper of docker.
  case docker
  /// The answer of a Kubernetes exec plugin.
  case execcredential

  /// The option that chooses one.
  static let option = Option.value(
    "--format", "FORM", "json, env, header, headers, docker or execcredential in place of the bare token",
    completion: .words(allCases.map { $0.rawValue }))
  /// The option of a command that prints a header.
  static let headerOption = Option.value(
    "--format", "FORM", "headers: a JSON object in place of the line",
    completion: .words([TokenFormat.headers.rawValue]))

  /// The form that a command line asks for; `--json` is one too.
  ///
  /// - Throws: a usage failure for an unknown one, and for two that differ.
  static func chosen(
    _ context: Context, among formats: [TokenFormat] = allCases, orElse standard: TokenFormat = .raw
  ) throws(CommandFailure) -> TokenFormat {
    guard let word = context.arguments[option.name] else { return context.wantsJSON ? .json : standard }
    guard let format = TokenFormat(rawValue: word), formats.contains(format) else {
      let all = formats.map { $0.rawValue }
      throw .unknown(
        "format", word, likely: Spelling.nearest(to: word, among: all), choices: all.joined(separator: ", "))
    }
    guard !context.wantsJSON || format == .json else { throw .usage("--json and --format \(word) cannot be combined") }
    guard format == .env || context.arguments.all(EnvironmentTemplate.option.name).isEmpty else {
      throw .usage("--env goes with --format env")
    }
    return format
  }
}

/// A token as the broker's answer holds it, and what is known of it.
struct PrintedToken {
  /// The whole answer.
  let root: JSONNode
  /// The member that holds the token.
  let member: String
  /// The server that it is for, where the command line names one.
  var target: Target?
  /// Whether the whole answer has the header's value in it, too.
  var hasHeader = false

  /// When it expires.
  var expiresAt: Timestamp? { try? root.optional("expiresAt", Timestamp.init(from:)) }

  /// The bytes of a form, without an end of line; the caller wipes them.
  ///
  /// - Parameters:
  ///   - format: the form.
  ///   - variables: what `env` sets.
  /// - Returns: what is printed.
  /// - Throws: a failure where the answer has no token, where that is bound to a key, or the form needs more than is
  ///   known.
  func bytes(_ format: TokenFormat, _ variables: [EnvironmentTemplate]) throws(CommandFailure) -> [UInt8] {
    guard format != .docker || target != nil else {
      throw .usage("--format docker needs the address of the registry: --url URL")
    }
    guard let node = root[member], node.kind == .string else { throw Self.noToken }
    // The whole answer has the type in it; no other form has.
    if format != .json { try BearerToken.check(root, for: format == .execcredential ? .bearer : .any) }
    let bytes: [UInt8]??
    switch format {
    case .raw: bytes = try? node.withStringBytes { SecretText.bytes("", $0) }
    case .json: bytes = hasHeader ? answer(node) : Array(root.text)
    case .env: bytes = try? node.withStringBytes { environment($0, variables) }
    case .header: bytes = try? header(node, "\(field): ")
    case .headers: bytes = value(node, behind: "{\"\(field)\": \"")
    case .docker: bytes = try docker(node)
    case .execcredential:
      bytes = (try? node.token()).map { ExecCredential().answer($0, expiresAt: expiresAt) }
    }
    guard let bytes = bytes ?? nil else { throw Self.noExpiry }
    return bytes
  }

  private static let noToken = CommandFailure(
    .failure, "the broker's answer has no token; the broker may be of another version",
    next: NextCommand("restart it with", "stop"))
  private static let noExpiry = CommandFailure(
    .failure,
    "the provider does not say when the token expires, or the token cannot stand in this form; "
      + "leave {expiry} out of --env, or choose another --format")

  /// The field that carries the token.
  private var field: String { (target?.scheme == .basic ? nil : configuredField) ?? AuthorizationValue.standardField }

  /// The field that the configuration names for a secret of its own.
  private var configuredField: String? { try? root["header"]?.string() }

  /// `Bearer TOKEN` (RFC 6750), basic authentication (RFC 7617) where the target wants that, or a secret of the configuration
  /// as that says, behind a text.
  private func header(_ node: JSONNode, _ prefix: String) throws(JSONMismatch) -> [UInt8] {
    guard let target, target.scheme == .basic else {
      let scheme = AuthorizationValue.prefix(header: configuredField, type: try? root["tokenType"]?.string())
      return try node.withStringBytes { SecretText.bytes(prefix + scheme, $0, room: Self.end.utf8.count + 1) }
    }
    var value = AuthorizationValue.bytes(try node.token(), for: target)
    defer { wipe(&value) }
    return SecretText.bytes(prefix, value.span, room: Self.end.utf8.count + 1)
  }

  private static let end = "\"}"

  /// The answer with the member `authorization`; without it for a token that is bound to a key, or that no header can carry.
  private func answer(_ node: JSONNode) -> [UInt8] {
    guard (try? BearerToken.check(root)) != nil, var member = value(node, behind: ",\"authorization\":\"") else {
      return Array(root.text)
    }
    defer { wipe(&member) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(root.text.count + member.count)
    bytes.append(contentsOf: root.text.dropLast())
    bytes.append(contentsOf: member)
    return bytes
  }

  /// The header's value as the last member of an object, behind a text; nil for a token that no header can carry (RFC 6750,
  /// section 2.1).
  private func value(_ node: JSONNode, behind prefix: String) -> [UInt8]? {
    guard var bytes = try? header(node, prefix) else { return nil }
    guard bytes.dropFirst(prefix.utf8.count).allSatisfy({ (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
    else {
      wipe(&bytes)
      return nil
    }
    bytes.append(contentsOf: Self.end.utf8)
    return bytes
  }

  private func docker(_ node: JSONNode) throws(CommandFailure) -> [UInt8]? {
    guard let target, let server = DockerServer(listing: target.url), let token = try? node.token() else { return nil }
    return DockerHelper.answer(server, try DockerHelper.username(of: target), token)
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
}
