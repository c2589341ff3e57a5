/// The handle of a login that waits.
enum FlowHandle {
  /// Far more than the 43 characters that a handle of 256 bits has today; the broker alone knows what is in it.
  private static let longest = 128

  /// Makes sure that a text can be a handle: what was copied with a blank or half a line beside it is not sent.
  ///
  /// - Returns: the text.
  /// - Throws: a usage failure that names where handles are shown.
  static func checked(_ text: String) throws(CommandFailure) -> String {
    let known = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
    guard !text.isEmpty, text.utf8.count <= longest, text.allSatisfy(known.contains) else {
      let shown = text.utf8.count <= longest ? text.shellQuoted : "a string of \(text.utf8.count) bytes"
      throw .usage("\(shown) is not the name of a login", next: NextCommand("to see which ones wait", "sessions"))
    }
    return text
  }
}
