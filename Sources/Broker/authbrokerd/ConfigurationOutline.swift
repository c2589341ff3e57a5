import BrokerProtocol
import Configuration
import ConfigurationFile
import JSON
import LinuxSystem
import StateDirectory
import TextCoding

/// `--outline-config`: the configuration without what is its owner's, for a report that others read.
///
/// What is shown is listed here, and everything else is left out: keys that the configuration knows, its own words, limits
/// and times, switches, names of profiles, and the servers of addresses. So nothing that a person has written by mistake
/// in a wrong place, such as a password, is shown.
enum ConfigurationOutline {
  /// Stands in the place of what is left out.
  private static let removed = "(removed)"
  /// The words that have a meaning of their own in a configuration, and the scopes that every server knows (OpenID Connect
  /// Core, section 5.4).
  private static let words: Set = [
    "accountLocked", "actor_token", "actor_token_type", "address", "always", "assertion", "audience", "auth0", "auto",
    "backupCodeInvalid", "Basic", "basic", "Bearer", "bearer", "binding_code", "body", "browser", "captchaRequired",
    "client", "client_assertion", "client_assertion_type", "client_id", "client_secret", "clientCredentials", "code",
    "code_challenge", "code_challenge_method", "code_verifier", "command", "credential", "debug", "DELETE", "device",
    "device_code", "deviceCode", "dpop_jkt", "drop", "email", "emailTaken", "emailUnverified", "endpoint",
    "environment", "error",
    "Authorization", "ES256", "exchange", "file", "firebase", "flowNotFound", "forbidden", "form", "GET", "github",
    "gitlab", "google", "grant", "grant_type", "HEAD", "hold", "info", "insufficientScope", "invalidCredentials",
    "json",
    "jwtBearer", "keep", "keycloak",
    "local", "loginRequired", "mcp", "mfa_token", "microsoft", "never", "nonce", "none", "off", "offline_access",
    "oidc", "once", "oob_code", "openid", "OPTIONS", "otp", "otpExpired", "otpInvalid", "outbox", "passphrase",
    "password",
    "PATCH", "phone", "POST", "post", "privateKeyJwt", "profile", "providerRejected", "providerUnavailable", "PUT",
    "rateLimited", "reauthRequired", "recovery_code", "redirect_uri", "refresh_token", "refreshToken", "request",
    "request_uri", "required", "resendTooSoon", "resource", "response_mode", "response_type", "rest", "restartLogin",
    "rfc7009", "RS256", "scope", "sessionExpired", "sms", "smtp", "startTls", "state", "static", "subject_token",
    "subject_token_type", "tls", "token", "tooManyAttempts", "totp", "unsupportedByProvider",
    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    "urn:ietf:params:oauth:client-assertion-type:jwt-spiffe", "use", "username", "validationFailed", "warning",
  ]
  /// The keys of references to secrets, of targets, hooks, rules and limited sockets, which no section of the
  /// configuration has.
  private static let innerKeys: Set = [
    "file", "env", "command", "profile", "username", "scopes", "audience", "scheme", "events", "timeoutSeconds",
    "client", "socket", "uid", "unit", "label", "tool", "methods", "audiences", "may", "confirm", "remember", "mode",
    "group", "uids", "path",
    "origin", "paths",
  ]
  /// The keys whose values are addresses.
  private static let addresses: Set = ["issuer", "baseUrl", "resource", "redirectUri", "proxy", "url"]

  /// Prints one line of JSON; returns the exit code.
  static func run(_ arguments: DaemonArguments, _ environment: [String: String]) -> Int32 {
    let paths = try? StatePaths(
      arguments.options, environment: EnvironmentVariables(environment),
      workingDirectory: ProcessIdentity.workingDirectory)
    guard let path = paths?.configuration, (try? FileStatus.following(path)) != nil else { return print(.absent) }
    guard let file = try? TrustedFile.open(path),
      let bytes = try? file.contents(limit: ConfigurationDocument.byteLimit)
    else { return print(.unreadable) }
    return print(outline(of: bytes))
  }

  /// The outline of a configuration, or why there is none.
  enum Outline: Equatable {
    /// The configuration as JSON.
    case text([UInt8])
    /// There is no file: one profile on the embedded provider.
    case absent
    /// The file cannot be read, or others can change it.
    case unreadable
    /// The file is no JSON5.
    case malformed(line: Int)
  }

