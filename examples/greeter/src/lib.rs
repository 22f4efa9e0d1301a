//! The smallest useful capability: two actions, typed input and output, a refusal, an example.

use portolan_sdk::prelude::*;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Greet {
    /// A first name.
    #[schemars(length(min = 1, max = 60))]
    name: String,
}

#[derive(Serialize, JsonSchema)]
struct Greeting {
    text: String,
}

#[derive(Refusals)]
enum GreeterError {
    /// This greeter does not talk to robots.
    #[refusal(forbidden, next = Next::call("greeter").field("action", "people"))]
    RobotRefused,
}

struct Greeter;

/// Greets people by name.
#[capability(id = "greeter", title = "Greeter", tags = ["example"])]
impl Greeter {
    /// Greet one person.
    #[action(access = read, idempotent, example = Greet { name: "Ada".into() })]
    fn greet(_call: &Call, input: Greet) -> Result<Greeting, GreeterError> {
        if input.name == "HAL" {
            return Err(GreeterError::RobotRefused);
        }
        Ok(Greeting { text: format!("Hello, {}!", input.name) })
    }

    /// Say whom this greeter knows.
    #[action(access = read, idempotent)]
    fn people(_call: &Call) -> Result<Greeting, Infallible> {
        Ok(Greeting { text: "Everybody but HAL.".into() })
    }
}
