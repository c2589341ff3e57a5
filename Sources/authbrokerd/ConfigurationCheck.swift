import BrokerProtocol
import ClientSocket
import Configuration
import LinuxSystem

/// `--check-config`: says whether the configuration is valid, and where it is not.
enum ConfigurationCheck {
  /// Prints the verdict; returns the exit code.
  static func run(_ arguments: DaemonArguments, _ environment: [String: String]) -> Int32 {
    do {
      let paths = try StatePaths(
        arguments.options, environment: environment, workingDirectory: ProcessIdentity.workingDirectory)
      let configuration = try ConfigurationSource(paths: paths, environment: environment).read()
      let names = configuration.profiles.map(\.name.description).joined(separator: ", ")
      // A file that nobody chose may be missing.
      let file = paths.configuration.flatMap { path in (try? FileStatus.following(path)) == nil ? nil : path }
      StandardOutput.write("ok: \(file ?? "no file, the built-in configuration") (profiles: \(names))\n")
      return 0
    } catch let refusal as StatePaths.Refusal {
      StandardError.write("authbroker: \(refusal.description)\n")
    } catch let failure as StartFailure {
      StandardError.write("authbroker: \(failure.message)\n")
    } catch {
      StandardError.write("authbroker: the configuration cannot be read.\n")
    }
    return 1
  }
}
