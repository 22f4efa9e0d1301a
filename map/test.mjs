// Runs what is tested without a browser: `npm test`.

import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const names = await readdir(join(here, "test"));
const tests = names.filter((name) => name.endsWith(".test.ts")).map((name) => join("test", name));
const outdir = await mkdtemp(join(tmpdir(), "portolan-map-"));
await build({
  absWorkingDir: here,
  entryPoints: tests,
  bundle: true,
  platform: "node",
  format: "esm",
  outExtension: { ".js": ".mjs" },
  outdir,
});
const made = (await readdir(outdir)).map((name) => join(outdir, name));
const { status } = spawnSync(process.execPath, ["--test", ...made], { stdio: "inherit" });
await rm(outdir, { recursive: true });
process.exitCode = status ?? 1;
