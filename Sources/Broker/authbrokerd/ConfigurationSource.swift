import Configuration
import ConfigurationFile
import LinuxSystem
import StateDirectory

/// The configuration file with the environment, and its translation for the core.
struct ConfigurationSource: Sendable {
  /// The path of the file.
  let paths: StatePaths
  /// The variables that `${NAME}` in the file refers to.
  let environment: [String: String]

  /// Reads the configuration; no file at all means one profile on the embedded provider.
  ///
  /// It names programs that are run and servers that get passwords, so it is read only where no other user can have
  /// written it.
  ///
  /// - Parameters:
  ///   - mayBeMissing: whether the standard configuration stands in for a file that was not chosen and is not there.
  ///   - examine: says what is wrong with a file of trusted authorities that is named, if that is to be looked at.
  /// - Returns: what it says.
  /// - Throws: ``StartFailure`` where a chosen file is missing or the usual one has another name, others can change the file,
  ///   or it is not valid.
  func read(
    mayBeMissing: Bool = true, examine: @escaping (String) -> String? = { _ in nil }
  ) throws(StartFailure) -> BrokerConfiguration {
    guard let path = paths.configuration else { return .standard }
    let bytes: [UInt8]
    do throws(TrustedFile.Refusal) {
      bytes = try contents(of: path)
    } catch {
      if error.isMissing, mayBeMissing, !paths.isConfigurationChosen { return try standard(insteadOf: path) }
      throw StartFailure(kind: .configInvalid, message: error.description)
    }
    do throws(ConfigurationError) {
      return try BrokerConfiguration.parse(bytes, file: path, environment: environment, examine: examine)
    } catch { throw StartFailure(error) }
  }

  /// The standard configuration, unless a file beside the usual one shows that its name was mistaken.
  private func standard(insteadOf path: String) throws(StartFailure) -> BrokerConfiguration {
    for name in Self.otherNames {
      let other = PathName.directory(of: path) + "/" + name
      guard (try? FileStatus.ofLink(other)) != nil else { continue }
      let remedy = name.hasPrefix("config.json") ? "rename it to config.json" : "write it as JSON5 in config.json"
      throw StartFailure(kind: .configInvalid, message: "\(other) is not read; \(remedy)")
    }
    return .standard
  }

  /// Other names that people give to `config.json`.
  private static let otherNames = ["json5", "jsonc", "yaml", "yml", "toml"].map { "config.\($0)" }

  private func contents(of path: String) throws(TrustedFile.Refusal) -> [UInt8] {
    let file = try TrustedFile.open(path)
    do throws(Errno) {
      return try file.contents(limit: ConfigurationDocument.byteLimit + 1)
    } catch { throw .failed(path, error) }
  }
}
