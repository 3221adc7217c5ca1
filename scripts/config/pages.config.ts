import { fileURLToPath } from 'node:url'
import { defineConfig, type InlineConfig } from 'vite'

/** The node whose interfaces `npm run dev:pages` shows. */
const node = process.env['NODE_URL'] ?? 'http://127.0.0.1:20334'
const interfaces = ['/rpc', '/api', '/ws', '/metrics', '/openapi.json', '/healthz', '/readyz', '/1.0', '/light']

const oxc = { jsx: { runtime: 'automatic', importSource: 'preact' } } as const

/** Builds src/explorer into dist/pages: files with a hash in their names, below the folder that the page itself is in. */
export default defineConfig({
  root: fileURLToPath(new URL('../../src/explorer/', import.meta.url)),
  base: './',
  publicDir: 'public',
  logLevel: 'warn',
  oxc,
  build: {
    outDir: fileURLToPath(new URL('../../dist/pages/', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    // Data URLs would need an exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: Object.fromEntries(interfaces.map((path) => [path, { target: node, ws: path === '/ws' }])) },
})

/** Builds src/explorer/mirror, in one script and one style sheet, and writes nothing. */
export const mirrorPageConfig = {
  root: fileURLToPath(new URL('../../src/explorer/mirror/', import.meta.url)),
  base: './',
  publicDir: false,
  logLevel: 'warn',
  oxc,
  build: {
    write: false,
    target: 'es2022',
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: fileURLToPath(new URL('../../src/explorer/mirror/mirror.html', import.meta.url)),
      output: { codeSplitting: false },
    },
  },
} satisfies InlineConfig
