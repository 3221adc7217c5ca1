import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => join('src', file))
const sources = files.map((file) => ({ file, text: readFileSync(file, 'utf8') }))
const comment = /\/\*\*?[\s\S]*?\*\/|(?<!:)\/\/.*/g
const names = new Set(sources.flatMap(({ text }) => text.replace(comment, '').match(/\w+/g) ?? []))
const baseNames = new Set(files.map((file) => basename(file).replace(/\.tsx?$/, '')))
/** Names of other programs and protocols, and X for any name. */
const foreign = /^(LevelDB|PostgreSQL|OpenSSL|WebCrypto|WebSockets?|TypeBox|X-.*|.*X)$/

/** The drawing at the top of a file: its first comment, where it comes before all code. */
const headOf = (text: string): string => /^(?:#!.*\n)?\/\*\*[\s\S]*?\*\//.exec(text)?.[0] ?? ''

it.each(sources.filter(({ text }) => headOf(text) !== ''))('the head of $file names what exists', ({ text }) => {
  const head = headOf(text)
  const missing = [
    ...[...head.matchAll(/\b([\w-]+)\.tsx?\b/g)]
      .map(([, name = '']) => name)
      .filter((name) => !baseNames.has(name) && !foreign.test(name)),
    ...(head.match(/\b(?:[a-z]+|[A-Z][a-z]+)[A-Z]\w*\b/g) ?? []).filter(
      (name) => !names.has(name) && !names.has(name.replace(/s$/, '')) && !foreign.test(name),
    ),
  ]
  expect(missing).toEqual([])
})
