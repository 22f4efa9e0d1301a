// A capability in C, on the contract itself: no SDK, no generated bindings, no libc.
//
// abi.h has the layout of the contract's types in memory.

#include "abi.h"

static const char OBJECT[] =
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"description\":\"A first "
    "name.\"}},\"required\":[\"name\"]}";
static const char GREETING[] =
    "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"},\"at\":{\"type\":"
    "\"integer\"}},\"required\":[\"text\",\"at\"]}";
static const char REFUSED[] = "This greeter does not talk to robots.";

__attribute__((export_name("describe"))) descriptor *describe(void) {
    static text codes[1], examples[1];
    static error_code errors[1];
    static action actions[1];
    static descriptor described;
    codes[0] = TEXT("robot_refused");
    examples[0] = TEXT("{\"name\":\"Ada\"}");
    errors[0] = (error_code){.code = codes[0], .kind = FORBIDDEN, .description = TEXT(REFUSED)};
    actions[0] = (action){
        .name = TEXT("greet"),
        .title = TEXT("Greet one person"),
        .description = TEXT("Greets one person by name."),
        .access = READ,
        .input = TEXT(OBJECT),
        .output = TEXT(GREETING),
        .idempotent = true,
        .errors = LIST(codes),
        .examples = LIST(examples),
    };
    described = (descriptor){
        .id = TEXT("c_greeter"),
        .version = TEXT("1.0.0"),
        .title = TEXT("C greeter"),
        .summary = TEXT("Greets people by name."),
        .description = TEXT("Greets people by name."),
        .status = STABLE,
        .actions = LIST(actions),
        .errors = LIST(errors),
    };
    return &described;
}

// Returns the value of a field with a text. The host has checked that it is there; a name with an escape is
// returned as it is written.
static text field(text json, text name) {
    for (size_t at = 0; at + name.length + 2 < json.length; at++) {
        const char *key = json.start + at;
        if (key[0] != '"' || key[name.length + 1] != '"' ||
            !is_equal((text){key + 1, name.length}, name))
            continue;
        const char *from = key + name.length + 2;
        while (*from++ != '"') {
        }
        const char *to = from;
        while (*to != '"') to += *to == '\\' ? 2 : 1;
        return (text){from, to - from};
    }
    __builtin_trap();
}

__attribute__((export_name("call"))) answer *call(arguments *called) {
    static answer answered;
    text name = field(called->input, TEXT("name"));
    write_log(INFO, TEXT("greeting somebody"));
    if (is_equal(name, TEXT("HAL"))) {
        answered = (answer){.is_refusal = true};
        answered.refusal.code = TEXT("robot_refused");
        answered.refusal.message = TEXT(REFUSED);
        return &answered;
    }
    if (is_equal(name, TEXT("panic"))) __builtin_trap();
    answered = (answer){.is_refusal = false};
    answered.success.output = joined((text[]){
        TEXT("{\"text\":\"Hello, "), name, TEXT("!\",\"at\":"), digits(now()), TEXT("}")}, 5);
    return &answered;
}
