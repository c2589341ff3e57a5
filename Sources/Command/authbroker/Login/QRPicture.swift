import LinuxSystem
import SecretMemory

/// A QR code on the terminal, by the program qrencode where that is installed.
enum QRPicture {
  /// Draws a text, which is told on standard input: no list of processes shows it.
  ///
  /// - Returns: false where there is no such program or no terminal, or it is too narrow, which is said.
  static func draw(_ text: Span<UInt8>, _ context: Context) -> Bool {
    guard Terminal.isTerminal(2), let program = SearchPath.program("qrencode", context.environment.all) else {
      return false
    }
    // Colours make it readable on any background; without them it fits dark ones.
    let words = ["-t", context.style.isEnabled ? "ANSIUTF8" : "UTF8", "-m", "2", "-o", "-"]
    guard var run = try? ToolRun(program, words, secret: text, environment: context.environment.all) else {
      return false
    }
    defer { wipe(&run.output) }
    guard run.code == 0 else { return false }
    // A line has two rows of a square with an odd number of them.
    let width = 2 * run.output.count { $0 == UInt8(ascii: "\n") } - 1
    if let columns = Terminal.columns(2), columns < width {
      Output.message("the terminal has \(columns.counted("column")), too few for a QR code of \(width)")
      return false
    }
    Output.progress(String(decoding: run.output, as: UTF8.self))
    return true
  }
}
