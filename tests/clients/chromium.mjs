// Starts a browser that sends no requests of its own, such as for updates.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";

export async function launched(further = []) {
  const searched = process.env.PATH.split(delimiter).map((folder) => join(folder, "chromium"));
  const executablePath = searched.find(existsSync);
  assert(executablePath, "chromium is not in the PATH: run `cargo xtask clients`");
  return chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...further,
    ],
  });
}
