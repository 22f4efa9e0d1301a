module greeter

go 1.24
