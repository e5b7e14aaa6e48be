// The build writes web/dist, which is committed and embedded into the daemon: names depend only on contents, and nothing in
// the output depends on the time or the folder of the build. `npm run dev` serves the sources and forwards the API to the
// daemon at DUEWHEEL (http://127.0.0.1:7420 by default).
import { defineConfig } from 'vite'

const daemon = process.env.DUEWHEEL ?? 'http://127.0.0.1:7420'
// The daemon refuses changes from pages of another origin, so forwarded requests carry its own.
const forward = { target: daemon, changeOrigin: true, headers: { origin: daemon } }

export default defineConfig({
  server: {
    host: '127.0.0.1',
    proxy: { '/v1': forward, '/readyz': forward, '/healthz': forward, '/metrics': forward, '/docs': forward },
  },
  build: {
    target: ['chrome123', 'firefox121', 'safari17.5'],
    sourcemap: false,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
  },
})
