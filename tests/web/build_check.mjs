// web/dist is small, and is what a build of web/ produces, byte for byte. With a folder for the build, build_check.mjs DIR, the
// build is made there, and the tests beside the sources run; without, only the size is checked.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const COMPRESSED_MAX = 250 * 1024
const root = fileURLToPath(new URL('../../', import.meta.url))
const web = join(root, 'web')
const place = process.argv[2]

function files(folder, root = folder) {
  return readdirSync(folder).sort().flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? files(path, root) : [relative(root, path)]
  })
}

function fail(text) {
  console.error(text)
  process.exit(1)
}

const dist = join(web, 'dist')
const compressed = files(dist).reduce((sum, name) => sum + gzipSync(readFileSync(join(dist, name)), { level: 9 }).length, 0)
console.log(`web/dist: ${compressed} bytes compressed, of ${COMPRESSED_MAX}`)
if (compressed > COMPRESSED_MAX) fail('web/dist is too large: remove code, or load it where it is used')
if (!place) process.exit(0)

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.log(`skipped: Vite needs Node 20.19, this is ${process.versions.node}`)
  process.exit(77)
}
rmSync(place, { recursive: true, force: true })
mkdirSync(place, { recursive: true })
for (const folder of ['web', 'clients/typescript/src']) {
  cpSync(join(root, folder), join(place, folder), { recursive: true, filter: (path) => !/[/\\](node_modules|dist)$/.test(path) })
}
const copy = join(place, 'web')
const npm = (...words) => execFileSync('npm', words, { cwd: copy, stdio: 'inherit' })
npm('ci', '--no-audit', '--no-fund', '--cache', join(place, 'cache'))
npm('run', 'build')
execFileSync(process.execPath, [fileURLToPath(new URL('unit.mjs', import.meta.url)), copy], { stdio: 'inherit' })
const built = join(copy, 'dist')
const [was, is] = [files(dist), files(built)]
if (was.join() !== is.join()) fail(`web/dist has ${was.join(', ')}, and a build makes ${is.join(', ')}: run npm run build in web/, and commit web/dist`)
for (const name of is) {
  if (!readFileSync(join(dist, name)).equals(readFileSync(join(built, name)))) fail(`web/dist/${name} differs from a build: run npm run build in web/, and commit web/dist`)
}
rmSync(place, { recursive: true, force: true })
console.log('web/dist is what a build makes')
