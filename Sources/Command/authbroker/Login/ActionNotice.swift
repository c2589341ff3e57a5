import BrokerProtocol
import StateDirectory

/// Prints the user action that a login waits for.
enum ActionNotice {
  /// Names the address, on a line of its own, and the code; on a terminal with a QR code for another device where there is
  /// a program for it, and with the browser of this computer opened where there is one.
  static func tell(_ action: UserAction, _ context: Context) {
    guard let address = action.verificationURI else {
      return Output.message("finish the login where it was begun: only there its address is shown")
    }
    let launcher = BrowserLauncher(context)
    let canPaste = RedirectPaste.isPossible(context) && !launcher.hasBrowser
    let place =
      switch action.kind {
      case .deviceCode: "on any device"
      case .browser: canPaste ? "in a browser" : "in a browser on this computer"
      }
    let code = action.userCode.map { " and enter the code " + PlainText.line($0.utf8) } ?? ""
    Output.message("\(place), open this address\(code):\n\(PlainText.line(address.utf8))")
    switch action.kind {
    case .deviceCode:
      // Without a picture the address is enough.
      _ = QRPicture.draw(Array((action.verificationURIComplete ?? address).utf8).span, context)
    // It returns to this computer: another device has no use for a QR code.
    case .browser:
      if !launcher.hasBrowser { tellOfOtherComputer(address, canPaste, context) }
      launcher.open(address)
    }
  }

  /// Tells how a browser on another computer finishes the login: by the address that it ends at, or through ssh(1).
  private static func tellOfOtherComputer(_ address: String, _ canPaste: Bool, _ context: Context) {
    if canPaste {
      Output.message(
        "a browser on another computer ends at an address that it cannot open: copy that address, and paste it here")
    }
    guard let tunnel = LoopbackTunnel(to: address, context.environment) else { return }
    let purpose = canPaste ? "or let it open that address" : "a browser on another computer comes back to"
    Output.message(
      "\(purpose) on port \(tunnel.port) there; before you open the first one, run there:\n" + tunnel.command)
  }
}
