package duewheel

import (
	"encoding/json"
	"errors"
)

// Families of failures, for errors.Is. errors.As with *Error gives the code, the member at fault and what to do.
var (
	// ErrInvalid: the request is wrong and stays wrong. Correct the member that Field names.
	ErrInvalid = errors.New("invalid request")
	// ErrUnauthorized: the token is missing, invalid, or does not allow the call.
	ErrUnauthorized = errors.New("unauthorized")
	// ErrNotFound: there is no such message, queue, schedule or watchdog, or it ended longer ago than outcomes are kept.
	ErrNotFound = errors.New("not found")
	// ErrConflict: the call came too late or contradicts another one. Outcome says what became of the message.
	ErrConflict = errors.New("conflict")
	// ErrThrottled: a limit or a full queue, until the deadline of the call.
	ErrThrottled = errors.New("throttled")
	// ErrUnavailable: the server could not answer until the deadline of the call. Whether it carried the call out is not known if the
	// code is "deadline". The same put with the same key can be repeated.
	ErrUnavailable = errors.New("unavailable")
)

// Error is a call that had no success.
type Error struct {
	Family error // ErrInvalid ... ErrUnavailable
	// Code is stable, for programs: a code of the server, or bad_url, bad_data, deadline, bad_certificate, too_many_redirects, not_duewheel,
	// unsupported_server.
	Code    string
	Detail  string // for people: what is wrong, and what to do
	Field   string // the member of the request that is at fault, if there is one
	Outcome string // what became of the message, if the call came too late
	cause   error
}

func (e *Error) Error() string { return "duewheel: " + e.Code + ": " + e.Detail }

// Is makes errors.Is(err, ErrConflict) work.
func (e *Error) Is(target error) bool { return target == e.Family }

// Unwrap gives the error of the network or of the context that is behind this one, if there is one.
func (e *Error) Unwrap() error { return e.cause }

// CodeOf is the code of an error of a call, and "" for any other error.
func CodeOf(err error) string {
	var failure *Error
	if errors.As(err, &failure) {
		return failure.Code
	}
	return ""
}

func unavailable(code, detail string, cause error) *Error {
	return &Error{Family: ErrUnavailable, Code: code, Detail: detail, cause: cause}
}

func badData(detail string, cause error) *Error {
	return &Error{Family: ErrInvalid, Code: "bad_data", Detail: detail, Field: "data", cause: cause}
}

func familyOf(status int) error {
	switch status {
	case 400, 413, 414, 415:
		return ErrInvalid
	case 401, 403:
		return ErrUnauthorized
	case 404, 410:
		return ErrNotFound
	case 409:
		return ErrConflict
	case 429:
		return ErrThrottled
	}
	return ErrUnavailable
}

// problemOf is the refusal that a response, or an item of the response to a batch, describes; nil if it is none.
func problemOf(data []byte) *Error {
	var problem struct {
		Status  int    `json:"status"`
		Code    string `json:"code"`
		Detail  string `json:"detail"`
		Field   string `json:"field"`
		Outcome string `json:"outcome"`
	}
	if json.Unmarshal(data, &problem) != nil || problem.Code == "" {
		return nil
	}
	return &Error{Family: familyOf(problem.Status), Code: problem.Code, Detail: problem.Detail, Field: problem.Field, Outcome: problem.Outcome}
}
