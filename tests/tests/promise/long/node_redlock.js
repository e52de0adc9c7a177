// node-redlock, told what to do line by line, each line answered with one line.
"use strict";

const { createRequire } = require("node:module");
const { createInterface } = require("node:readline");

const [folder, ...ports] = process.argv.slice(2);
const load = createRequire(`${folder}/`);
const Redis = load("ioredis");
const { default: Redlock } = load("redlock");
const nodes = ports.map((port) => new Redis({ host: "127.0.0.1", port: Number(port) }));
// By its own retries it keeps the nodes that it has while it asks the others again.
const once = new Redlock(nodes, { retryCount: 0, automaticExtensionThreshold: 0 });
// It reports each node that refuses.
once.on("error", () => {});
let lock;

async function answer([command, ...words]) {
  switch (command) {
    case "acquire": // NAME SECONDS
      lock = await once.acquire([words[0]], Number(words[1]) * 1000).catch(() => undefined);
      return lock ? "held" : "busy";
    case "release":
      await lock.release();
      return "released";
    case "count": // NAME ROUNDS COUNTER
      for (let round = 0; round < Number(words[1]); round++) {
        let held;
        while (!(held = await once.acquire([words[0]], 30_000).catch(() => undefined))) {
          await new Promise((resolve) => setTimeout(resolve, 2 + 5 * Math.random()));
        }
        await nodes[0].set(words[2], Number(await nodes[0].get(words[2])) + 1);
        await held.release();
      }
      return "counted";
    default:
      throw new Error(`no such command: ${command}`);
  }
}

(async () => {
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(await answer(line.split(" ")));
  }
  process.exit();
})();
