import LinuxSystem
import SecretMemory

/// A file (0600) for a secret that was typed: the configuration itself never holds one.
enum SecretFile {
  /// Writes a secret into a new file.
  ///
  /// - Throws: `EEXIST` where there is a file of that name; what open(2), write(2) or link(2) says.
  static func write(_ secret: Secret, to path: String) throws(Errno) {
    var bytes = SecretText.bytes("", secret)
    defer { wipe(&bytes) }
    try PendingFile(path, bytes.span).put(replacing: false)
  }
}
