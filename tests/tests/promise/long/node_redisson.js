// node-redisson's own lock, told what to do line by line, each line answered with one line.
"use strict";

const { createRequire } = require("node:module");
const { createInterface } = require("node:readline");

const [folder, port] = process.argv.slice(2);
const { Redisson } = createRequire(`${folder}/`)("node-redisson");
const redisson = new Redisson({ redis: { options: { host: "127.0.0.1", port: Number(port) } } });
let lock;

async function answer([command, ...words]) {
  switch (command) {
    case "acquire": // NAME WAIT LEASE, in ms
      lock = redisson.getLock(words[0]);
      return (await lock.tryLock(Number(words[1]), Number(words[2]))) ? "held" : "busy";
    case "lock": // NAME LEASE, in ms
      lock = redisson.getLock(words[0]);
      await lock.lock(Number(words[1]));
      return "held";
    case "release":
      return lock.unlock().then(() => "released", () => "not ours");
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
