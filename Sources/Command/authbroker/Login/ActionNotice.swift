import BrokerProtocol
import LinuxSystem
import StateDirectory

/// Tells a person what to do elsewhere, so that a login goes on.
enum ActionNotice {
  /// Names the address, on a line of its own, and the code; on a terminal with a QR code for another device where there is
  /// a program for it, and with the browser of this computer opened where there is one.
  static func tell(_ action: UserAction, _ context: Context) {
    guard let address = action.verificationURI else {
      return Output.message("finish the login where it was begun: only there its address is shown")
    }
    let place = action.kind == .browser ? "in a browser on this computer" : "on any device"
    let code = action.userCode.map { " and enter the code " + PlainText.line($0.utf8) } ?? ""
    Output.message("\(place), open this address\(code):\n\(PlainText.line(address.utf8))")
    switch action.kind {
    case .deviceCode:
      if Terminal.isTerminal(2) { showCode(of: action.verificationURIComplete ?? address, context) }
    // It returns to this computer: another device has no use for a QR code.
    case .browser:
      let launcher = BrowserLauncher(context)
      if !launcher.hasBrowser, let tunnel = LoopbackTunnel(to: address, context.environment) {
        Output.message(
          "a browser on another computer comes back to port \(tunnel.port) there; before you open the address, run there:\n"
            + tunnel.command)
      }
      launcher.open(address)
    }
  }

  /// Has `qrencode` draw the address on standard error; without it, or where it fails, the address is enough.
  private static func showCode(of address: String, _ context: Context) {
    guard let program = SearchPath.program("qrencode", context.environment.all) else { return }
    // Colours make it readable on any background; without them it fits dark ones.
    let type = context.style.isEnabled ? "ANSIUTF8" : "UTF8"
    let bytes = Array(address.utf8)
    try? FileDescriptor.pipe().ends { (readEnd, writeEnd) throws(Errno) in
      var plan = ChildProcess.Plan(
        path: program, arguments: ["-t", type, "-m", "2", "-o", "-"], environment: context.environment.all)
      plan.descriptors = [(readEnd.number, 0), (2, 1)]
      let child = try ChildProcess(plan)
      readEnd.close()
      let result = Result { () throws(Errno) in try writeEnd.writeAll(bytes.span) }
      writeEnd.close()
      try child.wait()
      try result.get()
    }
  }
}
