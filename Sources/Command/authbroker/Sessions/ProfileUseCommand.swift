import BrokerProtocol
import LinuxSystem

/// `authbroker profile use`.
enum ProfileUseCommand: Command {
  static let name = "profile use"
  static let about = CommandDescription(
    operands: "[PROFILE]",
    summary: "Choose the profile of commands that name none",
    details: """
      Writes the name into the file profile beside the default configuration; --profile and AUTHBROKER_PROFILE win over it.
      Commands that list every profile go on to list all of them.
      """,
    options: [.flag("--none", "choose none: the only configured profile is meant, else default")],
    examples: ["authbroker profile use work", "authbroker profile use --none"])

  /// Writes the choice, or removes it.
  static func run(_ context: Context) throws(CommandFailure) {
    guard let path = CurrentProfile.path(context.environment) else {
      throw .usage("HOME is not set to an absolute path; name the profile in \(CurrentProfile.variable)")
    }
    guard let text = context.arguments.operands.first else {
      guard context.arguments.has("--none") else { throw .usage("missing argument PROFILE; or give --none") }
      try remove(path)
      return context.finish("no profile is chosen now")
    }
    guard !context.arguments.has("--none") else { throw .usage("--none goes with no profile") }
    let configured = try ConfigurationVerdict(context, try context.paths()).unrefused().profiles
    guard let profile = ProfileName(text), configured.isEmpty || configured.contains(text) else {
      throw .unknown(
        "profile", text, likely: Spelling.nearest(to: text, among: configured),
        choices: configured.isEmpty ? nil : configured.joined(separator: ", "))
    }
    try write(profile, to: path)
    guard !context.wantsJSON else { return context.printJSON([("profile", profile.description)]) }
    Output.notice("commands mean the profile \(profile) now, where they name none")
    warn(of: context.environment[CurrentProfile.variable], profile)
  }

  private static func write(_ profile: ProfileName, to path: String) throws(CommandFailure) {
    let directory = PathName.directory(of: path)
    if (try? FileStatus.following(directory)) == nil {
      do throws(PrivateDirectory.Refusal) { _ = try PrivateDirectory(directory, create: true) } catch {
        throw CommandFailure(.failure, BrokerSentence.plain(error.description))
      }
    }
    do throws(Errno) {
      try PendingFile(path, Array("\(profile)\n".utf8).span).put(replacing: true)
    } catch { throw CommandFailure(.failure, "\(path) cannot be written: \(error)") }
  }

  private static func remove(_ path: String) throws(CommandFailure) {
    do throws(Errno) { try DirectoryEntry.remove(path) } catch {
      guard error != .noEntry else { return }
      throw CommandFailure(.failure, "\(path) cannot be removed: \(error)")
    }
  }

  private static func warn(of variable: String?, _ profile: ProfileName) {
    guard let variable, !variable.isEmpty, variable != profile.description else { return }
    Output.message("in this shell \(CurrentProfile.variable) wins: \(variable.shellQuoted)")
  }
}
