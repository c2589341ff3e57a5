module authbroker/clients/go

go 1.19
