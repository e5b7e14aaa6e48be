module duewheel.test/conformance

go 1.22

require duewheel.test/duewheel v0.0.0

replace duewheel.test/duewheel => ../../../go
