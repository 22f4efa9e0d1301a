// What authors expect of a JavaScript engine and QuickJS does not have, or has from its build.

import "./time.js";
import "./random.js";
import "./text.js";
import "./url.js";
import "./clone.js";
import "./console.js";
