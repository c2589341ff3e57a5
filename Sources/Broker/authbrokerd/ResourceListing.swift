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

  /// `--describe-client`: prints the document about the client for an address of it, on one line.
  ///
  /// - Returns: 1 for an address that can be none, with a line that says why.
  static func describeClient(at address: String) -> Int32 {
    guard let url = try? HTTPURL(address), url.scheme == .https, url.target != "/", !url.target.utf8.contains(0x3F)
    else {
      return tell(
        .init(
          message: "the address of a client's document must be https://, a host and a path, without a query",
          isPassing: false))
    }
    // Servers should take a loopback address with any port (RFC 8252, section 7.3).
    let metadata = ClientMetadata(redirects: ["http://127.0.0.1/callback", "http://[::1]/callback"])
    StandardOutput.write(metadata.document(at: address) + "\n")
    return 0
  }

  private static func client(
    _ arguments: DaemonArguments, _ environment: [String: String]
  ) throws(StartFailure) -> HTTPClient {
    let paths = try StatePaths(arguments, environment)
    // `init` is about to write the file.
    let isThere = paths.configuration.map { (try? FileStatus.following($0)) != nil } ?? false
    let network =
      isThere
      ? try ConfigurationSource(paths: paths, environment: environment).read().network
      : BrokerConfiguration.standard.network
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
