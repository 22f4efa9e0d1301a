// Greeter is a capability in Go, on the contract itself: no SDK and no generated bindings.
//
// abi.go has the layout of the contract's types in memory.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

const object = `{"type":"object","properties":{"name":{"type":"string","description":"A first name."}},"required":["name"]}`
const greeting = `{"type":"object","properties":{"text":{"type":"string"},"at":{"type":"integer"}},"required":["text","at"]}`

//go:wasmexport describe
func describe() uint32 {
	greet := action{
		name: textOf("greet"), title: textOf("Greet one person"),
		description: textOf("Greets one person by name."),
		access:      accessRead, input: textOf(object), output: textOf(greeting), idempotent: true,
		errors:   listOf(textOf("robot_refused")),
		examples: listOf(textOf(`{"name":"Ada"}`)),
	}
	refused := errorCode{code: textOf("robot_refused"), kind: kindForbidden, description: textOf("This greeter does not talk to robots.")}
	return addressOf(&descriptor{
		id: textOf("go_greeter"), version: textOf("1.0.0"), title: textOf("Go greeter"),
		summary: textOf("Greets people by name."), description: textOf("Greets people by name."),
		status: statusStable, actions: listOf(greet), errors: listOf(refused),
	})
}

//go:wasmexport call
func call(address uint32) uint32 {
	arguments := argumentsAt(address)
	var input struct{ Name string }
	if err := json.Unmarshal([]byte(arguments.input.String()), &input); err != nil {
		panic(err)
	}
	fmt.Println("greeting somebody")
	fmt.Fprintln(os.Stderr, "in Go")
	if input.Name == "HAL" {
		return addressOf(&refusal{
			discriminant: 1, code: textOf("robot_refused"), message: textOf("This greeter does not talk to robots."),
		})
	}
	if input.Name == "panic" {
		panic("the greeter panics")
	}
	output, _ := json.Marshal(map[string]any{"text": "Hello, " + input.Name + "!", "at": now()})
	return addressOf(&success{output: textOf(string(output))})
}

func main() {}
