package authbroker

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Every member of the schema's Session and User has a field.
func TestSessionsAreWhole(t *testing.T) {
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]json.RawMessage
			}
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "Schemas", "openrpc.json"))
	if err != nil || json.Unmarshal(text, &document) != nil {
		t.Fatal("the schema cannot be read", err)
	}
	for name, kind := range map[string]reflect.Type{"Session": reflect.TypeOf(Session{}), "User": reflect.TypeOf(User{})} {
		fields := map[string]bool{}
		for index := 0; index < kind.NumField(); index++ {
			member, _, _ := strings.Cut(kind.Field(index).Tag.Get("json"), ",")
			fields[member] = true
		}
		members := document.Components.Schemas[name].Properties
		if len(members) < 7 {
			t.Errorf("the schema has no %s", name)
		}
		for member := range members {
			if !fields[member] {
				t.Errorf("%s has no field for %s", name, member)
			}
		}
	}
}
