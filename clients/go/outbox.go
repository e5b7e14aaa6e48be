package duewheel

import "sync"

// bodyMax is how many bytes of results and reasons a request of several outcomes may have.
const bodyMax = 1 << 20

// ending is a message whose outcome is to be reported.
type ending struct {
	work    *work
	outcome outcome
	size    int // of the outcome's members
}

// outbox is what is to be reported to the server. What comes while a request is on its way is the next one.
type outbox struct {
	mu      sync.Mutex
	filled  *sync.Cond
	verbs   []string            // of what waits, the oldest first
	waiting map[string][]ending // by verb
	closed  bool
}

func newOutbox() *outbox {
	o := &outbox{waiting: map[string][]ending{}}
	o.filled = sync.NewCond(&o.mu)
	return o
}

func (o *outbox) add(k *work, ended outcome) {
	size := 0
	if len(ended.members) > 0 {
		text, _ := encode(membersOf(ended.members)) // its members are JSON already, or text
		size = len(text)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting[ended.verb]) == 0 {
		o.verbs = append(o.verbs, ended.verb)
	}
	o.waiting[ended.verb] = append(o.waiting[ended.verb], ending{k, ended, size})
	o.filled.Signal()
}

// take is outcomes of one verb, up to what one request may have; nil when the outbox is closed and empty.
func (o *outbox) take() []ending {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.verbs) == 0 {
		if o.closed {
			return nil
		}
		o.filled.Wait()
	}
	verb := o.verbs[0]
	o.verbs = o.verbs[1:]
	all := o.waiting[verb]
	taken := 1 // a result that is too large is refused alone
	for size := all[0].size; taken < len(all) && taken < ManyMax; taken++ {
		if size += all[taken].size; size > bodyMax {
			break
		}
	}
	if o.waiting[verb] = all[taken:]; taken < len(all) {
		o.verbs = append(o.verbs, verb)
	} else {
		delete(o.waiting, verb)
	}
	return all[:taken:taken]
}

func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.filled.Broadcast()
}
