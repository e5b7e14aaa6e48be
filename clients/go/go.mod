module duewheel.test/duewheel

go 1.22
