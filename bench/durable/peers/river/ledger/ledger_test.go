package ledger

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
)

func TestCasesOfBothLedgers(t *testing.T) {
	text, err := os.ReadFile("../../../../../tests/bench/ledger_cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name   string         `json:"name"`
		Steps  [][]any        `json:"steps"`
		Undone int            `json:"undone"`
		Report map[string]any `json:"report"`
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) == 0 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, of := range cases {
		t.Run(of.Name, func(t *testing.T) {
			l := New()
			for _, step := range of.Steps {
				number, ms := int(step[1].(float64)), func(index int) int64 { return int64(step[index].(float64)) }
				switch step[0] {
				case "put":
					l.Sent(number, 1000, 1000)
					l.Accepted(number)
				case "sent":
					l.Sent(number, ms(2), ms(3))
				case "accepted":
					l.Accepted(number)
				case "cancelled":
					l.Cancelled(number)
				case "delivered":
					l.Delivered(number, ms(2))
				case "acknowledged":
					l.Acknowledged(number, ms(2))
				default:
					t.Fatalf("unknown step %v", step)
				}
			}
			if l.Undone() != of.Undone {
				t.Errorf("undone: %d, not %d", l.Undone(), of.Undone)
			}
			text, err := json.Marshal(l.Report())
			if err != nil {
				t.Fatal(err)
			}
			var found map[string]any
			if err := json.Unmarshal(text, &found); err != nil {
				t.Fatal(err)
			}
			for name, value := range of.Report {
				if got, there := found[name]; !there || !reflect.DeepEqual(got, value) {
					t.Errorf("%s: %v, not %v", name, got, value)
				}
			}
		})
	}
}

func TestBodyHas200BytesDiffersFromAllOthersAndNamesItsNumber(t *testing.T) {
	one, other := BodyOf(123_456_789), BodyOf(123_456_789)
	if len(one) != BodyBytes || one == other || NumberOf(one) != 123_456_789 || NumberOf(BodyOf(7)) != 7 {
		t.Error(one, other)
	}
}

func TestLastTimes(t *testing.T) {
	l := New()
	l.Sent(0, 1000, 1000)
	if l.LastMs() != 2000 {
		t.Error(l.LastMs())
	}
	l.Delivered(0, 2001)
	l.Acknowledged(0, 2003)
	if l.LastMs() != 2003 || l.LastAcknowledgedMs() != 2003 {
		t.Error(l.LastMs(), l.LastAcknowledgedMs())
	}
}

func TestLevelsAreThoseOfTheSortedValues(t *testing.T) {
	values := make([]float64, 1000)
	for index := range values {
		values[index] = float64(999 - index)
	}
	if Levels(nil) != nil || !reflect.DeepEqual(Levels(values), map[string]float64{"p50": 500, "p99": 990, "max": 999}) {
		t.Error(Levels(values))
	}
}
