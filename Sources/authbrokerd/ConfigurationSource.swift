import ClientSocket
import Configuration
import LinuxSystem

/// Where the configuration comes from, and what it means for the core.
struct ConfigurationSource: Sendable {
  /// Where the file is.
  let paths: StatePaths
  /// What `${NAME}` in the file means.
  let environment: [String: String]

  /// Reads the configuration; no file at all means one profile on the embedded provider.
  ///
  /// - Throws: ``StartFailure`` where a chosen file is missing, or a file is not valid.
  func read() throws(StartFailure) -> BrokerConfiguration {
    guard let path = paths.configuration else { return .standard }
    let bytes: [UInt8]
    do throws(Errno) {
      // A FIFO in this place must not hold the broker up.
      let file = try FileDescriptor.open(path, [.read, .nonBlocking])
      bytes = try file.contents(limit: BrokerConfiguration.fileByteLimit + 1)
    } catch {
      if error == .noEntry, !paths.isConfigurationChosen { return .standard }
      throw StartFailure(kind: .configInvalid, message: "\(path) cannot be read: \(error).")
    }
    guard bytes.count <= BrokerConfiguration.fileByteLimit else {
      throw StartFailure(kind: .configInvalid, message: "\(path) is longer than 1 MiB.")
    }
    do throws(ConfigurationError) {
      return try BrokerConfiguration.parse(bytes, file: path, environment: environment)
    } catch {
      throw StartFailure(kind: .configInvalid, message: error.description)
    }
  }
}
