import BrokerCore
import BrokerProtocol
import LinuxSystem

/// The wrong passphrases in a row, kept beside the vault: their number and the time of the last one, in the clear.
struct AttemptsFile {
  /// More than two numbers never have.
  private static let byteLimit = 64
  /// The number that a file which cannot be read stands for: enough for the longest delay.
  private static let unknownCount = 16

  private let directory: String
  private let name: String

  /// The file beside a database.
  init(ofDatabase path: String) {
    directory = PathName.directory(of: path)
    name = String(path.dropFirst(directory.count).drop { $0 == "/" }) + ".attempts"
  }

  /// Reads the file; returns none where there is no file, many where it cannot be read.
  ///
  /// - Parameter now: milliseconds since 1970-01-01T00:00:00Z.
  /// - Returns: the wrong passphrases so far.
  func read(at now: Int64) -> PassphraseFailures {
    let unknown = PassphraseFailures(count: Self.unknownCount, lastAt: Timestamp(milliseconds: now))
    let file: FileDescriptor
    do throws(Errno) { file = try FileDescriptor.open(path, [.read, .noFollow, .nonBlocking]) } catch {
      return error == .noEntry ? .none : unknown
    }
    guard let status = try? file.status(), status.kind == .regular,
      let bytes = try? file.contents(limit: Self.byteLimit)
    else { return unknown }
    let numbers = String(decoding: bytes, as: UTF8.self).split(separator: " ").map { Int64($0) }
    guard numbers.count == 2, let count = numbers[0], let time = numbers[1], count > 0 else { return unknown }
    return PassphraseFailures(count: Int(clamping: count), lastAt: Timestamp(milliseconds: min(time, now)))
  }

  /// Writes it, or removes it where there are none; what fails is only known to this process.
  func write(_ failures: PassphraseFailures) {
    guard let place = try? PrivateDirectory(directory, create: false) else { return }
    guard failures != .none else {
      try? place.removeFile(name)
      return
    }
    try? place.writeFile(name, Array("\(failures.count) \(failures.lastAt.milliseconds)".utf8).span)
  }

  private var path: String { directory + "/" + name }
}
