package duewheel

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"
)

// Codec changes the bytes of payloads on their way out and in: encryption, or compression. An encoded message has the header "codec", the name
// of the codec and what is inside: "aes-2027/json", "aes-2027/text" or "aes-2027/bytes", as in the clients of all languages. Its methods may
// be called by several goroutines. If Encode does not return the same bytes for the same data, then the same put with the same Key is a
// conflict.
type Codec interface {
	// Name stays with the messages: change it when old messages cannot be decoded any more.
	Name() string
	Encode(data []byte) ([]byte, error)
	// Decode undoes Encode. Its error is that of Message.Decode and Lease.Decode, and fails the attempt of a handler.
	Decode(data []byte) ([]byte, error)
}

// WithCodec makes a client encode the payload of what it puts, and decode that of what it reads.
func WithCodec(codec Codec) Option {
	return func(c *Client) error { c.codec = codec; return nil }
}

const codecHeader = "codec"

// seal encodes the content among the members of a request, if they have one.
func (c *Client) seal(members map[string]any) error {
	if c.codec == nil {
		return nil
	}
	kind := ""
	var data []byte
	for member, name := range map[string]string{"json": "json", "body": "text", "body_base64": "bytes"} {
		value, ok := members[member]
		if !ok {
			continue
		}
		kind = name
		var err error
		if data, err = encode(value); err != nil {
			return badData("the data cannot be written as JSON: "+err.Error(), err)
		}
		if kind == "text" {
			var text string
			err = json.Unmarshal(data, &text)
			data = []byte(text)
		} else if kind == "bytes" {
			err = json.Unmarshal(data, &data)
		}
		if err != nil {
			return badData(fmt.Sprintf("`%s` is no %s: %v", member, kind, err), err)
		}
	}
	if kind == "" {
		return nil
	}
	data, err := c.codec.Encode(data)
	if err != nil {
		return badData(fmt.Sprintf("the data cannot be encoded by the codec `%s`: %v", c.codec.Name(), err), err)
	}
	delete(members, "json")
	delete(members, "body")
	members["body_base64"] = data
	headers, _ := members["headers"].(map[string]any)
	if headers = maps.Clone(headers); headers == nil {
		headers = map[string]any{}
	}
	headers[codecHeader] = c.codec.Name() + "/" + kind
	members["headers"] = headers
	return nil
}

// open decodes the content of a message that has these headers. What fails is the error of Decode.
func (c *Client) open(message *content, id ID, headers map[string]string) {
	header := headers[codecHeader]
	if header == "" || (message.Body == nil && message.BodyBase64 == nil && message.JSON == nil) {
		return
	}
	opened, err := c.opened(*message, header)
	if err != nil {
		opened.fault = badData(fmt.Sprintf("the content of message %s cannot be decoded: %v", id, err), err)
	}
	*message = opened
}

func (c *Client) opened(message content, header string) (content, error) {
	at := max(0, strings.LastIndexByte(header, '/'))
	name, kind := header[:at], header[at:]
	if c.codec == nil {
		return content{}, fmt.Errorf("it was encoded by the codec `%s`, and this client has none", name)
	}
	if c.codec.Name() != name {
		return content{}, fmt.Errorf("it was encoded by the codec `%s`, and this client has `%s`", name, c.codec.Name())
	}
	data := message.BodyBase64
	if message.Body != nil { // bytes that are UTF-8
		data = []byte(*message.Body)
	}
	if message.JSON != nil {
		return content{}, errors.New("it is JSON, which no codec returns")
	}
	data, err := c.codec.Decode(data)
	if err != nil {
		return content{}, err
	}
	text := string(data)
	switch {
	case kind == "/bytes":
		return content{BodyBase64: append([]byte{}, data...)}, nil
	case kind == "/json" && json.Valid(data):
		return content{JSON: data}, nil
	case kind == "/text" && utf8.ValidString(text):
		return content{Body: &text}, nil
	}
	return content{}, fmt.Errorf("what it has inside is no %s", strings.TrimPrefix(kind, "/"))
}
