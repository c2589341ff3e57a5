import BrokerCore
import Glibc
import LinuxSystem
import Records
import SQLiteStore
import Sealing
import SecretMemory
import Testing

/// What a run left behind.
struct Evidence {
  /// What must be found nowhere in it.
  var marks: [SecretMark] = []
  /// Answers and events.
  var said: [String] = []
  /// The contents of files, by a name for the report.
  var files: [String: [UInt8]] = [:]
  private var count = 0

  /// Which secret is where; the secrets themselves are not repeated.
  var leaks: [String] {
    marks.flatMap { mark in
      files.filter { mark.isIn($0.value) }.map { "\(mark.name) is in \($0.key)" }
        + said.filter { mark.isIn(Array($0.utf8)) }.map { "\(mark.name) was said: \($0.prefix(60))" }
    }
  }

  /// Takes all files of the state directory but the provider's, which plays the remote.
  mutating func collectFiles(_ sandbox: Sandbox) {
    let own = Directory.files(below: sandbox.state).filter { !$0.hasPrefix(sandbox.state + "/local-provider/") }
    collect(own)
  }

  /// Takes files as they are now; those taken before stay.
  mutating func collect(_ paths: [String]) {
    for path in paths {
      count += 1
      files["\(path) (\(count))"] = (try? Directory.bytes(of: path)) ?? []
    }
  }

  /// Takes what the kernel shows of a process.
  ///
  /// It is not dumpable, so only root can read its environment: everybody else is refused, which is as good.
  mutating func collectProcess(_ pid: Int32) throws {
    files["cmdline"] = try Directory.bytes(of: "/proc/\(pid)/cmdline")
    do { files["environ"] = try Directory.bytes(of: "/proc/\(pid)/environ") } catch let error as Errno {
      guard geteuid() != 0, error == .accessDenied else { throw error }
    }
    #expect(geteuid() == 0 || files["environ"] == nil)
  }

  /// The refresh token, which never leaves the broker, out of the closed vault.
  func refreshToken(of sandbox: Sandbox) throws -> [SecretMark] {
    let state = sandbox.state
    let tokens = try TaskResult.waiting {
      try Sealing.initialize()
      let settings = KeySourceSettings(keyFilePath: state + "/vault.key")
      let vault = try await Vault.open(path: state + "/vault.sqlite", settings: settings)
      try await vault.unlock(nil)
      let records = try await vault.load().records
      try await vault.close()
      return records.compactMap { record -> String? in
        guard case .living(let session) = record.contents else { return nil }
        return session.tokens.refreshToken?.value.revealedString()
      }
    }
    guard tokens.count == 1 else { throw TestFailure("there is no refresh token in the vault") }
    return tokens.map { SecretMark("the refresh token", $0) }
  }
}
