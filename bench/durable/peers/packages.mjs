// The client libraries of the peers, which `./dev bench` puts into build/peers/node.
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

export const load = createRequire(fileURLToPath(new URL('../../../build/peers/node/', import.meta.url)))
