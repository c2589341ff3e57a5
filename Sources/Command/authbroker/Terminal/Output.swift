import JSON
import LinuxSystem
import SecretMemory
import StateDirectory
import Synchronization

/// Whether notices are left out, as `--quiet` says.
private let isQuiet = Atomic(false)

/// The standard streams: data on standard output, words for people on standard error.
enum Output {
  /// Writes data, and ends the program where they cannot be written.
  static func data(_ bytes: Span<UInt8>) {
    do throws(Errno) {
      try write(bytes, to: 1)
    } catch {
      if error != .brokenPipe { message("standard output cannot be written: \(error)") }
      ProcessImage.end(ExitCode.failure.rawValue)
    }
  }

  /// Writes a line of data.
  static func line(_ text: String) { line(Array(text.utf8)) }

  /// Writes a line of data, which is wiped: it may hold a token.
  static func line(_ bytes: consuming [UInt8]) {
    var bytes = bytes
    bytes.makeRoom(for: 1)
    bytes.append(UInt8(ascii: "\n"))
    data(bytes.span)
    wipe(&bytes)
  }

  /// Writes a line of JSON, which is wiped, with an escape in the place of each character that a terminal obeys or hides.
  static func json(_ text: consuming [UInt8]) { line(InvisibleCharacters.escaped(in: text)) }

  /// Writes a secret as a line of data.
  static func line(_ secret: Secret) {
    line(SecretText.bytes("", secret))
  }

  /// Writes text for people as lines that fit the terminal.
  ///
  /// - Parameters:
  ///   - text: the text.
  ///   - lead: the words before it.
  ///   - indent: the number of blanks before each further line; nil: they stand below the text of the first one.
  ///   - mark: sets the text off, a line at a time.
  static func paragraph(
    _ text: String, behind lead: String = "", indent: Int? = nil, marked mark: (String) -> String = { text in text }
  ) {
    let paragraph = Paragraph(lead: lead, indent: indent ?? lead.count, columns: Terminal.columns(1))
    for (index, text) in paragraph.lines(text).enumerated() {
      line(index == 0 ? lead + mark(String(text.dropFirst(lead.count))) : mark(text))
    }
  }

  /// Tells a person something, in lines that fit the terminal; nothing is left to do where that fails.
  ///
  /// Words of a command line or of another program may be in it: no byte of theirs controls the terminal.
  static func message(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { PlainText.line($0.utf8) }
    let shown = Paragraph(lead: "authbroker: ", columns: Terminal.columns(2)).lines(lines.joined(separator: "\n"))
    let bytes = Array((shown.joined(separator: "\n") + "\n").utf8)
    try? write(bytes.span, to: 2)
  }

  /// Leaves out notices from now on; failures, and what a person must know or do, are told all the same.
  static func silenceNotices() { isQuiet.store(true, ordering: .relaxed) }

  /// Tells a person something that nothing depends on, unless notices are left out.
  static func notice(_ text: String) {
    if !isQuiet.load(ordering: .relaxed) { message(text) }
  }

  /// Writes a part of a line for a person to see, and nothing else.
  static func progress(_ text: String) {
    let bytes = Array(text.utf8)
    try? write(bytes.span, to: 2)
  }

  /// Whether standard output is a terminal.
  static var isTerminal: Bool { Terminal.isTerminal(1) }

  private static func write(_ bytes: Span<UInt8>, to number: Int32) throws(Errno) {
    let stream = FileDescriptor(owning: number)
    let result = Result { () throws(Errno) in try stream.writeAll(bytes) }
    // The stream belongs to the process, not to this function.
    _ = stream.release()
    try result.get()
  }
}
