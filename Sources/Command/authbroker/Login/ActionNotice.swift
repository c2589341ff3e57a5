import BrokerProtocol
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
      // Without a picture the address is enough.
      _ = QRPicture.draw(Array((action.verificationURIComplete ?? address).utf8).span, context)
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
}
