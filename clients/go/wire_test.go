package duewheel

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestDurationsAndInstantsAreRoundedUp(t *testing.T) {
	for duration, text := range map[time.Duration]string{0: "0ms", 1: "1ms", time.Millisecond: "1ms", time.Second + 1: "1001ms", -time.Second - 1: "-1000ms"} {
		if got := durationText(duration); got != text {
			t.Errorf("%d ns: %s, and not %s", duration, got, text)
		}
	}
	instant := time.Date(2027, 1, 1, 9, 0, 0, 1, time.FixedZone("", 3600))
	if got := instantText(instant); got != "2027-01-01T08:00:00.001Z" {
		t.Error(got)
	}
}

func TestOptionsThatAreZeroAreAbsentAndZeroOfAPointerIsNot(t *testing.T) {
	none := 0.0
	members := membersOf(PutOptions{Delay: time.Hour, Retry: &RetryRule{Jitter: &none}, Key: "k"})
	text, err := encode(members)
	if want := `{"delay":"3600000ms","key":"k","retry":{"jitter":0}}`; err != nil || string(text) != want {
		t.Errorf("%s, and not %s (%v)", text, want, err)
	}
}

func TestAChangeThatIsNilRemovesAMember(t *testing.T) {
	text, _ := encode(membersOf(Changes{"retry": nil, "due": time.UnixMilli(0)}))
	if want := `{"due":"1970-01-01T00:00:00.000Z","retry":null}`; string(text) != want {
		t.Errorf("%s, and not %s", text, want)
	}
}

func TestEachContentHasItsType(t *testing.T) {
	type email struct{ To string }
	for _, data := range []any{"text", []byte{255, 0}, []byte{}, email{"ann <a&b>"}, nil, json.RawMessage(`9007199254740993`)} {
		members := map[string]any{}
		if err := setContent(members, data); err != nil {
			t.Fatal(err)
		}
		if len(members) != 1 {
			t.Errorf("%v: %v", data, members)
		}
	}
	var c content
	if err := json.Unmarshal([]byte(`{"json":9007199254740993}`), &c); err != nil {
		t.Fatal(err)
	}
	if value, err := Data[any](&c); err != nil || value != json.Number("9007199254740993") {
		t.Errorf("%v %v", value, err)
	}
	if _, err := Data[email](&c); CodeOf(err) != "bad_data" {
		t.Errorf("a number is no email: %v", err)
	}
	if err := setContent(map[string]any{}, "\xff"); CodeOf(err) != "bad_data" {
		t.Errorf("text that is not UTF-8 would be changed: %v", err)
	}
}

func TestNamesAreOneSegmentOfAPath(t *testing.T) {
	if got := segment("a/b+c d;é:%"); got != "a%2Fb%2Bc%20d%3B%C3%A9%3A%25" {
		t.Error(got)
	}
}

func TestOutcomesOfOneVerbAreOneRequest(t *testing.T) {
	o := newOutbox()
	for i := 0; i < ManyMax+1; i++ {
		o.add(nil, outcome{verb: "ack", members: map[string]any{"result": i}})
	}
	o.add(nil, failed("no"))
	for _, size := range []int{bodyMax/2 - 100, bodyMax/2 - 100, 9 * bodyMax, 1} {
		o.add(nil, outcome{verb: "ack", members: map[string]any{"result": strings.Repeat("x", size)}})
	}
	o.close()
	for _, want := range []int{ManyMax, 1, 3, 1, 1} {
		if got := o.take(); len(got) != want {
			t.Fatalf("expected a request of %d, and it has %d", want, len(got))
		}
	}
	if o.take() != nil {
		t.Error("it is empty")
	}
}

// A queue that its webhook had paused could not be shown: the type of paused_by was that of a flag, and the server names who paused it.
func TestAQueueThatItsWebhookPausedIsShown(t *testing.T) {
	var state QueueState
	if err := decode([]byte(`{"queue":"hooks","paused":true,"paused_by":"target"}`), &state); err != nil || state.PausedBy != "target" {
		t.Error(state.PausedBy, err)
	}
}
