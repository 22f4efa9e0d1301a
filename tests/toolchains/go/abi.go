package main

import "unsafe"

// An address is 32 bits wide in the contract and 64 bits in Go.
type text struct{ address, length uint32 }
type list struct{ address, length uint32 }
type optionalText struct {
	present uint32
	text    text
}

const (
	accessRead    = 0
	statusStable  = 1
	kindForbidden = 3
)

type descriptor struct {
	id, version, title, summary, description            text
	tags                                                list
	status                                              uint8
	sunsetAt                                            struct{ present, at uint64 }
	successor                                           optionalText
	actions                                             list
	defaultAction                                       optionalText
	errors, collections, invokes, publishes, subscribes list
	stateMachines, roles, prompts, annotations          list
}

type action struct {
	name, title, description text
	access                   uint8
	input, output            text
	idempotent, destructive  bool
	costCredits              uint32
	errors, emits, callers   list
	examples                 list
	deprecated               optionalText
	annotations              list
}

type errorCode struct {
	code        text
	kind        uint8
	retryable   bool
	description text
}

type callArguments struct {
	caller [56]byte
	action text
	input  text
}

type success struct {
	discriminant uint32
	output       text
	next         optionalText
}

type refusal struct {
	discriminant   uint32
	code, message  text
	conflict, next optionalText
	keepWrites     bool
}

// What the host reads or writes stays referenced, so that the garbage collector keeps it: an instance
// serves one call.
var kept []any

func (t text) String() string {
	return unsafe.String((*byte)(unsafe.Pointer(uintptr(t.address))), t.length)
}

func textOf(s string) text {
	kept = append(kept, s)
	return text{uint32(uintptr(unsafe.Pointer(unsafe.StringData(s)))), uint32(len(s))}
}

func listOf[T any](items ...T) list {
	kept = append(kept, items)
	return list{uint32(uintptr(unsafe.Pointer(unsafe.SliceData(items)))), uint32(len(items))}
}

func argumentsAt(address uint32) *callArguments {
	return (*callArguments)(unsafe.Pointer(uintptr(address)))
}

func addressOf[T any](value *T) uint32 {
	kept = append(kept, value)
	return uint32(uintptr(unsafe.Pointer(value)))
}

//go:wasmimport portolan:capability/context@2.0.0 now
func now() uint64

//go:wasmexport cabi_realloc
func realloc(old, oldSize, align, size uint32) uint32 {
	memory := make([]uint64, (size+7)/8)
	if oldSize > 0 {
		from := unsafe.Slice((*byte)(unsafe.Pointer(uintptr(old))), oldSize)
		copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(memory))), size), from)
	}
	return uint32(listOf(memory...).address)
}
