import LinuxSystem
import StateDirectory

// Everything that must come before the first thread: limits, signals, masks. `main` stays synchronous: an `async` one
// would start the global pool before anybody needs it.
let environment = Environment.current
do throws(Errno) {
  try ProcessHardening.fillStandardDescriptors()
  try ProcessHardening.forbidInspection()
  try ProcessHardening.ignoreWriteSignals()
} catch {
  StandardError.write("authbroker: this process cannot be protected from inspection: \(error)\n")
  ProcessImage.end(1)
}

let arguments: DaemonArguments
do throws(DaemonArguments.Misuse) {
  arguments = try DaemonArguments(Array(CommandLine.arguments.dropFirst()))
} catch {
  StandardError.write("authbrokerd: \(error.message)\n\(DaemonArguments.usage)")
  ProcessImage.end(2)
}
switch arguments.mode {
case .version: StandardOutput.write("authbrokerd \(ProgramVersion.current)\n")
case .help: StandardOutput.write(DaemonArguments.usage)
case .checkConfiguration: ProcessImage.end(ConfigurationCheck.run(arguments, environment))
case .listProviders: StandardOutput.write(ProviderListing.text)
case .describeResource(let url): ResourceListing.run(url, arguments, environment)
case .owner, .privateOwner: OwnerProcess.run(arguments, environment)
}
