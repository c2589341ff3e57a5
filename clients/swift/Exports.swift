// What a program needs to call this library: the methods with their parameters and results, and `Secret`.
@_exported public import BrokerProtocol
@_exported public import SecretMemory
