import BrokerProtocol
import ClientSocket
import Configuration
import JSONRPC
import LinuxSystem

/// `--check-config`: says whether the configuration is valid, and where it is not.
enum ConfigurationCheck {
  /// Prints the verdict; returns the exit code.
  static func run(_ arguments: DaemonArguments, _ environment: [String: String]) -> Int32 {
    let message: String
    do {
      let paths = try StatePaths(
        arguments.options, environment: environment, workingDirectory: ProcessIdentity.workingDirectory)
      let configuration = try ConfigurationSource(paths: paths, environment: environment).read()
      StandardOutput.write(arguments.wantsJSON ? object(configuration, paths) : sentence(configuration, paths))
      return 0
    } catch let refusal as StatePaths.Refusal {
      message = refusal.description
    } catch let failure as StartFailure {
      message = failure.message
    } catch {
      message = "the configuration cannot be read."
    }
    if arguments.wantsJSON {
      StandardOutput.write(
        line { writer in
          writer.member("ok", false)
          writer.member("message", message)
        })
    }
    StandardError.write("authbroker: \(message)\n")
    return 1
  }

  private static func sentence(_ configuration: BrokerConfiguration, _ paths: StatePaths) -> String {
    let names = configuration.profiles.map(\.name.description).joined(separator: ", ")
    return "ok: \(file(paths) ?? "no file, the built-in configuration") (profiles: \(names))\n"
  }

  /// Also says where the key of a new vault would come from, for who looks at the files.
  private static func object(_ configuration: BrokerConfiguration, _ paths: StatePaths) -> String {
    line { writer in
      writer.member("ok", true)
      writer.member(ifPresent: "configuration", file(paths))
      writer.member("profiles", configuration.profiles.map(\.name.description))
      writer.member("keySource", configuration.vault.keySource.rawValue)
      writer.member(ifPresent: "keyFile", configuration.vault.keyFile ?? paths.vaultKey)
    }
  }

  /// A file that nobody chose may be missing.
  private static func file(_ paths: StatePaths) -> String? {
    paths.configuration.flatMap { path in (try? FileStatus.following(path)) == nil ? nil : path }
  }

  private static func line(_ members: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    writer.object(members)
    return String(decoding: writer.bytes, as: UTF8.self) + "\n"
  }
}
