package duewheel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"
)

// Changes are members of a message or settings that a call changes, by their names in the HTTP API. Durations are time.Duration, instants
// time.Time. A nil removes a member.
type Changes map[string]any

// content is the data of a message as the HTTP API has it: one of three members.
type content struct {
	Body       *string         `json:"body"`
	BodyBase64 []byte          `json:"body_base64"`
	JSON       json.RawMessage `json:"json"`
	fault      error           // why the content could not be decoded
}

// Decode stores the data in the value that target points to. A *[]byte gets the bytes of any content, a *string its text, an *any text as
// string, bytes as []byte and JSON with json.Number; any other target gets JSON. It fails if the data does not fit, and after the end of the
// message, when the server has its content no longer.
func (c *content) Decode(target any) error {
	if c.fault != nil {
		return c.fault
	}
	text := c.BodyBase64
	if c.Body != nil {
		text = []byte(*c.Body)
	}
	switch target := target.(type) {
	case *[]byte:
		if *target = text; c.JSON != nil {
			*target = c.JSON
		}
		return nil
	case *string:
		if c.JSON == nil && text != nil {
			*target = string(text)
			return nil
		}
	case *any:
		if c.JSON == nil && c.Body != nil {
			*target = *c.Body
			return nil
		}
		if c.JSON == nil && c.BodyBase64 != nil {
			*target = c.BodyBase64
			return nil
		}
	}
	if c.JSON == nil {
		return badData("the message has no JSON: it was put as text or bytes, or its content is gone; its type here must be string or []byte", nil)
	}
	decoder := json.NewDecoder(bytes.NewReader(c.JSON))
	decoder.UseNumber()
	if err := decoder.Decode(target); err != nil {
		return badData("the data does not fit its type: "+err.Error(), err)
	}
	return nil
}

// setContent adds the data to the members of a put: a string as text, []byte as bytes, anything else as JSON.
func setContent(members map[string]any, data any) error {
	switch data := data.(type) {
	case string:
		if !utf8.ValidString(data) {
			return badData("the text is not UTF-8: put it as []byte", nil)
		}
		members["body"] = data
	case []byte:
		if data == nil {
			data = []byte{}
		}
		members["body_base64"] = data
	default:
		text, err := encode(data)
		if err != nil {
			return badData("the data cannot be written as JSON: "+err.Error(), err)
		}
		members["json"] = json.RawMessage(text)
	}
	return nil
}

// encode writes JSON without escapes that HTML needs: the server keeps JSON as it was written.
func encode(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

// membersOf gives the options of a call as members: a struct or a map, in which durations and instants become text. Fields of a struct that
// are zero are absent.
func membersOf(options any) map[string]any {
	members, _ := member(reflect.ValueOf(options)).(map[string]any)
	if members == nil {
		members = map[string]any{}
	}
	return members
}

func member(value reflect.Value) any {
	if !value.IsValid() {
		return nil
	}
	switch native := value.Interface().(type) {
	case time.Duration:
		return durationText(native)
	case time.Time:
		return instantText(native)
	case json.Marshaler, []byte:
		return native
	}
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		return member(value.Elem())
	case reflect.Map:
		members := make(map[string]any, value.Len())
		for each := value.MapRange(); each.Next(); {
			members[each.Key().String()] = member(each.Value())
		}
		return members
	case reflect.Struct:
		members := map[string]any{}
		for i := range value.NumField() {
			name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
			if name != "" && name != "-" && !value.Field(i).IsZero() {
				members[name] = member(value.Field(i))
			}
		}
		return members
	}
	return value.Interface()
}

// durationText is the duration in whole milliseconds, rounded up: nothing is early.
func durationText(duration time.Duration) string {
	ms := duration / time.Millisecond
	if duration%time.Millisecond > 0 {
		ms++
	}
	return fmt.Sprintf("%dms", int64(ms))
}

func instantText(instant time.Time) string {
	rounded := instant.Truncate(time.Millisecond)
	if rounded.Before(instant) {
		rounded = rounded.Add(time.Millisecond)
	}
	return rounded.UTC().Format("2006-01-02T15:04:05.000Z")
}

func instantOf(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// segment is a name as one part of a path.
func segment(name string) string { return strings.ReplaceAll(url.QueryEscape(name), "+", "%20") }

// query is the members as the query of a URL.
func query(members map[string]any) string {
	if len(members) == 0 {
		return ""
	}
	values := url.Values{}
	for name, value := range members {
		values.Set(name, fmt.Sprint(value))
	}
	return "?" + values.Encode()
}
