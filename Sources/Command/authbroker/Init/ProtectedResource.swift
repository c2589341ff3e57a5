import BrokerProtocol
import JSON
import LinuxSystem
import StateDirectory

/// A protected resource and its authorization servers, as the daemon has found them (RFC 9728).
struct ProtectedResource: Equatable {
  /// The option that names one.
  static let option = Option.value(
    "--resource", "URL", "an API or an MCP server that names its own provider")

  /// Its identifier.
  let resource: String
  /// The issuers of its authorization servers, at least one.
  let issuers: [String]
  /// The scopes that are asked for to use it; empty where it names none.
  let scopes: [String]

  /// Lets the daemon's program ask the resource's server; no broker is started.
  ///
  /// - Throws: a failure that says what was found instead; with code 5 where the server was not reached.
  init(of address: String, _ context: Context) throws(CommandFailure) {
    let paths = try context.paths()
    let report: DaemonProgram.Report
    do throws(Errno) {
      report = try DaemonProgram.report(context, paths, ["--describe-resource", address])
    } catch {
      throw CommandFailure(.failure, "the program authbrokerd cannot be run: \(error)")
    }
    guard let code = report.code else {
      throw CommandFailure(.providerUnavailable, "the resource's server did not answer in time; try again")
    }
    try self.init(code: code, report.object ?? "")
  }

  /// Reads the daemon's line.
  ///
  /// - Throws: a failure with the daemon's own sentence.
  init(code: Int32, _ text: String) throws(CommandFailure) {
    guard let root = try? JSONDocument(parsing: Array(text.utf8)).root else { throw Self.noAnswer }
    if let message = root["message"].flatMap({ try? $0.string() }) {
      let isPassing = root["isPassing"].flatMap { try? $0.bool() } ?? false
      throw CommandFailure(isPassing ? .providerUnavailable : .failure, BrokerSentence.plain(message))
    }
    guard code == 0, let resource = root["resource"].flatMap({ try? $0.string() }),
      let issuers = Self.strings(root["issuers"]), !issuers.isEmpty, let scopes = Self.strings(root["scopes"])
    else { throw Self.noAnswer }
    self.resource = resource
    self.issuers = issuers
    self.scopes = scopes
  }

  private static var noAnswer: CommandFailure {
    CommandFailure(.failure, "authbrokerd does not describe resources; install both programs together")
  }

  private static func strings(_ node: JSONNode?) -> [String]? {
    (try? node?.elements())?.compactMap { try? $0.string() }
  }
}
