// The globals that authors expect and that QuickJS lacks, or whose state would be that of the
// build.

import "./time.js";
import "./random.js";
import "./text.js";
import "./url.js";
import "./clone.js";
import "./console.js";
