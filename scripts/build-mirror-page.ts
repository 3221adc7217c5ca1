import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { mirrorPageConfig } from './config/pages.config.js'

/** The page beside the files of a mirror, and the modules that are in it, as absolute paths. */
export interface MirrorPage {
  readonly html: string
  readonly modules: readonly string[]
}

/** Builds src/explorer/mirror into one text, with scripts and styles in it. */
export async function mirrorPage(): Promise<MirrorPage> {
  const built = await build({ ...mirrorPageConfig, configFile: false })
  if (!('output' in built)) throw new Error('Vite watches instead of building')
  const chunks = built.output.flatMap((file) => (file.type === 'chunk' ? [file] : []))
  const assets = built.output.flatMap((file) => (file.type === 'asset' ? [file] : []))
  const [script] = chunks
  const textOf = (ending: string) =>
    assets.filter(({ fileName }) => fileName.endsWith(ending)).map(({ source }) => String(source))
  const [page] = textOf('.html')
  if (script === undefined || chunks.length !== 1 || page === undefined) throw new Error('the page is not in one part')
  return { html: inlined(page, script.code, textOf('.css').join('\n')), modules: Object.keys(script.modules) }
}

/** Writes dist/mirror.html; returns the modules that are in it. */
export async function buildMirrorPage(): Promise<readonly string[]> {
  const { html, modules } = await mirrorPage()
  const file = fileURLToPath(new URL('../dist/mirror.html', import.meta.url))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, html)
  return modules
}

/** Puts the script and the styles in the place of the elements that name them, below a policy that allows nothing else. */
function inlined(page: string, code: string, css: string): string {
  const script = code
    .trim()
    .replaceAll('</script', String.raw`<\/script`)
    .replaceAll('<!--', String.raw`<\!--`)
  const style = css.trim()
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}" />`
  return page
    .replace(/\s*<script\b[^>]*><\/script>/g, '')
    .replace(/\s*<link rel="(?:stylesheet|modulepreload)"[^>]*>/g, '')
    .replace('<meta charset="utf-8" />', (found) => `${found}\n    ${meta}`)
    .replace('</head>', () => `<style>${style}</style>\n  </head>`)
    .replace('</body>', () => `<script type="module">${script}</script>\n  </body>`)
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
