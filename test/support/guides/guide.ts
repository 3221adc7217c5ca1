import { readFileSync } from 'node:fs'
import { section, tableRows } from '../assert/markdown.js'

/**
 * A guide as data. A fenced block with `file=` is code of that file: `after="text"` and `before="text"` name the line that it stands
 * beside, `end` is the end of the file, and with none of them the file is new. Lines `import …` at its beginning go to the imports.
 */

export interface CodeBlock {
  /** Name in the table of forgotten steps. */
  readonly name: string
  readonly file: string
  readonly place: Place
  readonly text: string
}

type Place = { readonly beside: 'after' | 'before'; readonly anchor: string } | 'end' | 'new'

/** A row of the table: which blocks are left out or written otherwise, and what is then said. */
export interface Forgotten {
  readonly guide: string
  readonly cell: string
  readonly foundBy: readonly string[]
  /** Each is in some error; `…` stands for any text. */
  readonly messages: readonly RegExp[]
}

export interface Guide {
  readonly name: string
  readonly blocks: readonly CodeBlock[]
  readonly forgotten: readonly Forgotten[]
  /** Files of tests that its proof names. */
  readonly tests: readonly string[]
}

export function readGuide(name: string): Guide {
  const page = readFileSync(new URL(`../../../docs/guides/${name}.md`, import.meta.url), 'utf8')
  const rows = tableRows(section(page, 'What is said when a step is forgotten'))
  return {
    name,
    blocks: blocksOf(page, name),
    forgotten: rows.map(([cell = '', foundBy = '', messages = '']) => ({
      guide: name,
      cell: cell.replaceAll('`', ''),
      foundBy: spans(foundBy),
      messages: spans(messages).map(asPattern),
    })),
    tests: [...section(page, 'Proof').matchAll(/\btest\/\S+\.test\.ts\b/g)].map(([path]) => path),
  }
}

function blocksOf(page: string, guide: string): CodeBlock[] {
  return [...page.matchAll(/^( *)```\w+ (.*\bfile=.*)\n([\s\S]*?)\n\1```$/gm)].map(
    ([, indent = '', info = '', text = '']) => {
      const words = new Map(
        [...info.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)].map(([, key, a, b]) => [key, a ?? b ?? '']),
      )
      const file = words.get('file')
      if (file === undefined) throw new Error(`${guide}: a block without a file: ${info}`)
      const beside = words.has('after') ? 'after' : 'before'
      const anchor = words.get(beside)
      const bare = / end\b/.test(info) ? 'end' : 'new'
      const lines = text.split('\n').map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
      return {
        name: words.get('name') ?? file,
        file,
        place: anchor === undefined ? bare : { beside, anchor },
        text: lines.join('\n'),
      }
    },
  )
}

function spans(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)
}

function asPattern(message: string): RegExp {
  return new RegExp(message.split('…').map(escaped).join('[^]*'))
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}

/** A pattern of a text in which a blank is any white space, so that it may go over a line break. */
function asWords(text: string): string {
  return text.split(/\s+/).map(escaped).join('\\s+')
}

/** The blocks of a guide with a step forgotten: `name, name` are left out, `this instead of that` is written otherwise. */
export function without({ name, blocks }: Guide, { cell }: Forgotten): CodeBlock[] {
  const [wrong, right] = cell.split(' instead of ')
  if (right !== undefined) {
    const pattern = new RegExp(asWords(right))
    const found = blocks.filter(({ text }) => pattern.test(text))
    if (found.length !== 1) throw new Error(`${name}: ${right} stands in ${found.length} blocks`)
    return blocks.map((block) => ({ ...block, text: block.text.replace(pattern, () => wrong ?? '') }))
  }
  // It writes pages, and no block.
  if (cell === 'npm run docs') return [...blocks]
  const names = cell.split(', ')
  const unknown = names.find((one) => !blocks.some((block) => block.name === one))
  if (unknown !== undefined) throw new Error(`${name}: no block is called ${unknown}`)
  return blocks.filter((block) => !names.includes(block.name))
}

/** The files that blocks change, by path; `read` gives those of the repository, undefined where there is none. */
export function applied(
  blocks: readonly CodeBlock[],
  read: (file: string) => string | undefined,
): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const block of blocks) files.set(block.file, withBlock(files.get(block.file) ?? read(block.file), block))
  return files
}

function withBlock(before: string | undefined, { file, place, text }: CodeBlock): string {
  if (place === 'new') {
    if (before !== undefined) throw new Error(`${file} exists: say where in it the block stands`)
    return `${text}\n`
  }
  if (before === undefined) throw new Error(`there is no ${file}`)
  const lines = text.split('\n')
  const imports = lines.slice(
    0,
    Math.max(
      0,
      lines.findIndex((line) => !/^(import .*)?$/.test(line)),
    ),
  )
  const body = lines.slice(imports.length)
  const names = imports.filter((line) => line !== '').map((line) => `${line}\n`)
  const placed = place === 'end' ? `${before}\n${body.join('\n')}\n` : beside(before, place, body, file)
  return placed.replace(/^import /m, () => `${names.join('')}import `)
}

function beside(
  text: string,
  { beside: side, anchor }: Exclude<Place, string>,
  body: readonly string[],
  file: string,
): string {
  const found = [...text.matchAll(new RegExp(asWords(anchor), 'g'))]
  const [only] = found
  if (only === undefined || found.length > 1) throw new Error(`${file}: ${anchor} stands there ${found.length} times`)
  const start = text.lastIndexOf('\n', only.index) + 1
  const end = text.indexOf('\n', only.index + only[0].length) + 1
  const [indent = ''] = /^ */.exec(text.slice(start)) ?? []
  const added = body.map((line) => (line === '' ? '\n' : `${indent}${line}\n`)).join('')
  const at = side === 'after' ? end : start
  return text.slice(0, at) + added + text.slice(at)
}
