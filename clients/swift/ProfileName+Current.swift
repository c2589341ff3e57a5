#if !hasFeature(Embedded)
import BrokerProtocol
import LinuxSystem
import StateDirectory

extension ProfileName {
  /// The given profile, else that of `AUTHBROKER_PROFILE`, else that of `authbroker profile use`; nil: the broker's choice.
  ///
  /// - Throws: `broker` with `invalidParams`, as the broker itself would say it, where one of them is no profile's name.
  static func meant(
    _ given: ProfileName?, _ environment: @autoclosure () -> EnvironmentVariables = .init(Environment.current)
  ) throws(ClientError) -> ProfileName? {
    if let given { return given }
    let environment = environment()
    let text = ChosenProfile.ofVariable(environment) ?? ChosenProfile.path(environment).flatMap(ChosenProfile.line)
    guard let text else { return nil }
    guard let name = ProfileName(text) else {
      var error = BrokerError(
        .invalidParams, "\(ChosenProfile.variable), or the file of `authbroker profile use`, holds no profile's name.")
      error.pointer = "/profile"
      throw .broker(error)
    }
    return name
  }
}
#endif
