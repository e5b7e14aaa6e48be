package duewheel

import (
	"encoding/json"
	"fmt"
)

// version is the first two numbers of one.
type version [2]int

// The versions of servers that this client understands: from the first on, and before the second.
var oldest, before = version{0, 1}, version{0, 2}

func (v version) isBefore(other version) bool {
	return v[0] < other[0] || (v[0] == other[0] && v[1] < other[1])
}

func (v version) String() string { return fmt.Sprintf("%d.%d", v[0], v[1]) }

// checkVersion fails if the page /readyz names a version that is none of these. A page without a version is no obstacle: proxies may keep it
// away.
func checkVersion(page []byte, from string) error {
	var readiness struct {
		Version string `json:"version"`
	}
	var found version
	if json.Unmarshal(page, &readiness) != nil {
		return nil
	}
	if _, err := fmt.Sscanf(readiness.Version, "%d.%d", &found[0], &found[1]); err != nil || (!found.isBefore(oldest) && found.isBefore(before)) {
		return nil
	}
	return unavailable("unsupported_server", fmt.Sprintf("%s is a Duewheel server of version %s, and this client is for those from %v and before %v: "+
		"install the client of the server's version", from, readiness.Version, oldest, before), nil)
}
