/** A strict reader of the part of YAML that the files of docs/operate use: maps and lists in block form, scalars, comments. */

export type Yaml = string | { readonly [name: string]: Yaml } | readonly Yaml[]

interface Line {
  readonly indent: number
  readonly text: string
  readonly number: number
}

const pair = /^([\w./$-]+):(?: (.+))?$/

/** Parses a file; all scalars are texts. Throws at everything else, with the number of the line. */
export function parseYaml(text: string): Yaml {
  const lines = text.split('\n').flatMap((line, i): Line[] => {
    if (line.includes('\t') || /\s$/.test(line)) throw new Error(`line ${i + 1}: white space`)
    const content = line.trimStart()
    if (content === '' || content.startsWith('#')) return []
    return [{ indent: line.length - content.length, text: content, number: i + 1 }]
  })
  const [value, next] = readBlock(lines, 0)
  if (next < lines.length) throw new Error(`line ${lines[next]?.number}: indented in an unknown way`)
  return value
}

/** The block that begins at a line, and the line after it. */
function readBlock(lines: readonly Line[], start: number): [Yaml, number] {
  const { indent, text, number } = lines[start] as Line
  if (text.startsWith('- ')) return readList(lines, start, indent)
  if (pair.test(text)) return readMap(lines, start, indent)
  throw new Error(`line ${number}: neither a list nor a map`)
}

function readList(lines: readonly Line[], start: number, indent: number): [Yaml, number] {
  const items: Yaml[] = []
  let at = start
  while (at < lines.length && lines[at]?.indent === indent) {
    const { text, number } = lines[at] as Line
    if (!text.startsWith('- ')) throw new Error(`line ${number}: an item of the list is missing`)
    const rest = text.slice(2)
    if (!pair.test(rest)) {
      items.push(scalar(rest, number))
      at++
      continue
    }
    // A map in a list: its first member stands behind the dash.
    const inner = [...lines.slice(0, at), { indent: indent + 2, text: rest, number }, ...lines.slice(at + 1)]
    const [item, next] = readMap(inner, at, indent + 2)
    items.push(item)
    at = next
  }
  return [items, at]
}

function readMap(lines: readonly Line[], start: number, indent: number): [Yaml, number] {
  const members: Record<string, Yaml> = {}
  let at = start
  while (at < lines.length && lines[at]?.indent === indent) {
    const { text, number } = lines[at] as Line
    const [, name, value] = pair.exec(text) ?? []
    if (name === undefined) throw new Error(`line ${number}: no member of a map`)
    if (name in members) throw new Error(`line ${number}: ${name} comes twice`)
    at++
    if (value !== undefined) {
      members[name] = value === '{}' ? {} : scalar(value, number)
      continue
    }
    const below = lines[at]
    if (below === undefined || below.indent <= indent) throw new Error(`line ${number}: ${name} has no value`)
    ;[members[name], at] = readBlock(lines, at)
  }
  return [members, at]
}

function scalar(text: string, number: number): string {
  const quoted = /^'((?:[^']|'')*)'$/.exec(text)?.[1]
  if (quoted !== undefined) return quoted.replaceAll("''", "'")
  if (/^["'[{&*!|>%@`]|: | #/.test(text)) throw new Error(`line ${number}: a text in a form that is not read here`)
  return text
}
