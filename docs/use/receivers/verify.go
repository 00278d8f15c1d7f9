// Package receivers verifies events of the gateway with Go's standard library.
package receivers

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const tolerance = 5 * time.Minute

// Event is what the gateway sends.
type Event struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Created int64  `json:"created"`
	Data    struct {
		TaskID string            `json:"task_id"`
		Status string            `json:"status"`
		Output []json.RawMessage `json:"output"`
	} `json:"data"`
}

// VerifyEvent returns the event, or an error. body is the request's body as it came (io.ReadAll(r.Body)).
func VerifyEvent(body []byte, header http.Header, secret string, now time.Time) (*Event, error) {
	id := header.Get("webhook-id")
	timestamp := header.Get("webhook-timestamp")
	signatures := header.Get("webhook-signature")
	if id == "" || timestamp == "" || signatures == "" {
		return nil, errors.New("a header is missing")
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return nil, errors.New("the timestamp is not a number")
	}
	if now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return nil, errors.New("the timestamp is too far from now")
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return nil, errors.New("the secret is not base64")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := mac.Sum(nil)
	// Several while a secret is rotated: one that matches is enough.
	for _, one := range strings.Split(signatures, " ") {
		version, signature, _ := strings.Cut(one, ",")
		given, err := base64.StdEncoding.DecodeString(signature)
		if err == nil && version == "v1" && hmac.Equal(given, expected) {
			var event Event
			if err := json.Unmarshal(body, &event); err != nil {
				return nil, err
			}
			return &event, nil
		}
	}
	return nil, errors.New("no signature matches")
}
