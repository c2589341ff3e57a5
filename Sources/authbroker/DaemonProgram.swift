import ClientSocket
import LinuxSystem

/// The daemon's program, `authbrokerd`, which this process can become.
enum DaemonProgram {
  /// Executes it with the paths that this command line means.
  ///
  /// - Parameters:
  ///   - context: says which state directory, socket and configuration.
  ///   - arguments: what else it is told.
  /// - Throws: a failure, where there is no such program.
  static func become(_ context: Context, _ arguments: [String]) throws(CommandFailure) {
    let paths = try context.paths()
    var all = ["--state", paths.state]
    if paths.isSocketChosen { all += ["--socket", paths.socket] }
    if paths.isConfigurationChosen, let configuration = paths.configuration { all += ["--config", configuration] }
    let program = OwnerLauncher.daemon(environment: context.environment)
    do throws(Errno) {
      try ProcessImage.replace(path: program, arguments: all + arguments, environment: context.environment)
    } catch { throw CommandFailure(.noDaemon(path: program, error)) }
  }
}
