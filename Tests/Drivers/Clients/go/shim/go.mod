module shim

go 1.19

require authbroker/clients/go v0.0.0

replace authbroker/clients/go => ../../../../../clients/go
