package duewheel

import (
	"context"
	"slices"
)

// Queue is a queue whose messages have one type: string for text, []byte for bytes, anything else for JSON.
type Queue[T any] struct {
	client     *Client
	name, kind string
}

// NewQueue names a queue. It makes no call: a queue is there once something is put.
func NewQueue[T any](client *Client, name string) Queue[T] {
	return Queue[T]{client: client, name: name}
}

// Kind is the same queue for messages of one of several types: a put has the header "kind", and Handle gets only messages that have it.
func (q Queue[T]) Kind(kind string) Queue[T] {
	q.kind = kind
	return q
}

// Put puts a message: see Client.Put.
func (q Queue[T]) Put(ctx context.Context, data T, options ...PutOption) (*Receipt, error) {
	return q.client.Put(ctx, q.name, data, q.withKind(options)...)
}

// PutAll puts up to 1,000 messages with the same options: see Client.PutMany.
func (q Queue[T]) PutAll(ctx context.Context, all []T, options ...PutOption) ([]PutResult, error) {
	puts := make([]Put, len(all))
	for i, data := range all {
		puts[i] = Put{data, q.withKind(options)}
	}
	return q.client.PutMany(ctx, q.name, puts)
}

// Prepare puts a message that is delivered only after Client.Commit: see Client.Prepare.
func (q Queue[T]) Prepare(ctx context.Context, data T, check CheckBack, options ...PutOption) (*Receipt, error) {
	return q.client.Prepare(ctx, q.name, data, check, q.withKind(options)...)
}

// Keyed names the message that was put with a key.
func (q Queue[T]) Keyed(key string) Keyed { return Keyed{q.name, key} }

func (q Queue[T]) withKind(options []PutOption) []PutOption {
	if q.kind == "" {
		return options
	}
	return append(slices.Clip(options), Header("kind", q.kind))
}

// Data is the data of a leased or shown message as a T: data, err := duewheel.Data[Email](message).
func Data[T any](message interface{ Decode(target any) error }) (T, error) {
	var data T
	err := message.Decode(&data)
	return data, err
}
