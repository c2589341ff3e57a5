import Configuration
import ConfigurationFile
import LinuxSystem
import StateDirectory

/// Where the configuration comes from, and what it means for the core.
struct ConfigurationSource: Sendable {
  /// Where the file is.
  let paths: StatePaths
  /// What `${NAME}` in the file means.
  let environment: [String: String]

  /// Reads the configuration; no file at all means one profile on the embedded provider.
  ///
  /// It names programs that are run and servers that get passwords, so it is read only where no other user can have
  /// written it.
  ///
  /// - Parameter mayBeMissing: whether the standard configuration stands in for a file that was not chosen and is not there.
  /// - Returns: what it says.
  /// - Throws: ``StartFailure`` where a chosen file is missing, others can change the file, or it is not valid.
  func read(mayBeMissing: Bool = true) throws(StartFailure) -> BrokerConfiguration {
    guard let path = paths.configuration else { return .standard }
    let bytes: [UInt8]
    do throws(TrustedFile.Refusal) {
      bytes = try contents(of: path)
    } catch {
      if error.isMissing, mayBeMissing, !paths.isConfigurationChosen { return .standard }
      throw StartFailure(kind: .configInvalid, message: error.description)
    }
    do throws(ConfigurationError) {
      return try BrokerConfiguration.parse(bytes, file: path, environment: environment)
    } catch { throw StartFailure(error) }
  }

  private func contents(of path: String) throws(TrustedFile.Refusal) -> [UInt8] {
    let file = try TrustedFile.open(path)
    do throws(Errno) {
      return try file.contents(limit: ConfigurationDocument.byteLimit + 1)
    } catch { throw .failed(path, error) }
  }
}
