import BrokerCore
import LinuxSystem
import Logging
import StateDirectory
import Transport

/// One run of the owner of a state directory, from taking the lock to leaving it.
enum OwnerProcess {
  /// Runs until the broker is stopped, and ends the process with the exit code.
  ///
  /// The parts hold each other for as long as the process lives: nothing is taken apart that the kernel frees.
  static func run(_ arguments: DaemonArguments, _ environment: [String: String]) -> Never {
    let report = ReadyReport(descriptor: arguments.readyDescriptor)
    let serviceReport = ServiceReport(arguments.mode, environment)
    Environment.removeManagerVariables()
    do throws(StartFailure) {
      let daemon = try prepare(arguments, environment, report, serviceReport)
      let code = try run(daemon)
      ChildProcess.endGroups()
      withExtendedLifetime(daemon) { ProcessImage.end(code) }
    } catch {
      // What goes to a log must say when, as all other lines there do.
      let isLog = arguments.mode == .owner(isOnDemand: true)
      if arguments.wantsJSON, arguments.mode == .owner(isOnDemand: false) { StandardOutput.write(error.object) }
      StandardError.write((isLog ? "\(WallClock.timestamp) error: " : "authbroker: ") + error.message + "\n")
      report.failed(error)
      serviceReport.failed(error.message)
      ChildProcess.endGroups()
      ProcessImage.end(error.exitCode)
    }
  }

  /// Takes the lock and reads the configuration: whatever can be refused is refused before a thread is started.
  private static func prepare(
    _ arguments: DaemonArguments, _ environment: [String: String], _ report: ReadyReport, _ serviceReport: ServiceReport
  ) throws(StartFailure) -> Daemon {
    let paths = try StatePaths(arguments, environment)
    let lock = try OwnerLock(paths)
    let source = ConfigurationSource(paths: paths, environment: environment)
    let configuration = try source.read()
    let descriptors = (try? ProcessHardening.raiseDescriptorLimit()) ?? 1024
    guard descriptors >= Limits.leastDescriptors else {
      throw StartFailure(
        kind: .failed,
        message: "only \(descriptors) files may be open, and \(Limits.leastDescriptors) are the least; raise the limit"
          + " (ulimit -n, or LimitNOFILE of the unit)")
    }
    Environment.scrub()
    do throws(Errno) {
      let loop = try EventLoop()
      return Daemon(
        loop: loop, arguments: arguments, lock: lock, source: source, configuration: configuration,
        descriptorLimit: descriptors, environment: environment, report: report, serviceReport: serviceReport)
    } catch {
      throw StartFailure(kind: .failed, message: "the event loop cannot be created: \(error)")
    }
  }

  /// Lets the loop have this thread until the daemon has ended.
  private static func run(_ daemon: Daemon) throws(StartFailure) -> Int32 {
    do throws(Errno) {
      // Signals are blocked before the first other thread starts, and inherited by all.
      let signals = try SignalSource(loop: daemon.loop, signals: [.terminate, .interrupt, .hangUp]) { signal in
        daemon.assumeIsolated { $0.received(signal) }
      }
      daemon.assumeIsolated { $0.begin() }
      try daemon.loop.run()
      signals.stop()
      daemon.assumeIsolated { $0.finishLog() }
    } catch {
      throw StartFailure(kind: .failed, message: "the event loop failed: \(error)")
    }
    return try daemon.assumeIsolated { daemon in daemon.verdict }.get()
  }
}
