import BrokerCore
import BrokerProtocol
import Configuration
import ConfigurationFile
import HTTP
import JSON
import LinuxSystem
import StateDirectory

/// `--check-config`: says whether the configuration is valid, and where it is not.
enum ConfigurationCheck {
  /// Prints the verdict; returns the exit code.
  static func run(_ arguments: DaemonArguments, _ environment: [String: String]) -> Int32 {
    var file: String?
    do throws(StartFailure) {
      let paths = try StatePaths(arguments, environment)
      file = paths.configuration
      let configuration = try ConfigurationSource(paths: paths, environment: environment)
        .read(examine: objection(toAuthorities:))
      let hooks = MissingHook.all(configuration, environment)
      let rules =
        UncertainRules.all(configuration, PeerProcess.abilities())
        + [AskingRules.fault(configuration, environment)].compactMap(\.self)
      StandardOutput.write(
        arguments.wantsJSON ? object(configuration, paths, hooks, rules) : sentence(configuration, paths))
      if !arguments.wantsJSON {
        for sentence in hooks.map(\.sentence) + rules + AskingRules.all(configuration) {
          StandardError.write("authbroker: \(PlainText.line(sentence.utf8))\n")
        }
      }
      if !configuration.outdatedKeys.isEmpty, !arguments.wantsJSON {
        let keys = configuration.outdatedKeys.joined(separator: ", ")
        StandardError.write("authbroker: obeyed until version 0.3: \(keys); remove them\n")
      }
      return 0
    } catch {
      refuse(error, file, arguments)
    }
    return 1
  }

  /// Checks a file of certificate authorities, and returns its mistake: a broker starts without such a file, and trusts
  /// fewer servers.
  private static func objection(toAuthorities path: String) -> String? {
    do throws(TrustedFile.Refusal) { try TrustedFile.check(path) } catch {
      let sentence = error.description
      return sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }
    return AddedAuthorities.areReadable(at: path) ? nil : "\(path) cannot be read, or has no certificate (PEM) in it"
  }

  /// Prints each mistake on a line of its own, as compilers do; beside the object, and otherwise, it is one sentence.
  private static func refuse(_ failure: StartFailure, _ file: String?, _ arguments: DaemonArguments) {
    if arguments.wantsJSON { StandardOutput.write(refusal(failure, file)) }
    guard let error = failure.mistakes, !arguments.wantsJSON else {
      return StandardError.write("authbroker: \(failure.message)\n")
    }
    for text in error.lines { StandardError.write("\(PlainText.line(text.utf8))\n") }
    guard error.omittedCount > 0 else { return }
    StandardError.write("authbroker: \(error.omittedCount) more mistake\(error.omittedCount == 1 ? "" : "s")\n")
  }

  private static func refusal(_ failure: StartFailure, _ file: String?) -> String {
    line { writer in
      writer.member("ok", false)
      writer.member(ifPresent: "file", file)
      writer.member("message", failure.message)
      writer.member("mistakes", failure.mistakes?.mistakes ?? [])
      writer.member("omittedMistakes", failure.mistakes?.omittedCount ?? 0)
    }
  }

  private static func sentence(_ configuration: BrokerConfiguration, _ paths: StatePaths) -> String {
    let names = configuration.profiles.map(\.name.description).joined(separator: ", ")
    return "ok: \(file(paths) ?? "no file, the built-in configuration") (profiles: \(names))\n"
  }

  /// The object for programs: with the key source of a new vault, for the check of the files, the places where a
  /// profile or a target can be added, and the targets.
  private static func object(
    _ configuration: BrokerConfiguration, _ paths: StatePaths, _ hooks: [MissingHook], _ rules: [String]
  ) -> String {
    line { writer in
      writer.member("ok", true)
      writer.member(ifPresent: "file", file(paths))
      writer.member("profiles", configuration.profiles.map(\.name.description))
      writer.member("missingHooks", hooks)
      writer.member("uncertainRules", rules)
      writer.member("askingRules", AskingRules.all(configuration))
      writer.member("keySource", configuration.vault.keySource.rawValue)
      writer.member(ifPresent: "keyFile", configuration.vault.keyFile ?? paths.vaultKey)
      guard let bytes = contents(paths) else { return }
      for (name, section) in [("place", "profiles"), ("targetPlace", "targets")] {
        guard let place = ConfigurationPlace(in: bytes, of: section) else { continue }
        writer.key(name)
        writer.object { writer in
          writer.member("offset", place.offset)
          writer.member("isInSection", place.isInSection)
        }
      }
      let lines = ConfigurationPlace.lines(of: "targets", in: bytes)
      writer.key("targets")
      writer.array { writer in
        for target in configuration.targets.targets {
          writer.object { writer in
            writer.member("url", target.url)
            writer.member("profile", target.profile.description)
            writer.member(ifPresent: "line", lines[target.url])
          }
        }
      }
    }
  }

  /// The contents of the file; nil where there is none.
  private static func contents(_ paths: StatePaths) -> [UInt8]? {
    guard let path = file(paths), let file = try? TrustedFile.open(path) else { return nil }
    return try? file.contents(limit: ConfigurationDocument.byteLimit)
  }

  /// A file that was not named may be missing.
  private static func file(_ paths: StatePaths) -> String? {
    paths.configuration.flatMap { path in (try? FileStatus.following(path)) == nil ? nil : path }
  }

  private static func line(_ members: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    writer.object(members)
    return String(decoding: InvisibleCharacters.escaped(in: writer.bytes), as: UTF8.self) + "\n"
  }
}
