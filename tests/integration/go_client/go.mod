module duewheel.test/go_client

go 1.19

require github.com/beanstalkd/go-beanstalk v0.2.0
