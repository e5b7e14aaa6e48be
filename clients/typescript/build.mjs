// Compiles src/ with the TypeScript compiler that `./dev packages` fetches: build.mjs DIR into this directory, and for CommonJS into its
// directory cjs; without one, into a directory of build/ whose name is made from the sources, if it is not there yet, and prints that
// directory. So any number of tests can begin with it at the same time. Exits with 77 if there is no compiler.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const COMMON_JS = '{"type": "commonjs"}'
const builds = join(here, '../../build/typescript')
/** The program of the compiler; undefined if there is none. */
export const compiler = [join(here, 'node_modules'), join(here, '../../build/web/node_modules')].map((folder) => join(folder, 'typescript/bin/tsc')).find(existsSync)

/** Compiles `project` into `out`, which is emptied before. */
function compile(project, out, ...flags) {
  if (!compiler) {
    console.error('there is no TypeScript compiler: run `npm install --no-package-lock` in clients/typescript, or ./dev packages')
    process.exit(77)
  }
  rmSync(out, { recursive: true, force: true })
  const run = spawnSync(process.execPath, [compiler, '--project', project, '--outDir', out, ...flags], { stdio: ['ignore', 2, 2] })
  if (run.status !== 0) process.exit(1)
}

/** Compiles a copy of the sources whose package is one of CommonJS. */
function compileForCommonJs(out) {
  const copy = mkdtempSync(join(tmpdir(), 'duewheel-cjs-'))
  try {
    for (const name of ['src', 'tsconfig.json']) cpSync(join(here, name), join(copy, name), { recursive: true })
    writeFileSync(join(copy, 'package.json'), COMMON_JS)
    writeFileSync(join(copy, 'src/location.ts'), "import { pathToFileURL } from 'node:url'\n\nexport const moduleUrl: string = pathToFileURL(__filename).href\n")
    compile(copy, out)
    writeFileSync(join(out, 'package.json'), COMMON_JS)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** The directory with the compiled sources. */
export function compiled() {
  const digest = createHash('sha256').update(readFileSync(join(here, 'tsconfig.json')))
  for (const name of readdirSync(join(here, 'src')).sort()) digest.update(name).update(readFileSync(join(here, 'src', name)))
  const out = join(builds, digest.digest('hex').slice(0, 16))
  if (existsSync(out)) return out
  mkdirSync(builds, { recursive: true })
  const part = mkdtempSync(join(builds, 'part-'))
  compile(here, part, '--noCheck')
  writeFileSync(join(part, 'package.json'), '{"type": "module"}')
  try {
    renameSync(part, out)
  } catch {
    rmSync(part, { recursive: true, force: true }) // another process was faster
  }
  return out
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , out] = process.argv
  if (out) {
    compile(here, out)
    compileForCommonJs(join(out, 'cjs'))
  } else {
    console.log(compiled())
  }
}
