// Compiles src/ with the TypeScript compiler that `./dev packages` fetches: build.mjs DIR into this directory; without one, into a
// directory of build/ whose name is made from the sources, if it is not there yet, and prints that directory. So any number of tests
// can begin with it at the same time. Exits with 77 if there is no compiler.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const builds = join(here, '../../build/typescript')
/** The program of the compiler; undefined if there is none. */
export const compiler = [join(here, 'node_modules'), join(here, '../../build/web/node_modules')].map((folder) => join(folder, 'typescript/bin/tsc')).find(existsSync)

/** Compiles into `out`, which is emptied before. */
function compile(out, ...flags) {
  if (!compiler) {
    console.error('there is no TypeScript compiler: run ./dev packages')
    process.exit(77)
  }
  rmSync(out, { recursive: true, force: true })
  const run = spawnSync(process.execPath, [compiler, '--project', here, '--outDir', out, ...flags], { stdio: ['ignore', 2, 2] })
  if (run.status !== 0) process.exit(1)
}

/** The directory with the compiled sources. */
export function compiled() {
  const digest = createHash('sha256').update(readFileSync(join(here, 'tsconfig.json')))
  for (const name of readdirSync(join(here, 'src')).sort()) digest.update(name).update(readFileSync(join(here, 'src', name)))
  const out = join(builds, digest.digest('hex').slice(0, 16))
  if (existsSync(out)) return out
  mkdirSync(builds, { recursive: true })
  const part = mkdtempSync(join(builds, 'part-'))
  compile(part, '--noCheck')
  writeFileSync(join(part, 'package.json'), '{"type": "module"}')
  try {
    renameSync(part, out)
  } catch {
    rmSync(part, { recursive: true, force: true }) // another process was faster
  }
  return out
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2]) compile(process.argv[2])
  else console.log(compiled())
}
