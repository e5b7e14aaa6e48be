// What the programs for Node share: the payloads, and the ledger that each is handled once.

const BATCH = 500
const PAD = 'x'.repeat(180) // about 200 bytes with the rest

export function * batches(count) {
  for (let first = 0; first < count; first += BATCH) {
    yield Array.from({ length: Math.min(BATCH, count - first) }, (_, i) => ({ n: first + i, pad: PAD }))
  }
}

export class Ledger {
  constructor(count) {
    this.count = count
    this.seen = new Set()
    this.repeats = 0
    this.done = new Promise((resolve) => { this.finish = resolve })
    setTimeout(() => {
      console.error(`${this.count - this.seen.size} of ${this.count} jobs were not handled within 120 s`)
      process.exit(1)
    }, 120_000).unref()
  }

  handled(n) {
    if (this.seen.has(n)) this.repeats++
    this.seen.add(n)
    if (this.seen.size === this.count) this.finish()
  }

  report(putMs, allMs) {
    console.log(JSON.stringify({ put_s: putMs / 1000, all_s: allMs / 1000, repeats: this.repeats }))
  }
}
