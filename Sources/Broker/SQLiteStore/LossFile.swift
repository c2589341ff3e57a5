import LinuxSystem

/// The note beside a new vault that another one was here before, until an event of the new one reports it.
///
/// The files of the lost vault are removed before the new one exists; without the note, a process that ends in between
/// would leave no sign of it.
struct LossFile {
  private static let texts: [(loss: VaultSuspicion, text: String)] = [(.fileGone, "gone"), (.movedAway, "moved")]
  /// More than one word it never has.
  private static let byteLimit = 64

  private let directory: String
  private let name: String

  /// The file beside a database.
  init(ofDatabase path: String) {
    directory = PathName.directory(of: path)
    name = PathName.name(of: path) + ".lost"
  }

  /// The recorded loss; nil for none.
  ///
  /// A file that cannot be read counts as the graver case.
  var loss: VaultSuspicion? {
    do throws(Errno) {
      let file = try FileDescriptor.open(directory + "/" + name, [.read, .noFollow, .nonBlocking])
      let text = String(decoding: try file.contents(limit: Self.byteLimit), as: UTF8.self)
      return Self.texts.first { $0.text == text }?.loss ?? .fileGone
    } catch { return error == .noEntry ? nil : .fileGone }
  }

  /// Writes it.
  ///
  /// - Returns: whether it is there.
  func note(_ loss: VaultSuspicion) -> Bool {
    guard let text = Self.texts.first(where: { $0.loss == loss })?.text,
      let place = try? PrivateDirectory(directory, create: false)
    else { return false }
    return (try? place.writeFile(name, Array(text.utf8).span)) != nil
  }

  /// Removes it.
  func forget() { try? DirectoryEntry.remove(directory + "/" + name) }
}
