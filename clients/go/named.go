package duewheel

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Document is a schedule, a watchdog, or the answer to a call on one, as the server shows it.
type Document map[string]json.RawMessage

// GetQueue shows the state of a queue and its settings.
func (c *Client) GetQueue(ctx context.Context, queue string) (*QueueState, error) {
	return fetched[QueueState](ctx, c, http.MethodGet, "/queues/"+segment(queue), nil)
}

// SetQueue creates a queue, or replaces all its settings.
func (c *Client) SetQueue(ctx context.Context, queue string, settings QueueSettings) (*QueueState, error) {
	return fetched[QueueState](ctx, c, http.MethodPut, "/queues/"+segment(queue), settings)
}

// ChangeQueue changes some settings of a queue.
func (c *Client) ChangeQueue(ctx context.Context, queue string, changes Changes) (*QueueState, error) {
	return fetched[QueueState](ctx, c, http.MethodPatch, "/queues/"+segment(queue), changes)
}

// PauseQueue makes its messages wait.
func (c *Client) PauseQueue(ctx context.Context, queue string) (*QueueState, error) {
	return fetched[QueueState](ctx, c, http.MethodPost, "/queues/"+segment(queue)+":pause", nil)
}

// ResumeQueue ends a pause.
func (c *Client) ResumeQueue(ctx context.Context, queue string) (*QueueState, error) {
	return fetched[QueueState](ctx, c, http.MethodPost, "/queues/"+segment(queue)+":resume", nil)
}

// BackOffGroup delivers nothing of a group of the queue for a time, such as after a 429 of a customer's API. Zero ends it.
func (c *Client) BackOffGroup(ctx context.Context, queue, group string, backoff time.Duration) (Document, error) {
	return c.document(ctx, http.MethodPost, "/queues/"+segment(queue)+"/groups/"+segment(group)+":backoff", Changes{"for": backoff})
}

// SetSchedule creates or replaces a schedule, whose messages have the data and go to settings.Queue. The same call again changes nothing,
// so a program may make it at each start. One of Cron, Every, ISO and At sets the times.
func (c *Client) SetSchedule(ctx context.Context, name string, data any, settings ScheduleSettings) (Document, error) {
	return c.setNamed(ctx, "/schedules/"+segment(name), data, settings)
}

// GetSchedule shows a schedule.
func (c *Client) GetSchedule(ctx context.Context, name string) (Document, error) {
	return c.document(ctx, http.MethodGet, "/schedules/"+segment(name), nil)
}

// DeleteSchedule ends a schedule. Messages that it has created stay.
func (c *Client) DeleteSchedule(ctx context.Context, name string) error {
	return c.Call(ctx, http.MethodDelete, "/schedules/"+segment(name), nil, nil)
}

// SetWatchdog creates or replaces a watchdog: it puts a message with the data into settings.Queue unless it is fed within settings.Timeout.
func (c *Client) SetWatchdog(ctx context.Context, name string, data any, settings WatchdogSettings) (Document, error) {
	return c.setNamed(ctx, "/watchdogs/"+segment(name), data, settings)
}

// FeedWatchdog starts the time of a watchdog again.
func (c *Client) FeedWatchdog(ctx context.Context, name string) (Document, error) {
	return c.document(ctx, http.MethodPost, "/watchdogs/"+segment(name)+":feed", nil)
}

// DeleteWatchdog ends a watchdog.
func (c *Client) DeleteWatchdog(ctx context.Context, name string) error {
	return c.Call(ctx, http.MethodDelete, "/watchdogs/"+segment(name), nil, nil)
}

func (c *Client) setNamed(ctx context.Context, path string, data, settings any) (Document, error) {
	members := membersOf(settings)
	if err := setContent(members, data); err != nil {
		return nil, err
	}
	return c.document(ctx, http.MethodPut, path, members)
}

func (c *Client) document(ctx context.Context, method, path string, value any) (Document, error) {
	var document Document
	err := c.Call(ctx, method, path, value, &document)
	return document, err
}
