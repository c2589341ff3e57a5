package import LinuxSystem

/// The paths of a state directory's files.
///
/// Every program computes the same paths from the same options and environment, and asks no file system for it but for
/// the directory of the login session.
package struct StatePaths: Equatable, Sendable {
  /// The choices of a command line.
  package struct Options: Equatable, Sendable {
    /// The value of `--state`.
    package var state: String?
    /// The value of `--socket`.
    package var socket: String?
    /// The value of `--config`.
    package var configuration: String?

    /// No choice made, or those given.
    package init(state: String? = nil, socket: String? = nil, configuration: String? = nil) {
      self.state = state
      self.socket = socket
      self.configuration = configuration
    }
  }

  /// Why there are no paths.
  package enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// Neither a choice nor `HOME` says where the state directory is.
    case noHome
    /// A variable holds a path that would mean another file in each directory.
    case relative(variable: String, value: String)
    /// A variable holds a path that is no UTF-8: its bytes cannot be kept.
    case notUTF8(variable: String)
    /// An option was given without a path.
    case empty(option: String)

    /// One sentence, and what to do.
    package var description: String {
      switch self {
      case .noHome:
        "HOME is not set to an absolute path, so there is no default state directory; name one with --state"
      case .relative(let variable, let value):
        "\(variable) must be an absolute path, not \(PlainText.line(value.utf8)): it would mean another file in each directory"
      case .notUTF8(let variable):
        "\(variable) is not valid UTF-8, so the directory that it names cannot be used; set it to another one, or name a state "
          + "directory with --state"
      case .empty(let option): "\(option) is empty; name a path, or leave it out"
      }
    }
  }

  /// The state directory (0700).
  package let state: String
  private let chosenSocket: String?
  /// `XDG_RUNTIME_DIR`, for the default state directory.
  private let runtime: String?

  /// The broker's socket (0600), unless the owner's record names another: the chosen one, else one in the directory of the
  /// login session, while that is there and this user's alone, else one in the state directory.
  package var socket: String {
    if let chosenSocket { return chosenSocket }
    guard let runtime, let status = try? FileStatus.following(runtime), status.kind == .directory,
      status.owner == ProcessIdentity.user, status.permissions & 0o777 == 0o700
    else { return ownSocket }
    return runtime + "/authbroker/broker.sock"
  }
  /// The socket in the state directory.
  package var ownSocket: String { state + "/run/broker.sock" }
  /// The configuration file; nil if nothing says where it would be.
  package let configuration: String?
  /// True if the configuration was chosen, so that a missing file, or another one in use, is an error.
  package let isConfigurationChosen: Bool
  /// The key file of the vault; nil if nothing says where it would be.
  package let vaultKey: String?
  /// True if the socket was chosen by `--socket`.
  package var isSocketChosen: Bool { chosenSocket != nil }

  /// The owner's lock and record.
  package var ownerLock: String { state + "/broker.lock" }
  /// Held by a client while it starts an owner.
  package var startLock: String { state + "/start.lock" }
  /// The log of an owner that was started on demand.
  package var log: String { state + "/broker.log" }
  /// The sealed sessions.
  package var vault: String { state + "/vault.sqlite" }
  /// The directory of the embedded provider.
  package var localProvider: String { state + "/local-provider" }
  /// The directory of what helpers remember from one run to the next; no secret.
  package var helpers: String { state + "/helpers" }

  /// Computes the paths.
  ///
  /// An empty variable counts as unset, an empty option does not. A relative `XDG_…` directory is ignored (XDG Base
  /// Directory Specification).
  ///
  /// - Parameters:
  ///   - options: they win over the environment.
  ///   - environment: `AUTHBROKER_STATE`, `AUTHBROKER_CONFIG`, `XDG_…`, `HOME`.
  ///   - workingDirectory: absolute; where relative choices begin.
  /// - Throws: `relative` for a variable of this program that is no absolute path: it is inherited into every directory,
  ///   and each would silently have a vault of its own. `empty` for an option that names nothing. `noHome` if the state
  ///   directory has no other source.
  package init(
    _ options: Options, environment: EnvironmentVariables, workingDirectory: @autoclosure () -> String
  ) throws(Refusal) {
    func absolute(_ path: String?) -> String? {
      guard let path, !path.isEmpty else { return nil }
      return PathName.absolute(path, in: workingDirectory())
    }
    for (name, value) in [
      ("--state", options.state), ("--socket", options.socket), ("--config", options.configuration),
    ] where value?.isEmpty == true {
      throw .empty(option: name)
    }
    for name in ["AUTHBROKER_STATE", "AUTHBROKER_CONFIG", "AUTHBROKER_SOCKET"] {
      guard let value = environment[name], !value.isEmpty else { continue }
      guard BaseDirectories.isWhole(value) else { throw .notUTF8(variable: name) }
      guard PathName.isAbsolute(value) else { throw .relative(variable: name, value: value) }
    }
    let base = BaseDirectories(environment)
    let usual = base.state.map { $0 + "/authbroker" }
    guard let state = absolute(options.state) ?? absolute(environment["AUTHBROKER_STATE"]) ?? usual else {
      throw base.spoiltVariable.map { .notUTF8(variable: $0) } ?? .noHome
    }
    self.state = state
    let isUsual = state == usual
    chosenSocket = absolute(options.socket)
    runtime = isUsual ? base.runtime : nil
    let chosen = absolute(options.configuration) ?? absolute(environment["AUTHBROKER_CONFIG"])
    configuration = chosen ?? base.configuration.map { $0 + "/authbroker/config.json" }
    isConfigurationChosen = chosen != nil
    vaultKey = isUsual ? base.data.map { $0 + "/authbroker/vault.key" } : state + "/vault.key"
  }
}

/// The directories of the XDG Base Directory Specification, as far as they are known; all absolute.
private struct BaseDirectories {
  let state, configuration, data, runtime: String?
  /// Of those that would say where the state directory is, the one that is no UTF-8.
  let spoiltVariable: String?

  /// Whether a value is what the environment has: bytes that are no UTF-8 are replaced where a string is made of them.
  static func isWhole(_ value: String) -> Bool { !value.unicodeScalars.contains("\u{FFFD}") }

  init(_ environment: EnvironmentVariables) {
    func directory(_ name: String) -> String? {
      guard let path = environment[name], PathName.isAbsolute(path), Self.isWhole(path) else { return nil }
      return PathName.absolute(path, in: "/")
    }
    spoiltVariable = ["XDG_STATE_HOME", "HOME"].first { environment[$0].map { !Self.isWhole($0) } ?? false }
    let home = directory("HOME").map { $0 == "/" ? "" : $0 }
    state = directory("XDG_STATE_HOME") ?? (spoiltVariable == nil ? home : nil).map { $0 + "/.local/state" }
    configuration = directory("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" }
    data = directory("XDG_DATA_HOME") ?? home.map { $0 + "/.local/share" }
    runtime = directory("XDG_RUNTIME_DIR")
  }
}
