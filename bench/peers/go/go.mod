module duewheel/peers/go

go 1.19
