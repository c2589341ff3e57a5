import BrokerProtocol

extension MailHelper {
  /// Mail programs: each has a command that prints a password.
  static let setup: ToolSetup? = ToolSetup(
    name: "mail", otherNames: ["msmtp", "mbsync", "neomutt"],
    summary: "a password command for msmtp, mbsync and neomutt",
    concerns: { $0.isMail },
    steps: { targets, setup in
      targets.map { target in
        let command = "\(setup.program) token --url \(target.url)"
        return NoteStep(
          text: """
            for \(target.url):
              msmtp    auth oauthbearer
                       passwordeval "\(command)"
              mbsync   AuthMechs XOAUTH2
                       PassCmd "\(command)"
              neomutt  set imap_authenticators = "oauthbearer:xoauth2"
                       set imap_oauth_refresh_command = "\(command)"
                       set smtp_oauth_refresh_command = "\(command)"
            """)
      }
    },
    probe: { target, setup in .run(program: setup.program, arguments: ["token", "--url", target.url]) },
    requirement: "msmtp 1.8.4 or isync 1.4")
}
