import Configuration
import HTTP
import JSON
import LinuxSystem
import OIDCProvider
import StateDirectory

/// `--describe-resource`: which authorization servers a protected resource names (RFC 9728).
///
/// Requests go the way that the configuration says, where there is one.
enum ResourceListing {
  /// Asks the resource's server, prints one line of JSON, and ends the process.
  ///
  /// The line has `resource`, `issuers` and `scopes`, or `message` and `isPassing`: then the exit code is 1.
  static func run(_ address: String, _ arguments: DaemonArguments, _ environment: [String: String]) -> Never {
    do throws(StartFailure) {
      let client = try client(arguments, environment)
      let finished = Semaphore()
      Task(executorPreference: TaskThread.shared) {
        let code: Int32
        do throws(ResourceDiscovery.Failure) {
          let metadata = try await ResourceDiscovery(PublicTransport(client)).metadata(of: address)
          code = tell(metadata)
        } catch { code = tell(error) }
        ProcessImage.end(code)
      }
      // The task ends the process.
      while true { finished.wait() }
    } catch {
      ProcessImage.end(tell(.init(message: error.message, isPassing: false)))
    }
  }

  private static func client(
    _ arguments: DaemonArguments, _ environment: [String: String]
  ) throws(StartFailure) -> HTTPClient {
    let paths: StatePaths
    do throws(StatePaths.Refusal) {
      paths = try StatePaths(
        arguments.options, environment: EnvironmentVariables(environment),
        workingDirectory: ProcessIdentity.workingDirectory)
    } catch { throw StartFailure(kind: .failed, message: error.description) }
    let network = try ConfigurationSource(paths: paths, environment: environment).read().network
    do throws(HTTPFailure) {
      let proxy = try ProxySetting(network, environment)
      do throws(Errno) {
        try TaskThread.shared.start()
        return try HTTPClient(version: ProgramVersion.number, proxy: proxy) { _ in }
      } catch { throw .setUpFailed }
    } catch {
      throw StartFailure(kind: .failed, message: "no requests can be sent: \(error.description)")
    }
  }

  private static func tell(_ metadata: ResourceMetadata) -> Int32 {
    print { writer in
      writer.member("resource", metadata.resource)
      writer.member("issuers", metadata.issuers)
      writer.member("scopes", metadata.scopes)
    }
    return 0
  }

  private static func tell(_ failure: ResourceDiscovery.Failure) -> Int32 {
    print { writer in
      writer.member("message", PlainText.line(failure.message.utf8))
      writer.member("isPassing", failure.isPassing)
    }
    return 1
  }

  private static func print(_ members: (inout JSONWriter) -> Void) {
    var writer = JSONWriter()
    writer.object(members)
    StandardOutput.write(String(decoding: InvisibleCharacters.escaped(in: writer.bytes), as: UTF8.self) + "\n")
  }
}
