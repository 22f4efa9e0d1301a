// The layout of the contract's types in memory, as the canonical ABI of components has it, and what the greeter
// uses of the contract's imports.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct { const char *start; size_t length; } text;
typedef struct { const void *start; size_t length; } list;
typedef struct { bool present; text value; } optional_text;

#define TEXT(literal) ((text){literal, sizeof(literal) - 1})
#define LIST(array) ((list){array, sizeof(array) / sizeof(*array)})

enum { READ = 0, STABLE = 1, FORBIDDEN = 3, INFO = 2 };

typedef struct {
    text id, version, title, summary, description;
    list tags;
    uint8_t status;
    struct { bool present; uint64_t value; } sunset_at;
    optional_text successor;
    list actions;
    optional_text default_action;
    list errors, collections, invokes, publishes, subscriptions, state_machines, roles, prompts, annotations;
} descriptor;

typedef struct {
    text name, title, description;
    uint8_t access;
    text input, output;
    bool idempotent, destructive;
    uint32_t cost_credits;
    list errors, emits, callers, examples;
    optional_text deprecated;
    list annotations;
} action;

typedef struct {
    text code;
    uint8_t kind;
    bool retryable;
    text description;
} error_code;

typedef struct {
    text agent_id;
    optional_text owner_id, agent_name;
    list scopes, via;
    bool test_mode;
} agent;

typedef struct {
    struct { uint8_t is_system; agent agent; } caller;
    text action, input;
} arguments;

typedef struct {
    uint8_t is_refusal;
    union {
        struct { text output; optional_text next; } success;
        struct { text code, message; optional_text conflict, next; bool keep_writes; } refusal;
    };
} answer;

_Static_assert(sizeof(descriptor) == 176 && sizeof(action) == 104, "the descriptor's layout");
_Static_assert(sizeof(arguments) == 72 && sizeof(answer) == 48, "the layout of calls");

__attribute__((import_module("portolan:capability/context@2.0.0"), import_name("now"))) uint64_t now(void);
__attribute__((import_module("portolan:capability/context@2.0.0"), import_name("log"))) void log_text(
    uint32_t level, const char *start, size_t length);

static inline void write_log(uint32_t level, text message) { log_text(level, message.start, message.length); }

// An instance serves one call, so nothing is freed.
static char memory[1 << 16];
static size_t used;

__attribute__((export_name("cabi_realloc"))) void *allocate(void *old, size_t old_size, size_t align, size_t size) {
    used = (used + align - 1) & ~(align - 1);
    if (size > sizeof(memory) - used) __builtin_trap();
    char *new = memory + used;
    used += size;
    for (size_t at = 0; at < old_size && at < size; at++) new[at] = ((char *)old)[at];
    return new;
}

static inline bool is_equal(text one, text other) {
    if (one.length != other.length) return false;
    for (size_t at = 0; at < one.length; at++)
        if (one.start[at] != other.start[at]) return false;
    return true;
}

static inline text joined(const text *parts, size_t count) {
    size_t length = 0, at = 0;
    for (size_t part = 0; part < count; part++) length += parts[part].length;
    char *start = allocate(NULL, 0, 1, length);
    for (size_t part = 0; part < count; part++)
        for (size_t index = 0; index < parts[part].length; index++) start[at++] = parts[part].start[index];
    return (text){start, length};
}

static inline text digits(uint64_t number) {
    char *end = (char *)allocate(NULL, 0, 1, 20) + 20, *start = end;
    do *--start = '0' + number % 10;
    while (number /= 10);
    return (text){start, end - start};
}
