// Prints what the npm package croner answers to the questions on standard input (see calendar_answers.cc for the lines).
//
//     node croner_answers.mjs firings < questions      number, then the firings
//     node croner_answers.mjs offsets < instants       lines "zone<TAB>second second ..."; the offsets of its zone data
//     node croner_answers.mjs version                  of the zone data
import { readFileSync } from "node:fs";
import { Cron } from "croner";

const lines = () => readFileSync(0, "utf8").split("\n").filter((line) => line !== "");
const written = [];

function firings(line) {
  const [number, rule, zone, , , from, to, most] = line.split("\t");
  const job = new Cron(rule, { timezone: zone, paused: true, sloppyRanges: true });
  const found = [];
  let after = new Date(Number(from) * 1000);
  while (found.length < Number(most)) {
    const due = job.nextRun(after);
    if (due === null || due.getTime() > Number(to) * 1000) break;
    found.push(due.getTime() / 1000);
    after = due;
  }
  written.push(`${number}\t${found.join(" ")}`);
}

const formats = new Map();

function format(zone) {
  if (!formats.has(zone)) {
    formats.set(zone, new Intl.DateTimeFormat("en-US", {
      timeZone: zone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit",
      hour: "2-digit", minute: "2-digit", second: "2-digit",
    }));
  }
  return formats.get(zone);
}

function offset(zone, second) {
  const parts = {};
  for (const { type, value } of format(zone).formatToParts(second * 1000)) parts[type] = Number(value);
  const shown = Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second);
  return shown / 1000 - second;
}

function offsets(line) {
  const [zone, seconds] = line.split("\t");
  try {
    written.push(`${zone}\t${seconds.split(" ").map((second) => offset(zone, Number(second))).join(" ")}`);
  } catch (refusal) {
    if (!(refusal instanceof RangeError)) throw refusal;
    written.push(`${zone}\tunknown`);
  }
}

switch (process.argv[2]) {
  case "firings": lines().forEach(firings); break;
  case "offsets": lines().forEach(offsets); break;
  case "version": written.push(process.versions.tz); break;
  default: throw new Error("usage: croner_answers.mjs firings|offsets|version");
}
if (written.length > 0) process.stdout.write(written.join("\n") + "\n");
