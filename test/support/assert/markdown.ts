import { readFileSync } from 'node:fs'

const root = new URL('../../../', import.meta.url)

/** The text of a file of the repository. */
export function repositoryFile(name: string): string {
  return readFileSync(new URL(name, root), 'utf8')
}

/** Returns the text below a heading of the second level, up to the next one. */
export function section(page: string, heading: string): string {
  const start = page.indexOf(`\n## ${heading}\n`)
  if (start < 0) throw new Error(`there is no section ${heading}`)
  const end = page.indexOf('\n## ', start + 1)
  return page.slice(start, end < 0 ? undefined : end)
}

export interface Block {
  readonly language: string
  /** Without the line break at its end. */
  readonly text: string
}

/** The fenced blocks of a page in order. */
export function fencedBlocks(page: string): Block[] {
  return [...page.matchAll(/^```(\w*)\n([\s\S]*?)\n?^```$/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
  }))
}

/** The files of a page whose blocks name one: `file=NAME`, and nothing beside it. */
export function filesOf(page: string): ReadonlyMap<string, string> {
  return new Map(
    [...page.matchAll(/^```\w+ file=(\S+)\n([^]*?)^```$/gm)].map(([, name = '', text = '']) => [name, text]),
  )
}

/** Commands of a page with the output that stands below them. */
export function commandsOf(page: string): { command: string; output: string }[] {
  const blocks = fencedBlocks(page)
  return blocks.flatMap(({ language, text: command }, i) => {
    const next = blocks[i + 1]
    return language === 'sh' ? [{ command, output: next?.language === 'text' ? next.text : '' }] : []
  })
}

/** Commands of the `console` blocks of a page, each with the output below it. */
export function sessionOf(page: string): { command: string; output: string }[] {
  return fencedBlocks(page).flatMap(({ language, text }) =>
    language !== 'console'
      ? []
      : text.split(/^\$ /m).flatMap((part) => {
          const [command = '', ...output] = part.trimEnd().split('\n')
          return command === '' ? [] : [{ command, output: output.join('\n') }]
        }),
  )
}

/** The rows of all tables of a page, their cells as written; heads and rulers left out. */
export function tableRows(page: string): string[][] {
  const lines = page.split('\n')
  return lines.flatMap((line, i) => {
    const inTable = line.startsWith('| ') && !isRuler(line) && !isRuler(lines[i + 1] ?? '')
    return inTable ? [cells(line)] : []
  })
}

function isRuler(line: string): boolean {
  return /^\|( *-+ *\|)+$/.test(line)
}

function cells(line: string): string[] {
  return line
    .slice(1, line.lastIndexOf('|'))
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
}

/** The text between backticks when a cell holds nothing else. */
export function code(cell: string | undefined): string {
  return /^`([^`]+)`$/.exec(cell ?? '')?.[1] ?? ''
}
