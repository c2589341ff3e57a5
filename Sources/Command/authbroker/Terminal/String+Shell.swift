import LinuxSystem
import StateDirectory

extension String {
  /// The text as one word of a shell's command line, without control characters.
  var shellQuoted: String { ShellWord.quoted(PlainText.line(utf8)) }
}