  /// The outline of a file's contents.
  static func outline(of bytes: [UInt8]) -> Outline {
    do throws(JSON5Error) {
      let text = try JSON5Text(converting: bytes)
      guard let root = try? JSONDocument(parsing: text.json).root else { return .malformed(line: 1) }
      var writer = JSONWriter()
      write(root, of: "", profiles: (try? root["profiles"]?.members())?.map(\.name) ?? [], &writer)
      return .text(writer.bytes)
    } catch { return .malformed(line: error.mistake(in: bytes).position.line) }
  }

  private static func print(_ outline: Outline) -> Int32 {
    var writer = JSONWriter()
    writer.object { writer in
      switch outline {
      case .text(let bytes):
        writer.key("configuration")
        writer.raw(bytes)
      case .absent: writer.member("problem", "there is no file")
      case .unreadable: writer.member("problem", "the file cannot be read, or others can change it")
      case .malformed(let line): writer.member("problem", "the file is no JSON5, from line \(line) on")
      }
    }
    StandardOutput.write(String(decoding: InvisibleCharacters.escaped(in: writer.bytes), as: UTF8.self) + "\n")
    return 0
  }

  private static func write(_ node: JSONNode, of key: String, profiles: [String], _ writer: inout JSONWriter) {
    switch node.kind {
    case .object: writeMembers(node, of: key, profiles, &writer)
    case .array:
      writer.array { writer in
        for element in (try? node.elements()) ?? [] { write(element, of: key, profiles: profiles, &writer) }
      }
    case .integer, .number: if isBound(key) { writer.raw(node.text) } else { writer.string(removed) }
    case .string, .escapedString:
      writer.string((try? node.string()).flatMap { shown($0, of: key, profiles) } ?? removed)
    case .null, .true, .false: writer.raw(node.text)
    }
  }

  private static func writeMembers(
    _ node: JSONNode, of key: String, _ profiles: [String], _ writer: inout JSONWriter
  ) {
    let members = (try? node.members()) ?? []
    guard key != "targets" else { return writeTargets(members, profiles, &writer) }
    writer.object { writer in
      var others = 0
      for (name, value) in members {
        let isKey = innerKeys.contains(name) || BrokerConfiguration.knownKeys.knows(name)
        guard isNamed(key) ? ProfileName(name) != nil : isKey else {
          others += 1
          continue
        }
        writer.key(name)
        write(value, of: isNamed(key) ? "" : name, profiles: profiles, &writer)
      }
      if others > 0 { writer.member("(other keys)", others) }
    }
  }

  /// Whether the members of a section have names that its owner chooses, of the form of a profile's.
  private static func isNamed(_ key: String) -> Bool { key == "profiles" || key == "sockets" }

  /// Targets as a list: without their paths and users, several can be equal.
  private static func writeTargets(
    _ members: [(name: String, value: JSONNode)], _ profiles: [String], _ writer: inout JSONWriter
  ) {
    writer.array { writer in
      for (address, value) in members {
        writer.object { writer in
          writer.member("server", server(address) ?? removed)
          writer.key("target")
          write(value, of: "profile", profiles: profiles, &writer)
        }
      }
    }
  }

  /// The text of a value as it is shown; nil for one that is left out.
  private static func shown(_ text: String, of key: String, _ profiles: [String]) -> String? {
    if words.contains(text) || EventName(rawValue: text) != nil { return text }
    if addresses.contains(key) { return server(text) }
    return ["profile", "profiles"].contains(key) && profiles.contains(text) && ProfileName(text) != nil ? text : nil
  }

  /// The server of an address, without user, path and query.
  private static func server(_ address: String) -> String? {
    guard let parts = AddressParts(address), AddressParts.port(of: parts.scheme) != nil, let server = parts.server
    else {
      return nil
    }
    return "\(parts.scheme)://\(server.host)" + (server.port.map { ":\($0)" } ?? "")
  }

  /// Whether a number is a limit or a time: any other one could be a code.
  private static func isBound(_ key: String) -> Bool {
    key.hasSuffix("Seconds") || key.hasSuffix("Bytes") || key.hasPrefix("max") || key == "length"
  }
}
