import AuthBrokerClient
import BrokerProtocol
import ClientSocket
import JSON
import LinuxSystem
import StateDirectory

/// The daemon's verdict on a configuration.
struct ConfigurationVerdict: Sendable {
  /// A place in the file where an entry can be added to a section.
  struct Place: Equatable, Sendable {
    /// The byte behind the brace that opens the section.
    let offset: Int
    /// Whether that is the section itself; else it is the outermost one.
    let isInSection: Bool
  }

  /// An entry of the section `targets`.
  struct TargetEntry: Sendable {
    /// The address, as it is written.
    let url: String
    /// The name of its profile.
    let profile: String
    /// The line of the file that it stands on; 0 where that is not known.
    let line: Int64
  }

  /// Why a configuration is refused.
  struct Refusal: Equatable, Sendable {
    /// The keys that are mistaken, as in `profiles.work.issuer`; empty where the file itself is.
    let keys: [String]
    /// One sentence, without the places of the mistakes.
    let message: String
    /// The first mistake with its place, and how many more there are.
    let first: String
  }

  /// The run that gave the verdict, or why there was none.
  let report: Result<DaemonProgram.Report, Errno>
  /// The file that was read; nil: the built-in configuration.
  private(set) var file: String?
  /// The names of the profiles; empty where the configuration is not valid.
  private(set) var profiles: [String] = []
  /// The key source of a new vault; nil where the configuration is not valid.
  private(set) var keySource: KeySourceName?
  /// The path of the key file, whether it exists or not.
  private(set) var keyFile: String?
  /// The place where a profile can be added; nil where there is no file, or it is not valid.
  private(set) var place: Place?
  /// The place where a target can be added; nil where there is no file, or it is not valid.
  private(set) var targetPlace: Place?
  /// The faults of the programs of hooks, a sentence each.
  private(set) var missingHooks: [String] = []
  /// The rules that this machine's kernel does not keep as they read, a sentence each.
  private(set) var uncertainRules: [String] = []
  /// The rules that have the owner asked before a token is given, and the ways to answer: a sentence, or none.
  private(set) var askingRules: [String] = []
  /// The targets; empty where there is no file, or it is not valid.
  private(set) var targets: [TargetEntry] = []
  /// Why it is refused; nil where it is valid, or the daemon could not be asked.
  private(set) var refusal: Refusal?

  /// Whether the daemon accepts the configuration, or could not be asked.
  var isValid: Bool {
    guard case .success(let said) = report, let code = said.code else { return true }
    return code == 0
  }

  /// The verdict on the configuration that a broker would use which was started now.
  ///
  /// - Throws: a failure as of a broker that does not start with it, or where there is no daemon to ask.
  static func accepted(_ context: Context) throws(CommandFailure) -> ConfigurationVerdict {
    let verdict = try ConfigurationVerdict(context, try context.paths()).unrefused()
    do throws(Errno) {
      guard try verdict.report.get().code == nil else { return verdict }
    } catch { throw CommandFailure(.noDaemon(path: OwnerLauncher.daemon(environment: context.environment), error)) }
    throw CommandFailure(.failure, "the configuration was not read in time")
  }

  /// The same verdict, unless it is a refusal.
  ///
  /// - Throws: a failure as of a broker that does not start with this configuration.
  func unrefused() throws(CommandFailure) -> ConfigurationVerdict {
    guard let refusal else { return self }
    throw CommandFailure(.broker(BrokerError(.configInvalid, refusal.first)))
  }

  /// Asks the daemon about the configuration that an owner was started with, as it reads now.
  init(_ context: Context, _ paths: StatePaths, usedBy owner: OwnerRecord) {
    let isUsual = owner.configuration == nil || owner.configuration == paths.configuration
    self.init(context, paths, of: isUsual ? nil : owner.configuration)
  }

  /// Asks the daemon.
  ///
  /// - Parameters:
  ///   - context: the command line and the environment.
  ///   - paths: of the state directory.
  ///   - file: a configuration other than that of the command line.
  init(_ context: Context, _ paths: StatePaths, of file: String? = nil) {
    let arguments = ["--check-config", "--json"] + (file.map { ["--config", $0] } ?? [])
    report = Result { () throws(Errno) in try DaemonProgram.report(context, paths, arguments) }
    guard case .success(let said) = report else { return }
    let root = try? JSONDocument(parsing: Array((said.object ?? "").utf8)).root
    guard said.code == 0, let root else {
      if !isValid { refusal = root.map(Self.refusal) ?? Refusal(keys: [], message: said.text, first: said.text) }
      return
    }
    self.file = try? root["file"]?.string()
    profiles = (try? root["profiles"]?.elements())?.compactMap { try? $0.string() } ?? []
    keySource = (try? root["keySource"]?.string()).flatMap(KeySourceName.init(rawValue:))
    keyFile = try? root["keyFile"]?.string()
    place = Self.place(root["place"])
    targetPlace = Self.place(root["targetPlace"])
    missingHooks = ((try? root["missingHooks"]?.elements()) ?? []).compactMap { node in
      guard let number = try? node["number"]?.integer(), let program = try? node["program"]?.string(),
        let problem = try? node["problem"]?.string()
      else { return nil }
      return "hook \(number): \(PlainText.line(program.utf8)) \(PlainText.line(problem.utf8))"
    }
    uncertainRules = Self.sentences(root["uncertainRules"])
    askingRules = Self.sentences(root["askingRules"])
    for node in (try? root["targets"]?.elements()) ?? [] {
      guard let url = try? node["url"]?.string(), let profile = try? node["profile"]?.string() else { continue }
      targets.append(TargetEntry(url: url, profile: profile, line: (try? node["line"]?.integer()) ?? 0))
    }
  }

  private static func sentences(_ node: JSONNode?) -> [String] {
    ((try? node?.elements()) ?? []).compactMap { node in (try? node.string()).map { PlainText.line($0.utf8) } }
  }

  private static func place(_ node: JSONNode?) -> Place? {
    guard let offset = try? node?["offset"]?.integer(), let isInSection = try? node?["isInSection"]?.bool() else {
      return nil
    }
    return Place(offset: Int(offset), isInSection: isInSection)
  }

  /// The mistakes in one sentence, without their places: the file may be a temporary one.
  private static func refusal(_ root: JSONNode) -> Refusal {
    let mistakes = (try? root["mistakes"]?.elements()) ?? []
    func text(_ node: JSONNode, _ member: String) -> String? { try? node[member]?.string() }
    let sentences = mistakes.map { mistake in
      let path = text(mistake, "path").map { $0 + ": " } ?? ""
      return path + (text(mistake, "message") ?? "") + (text(mistake, "suggestion").map { "; " + $0 } ?? "")
    }
    let message = text(root, "message").map(BrokerSentence.plain) ?? "the configuration is refused"
    return Refusal(
      keys: mistakes.compactMap { text($0, "path") },
      message: sentences.isEmpty ? message : sentences.joined(separator: "\n"), first: message)
  }
}
