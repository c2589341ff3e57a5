#if !hasFeature(Embedded)
import BrokerProtocol
import LinuxSystem
import StateDirectory

extension ProfileName {
  /// The given profile, else that of `AUTHBROKER_PROFILE`, else that of `authbroker profile use`; nil: the broker's choice.
  ///
  /// - Throws: `noBroker` where one of them is no profile's name.
  static func meant(_ given: ProfileName?) throws(ClientError) -> ProfileName? {
    if let given { return given }
    let environment = EnvironmentVariables(Environment.current)
    let text = ChosenProfile.ofVariable(environment) ?? ChosenProfile.path(environment).flatMap(ChosenProfile.line)
    guard let text else { return nil }
    guard let name = ProfileName(text) else {
      throw .noBroker(
        reason: "\(ChosenProfile.variable), or the file of `authbroker profile use`, holds no profile's name")
    }
    return name
  }
}
#endif
