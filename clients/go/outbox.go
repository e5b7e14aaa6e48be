package duewheel

import "sync"

// group is several messages with the same outcome, which are reported with one request.
type group struct {
	outcome outcome
	works   []*work
}

// outbox is what is to be reported to the server. What comes while a request is on its way is the next one.
type outbox struct {
	mu     sync.Mutex
	filled *sync.Cond
	order  []string // of the groups
	groups map[string]*group
	closed bool
}

func newOutbox() *outbox {
	o := &outbox{groups: map[string]*group{}}
	o.filled = sync.NewCond(&o.mu)
	return o
}

func (o *outbox) add(works []*work, ended outcome) {
	text, _ := encode(membersOf(ended.members)) // its members are JSON already, or text
	name := ended.verb + string(text)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.groups[name] == nil {
		o.groups[name] = &group{outcome: ended}
		o.order = append(o.order, name)
	}
	o.groups[name].works = append(o.groups[name].works, works...)
	o.filled.Signal()
}

// take is the oldest group, up to what one request may have; nil when the outbox is closed and empty.
func (o *outbox) take() *group {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.order) == 0 {
		if o.closed {
			return nil
		}
		o.filled.Wait()
	}
	oldest := o.groups[o.order[0]]
	if len(oldest.works) > ManyMax {
		taken := &group{oldest.outcome, oldest.works[:ManyMax:ManyMax]}
		oldest.works = oldest.works[ManyMax:]
		return taken
	}
	delete(o.groups, o.order[0])
	o.order = o.order[1:]
	return oldest
}

func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.filled.Broadcast()
}
