// Lets Node resolve the contract's interfaces. Their functions are those of `globalThis.portolanHost`.

import { register } from "node:module";

register("./hooks.mjs", import.meta.url);
