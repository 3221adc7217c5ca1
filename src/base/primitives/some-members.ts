const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openObject, closeObject, openArray, closeArray] = [0x7b, 0x7d, 0x5b, 0x5d]

/** Members of an object in JSON, and the bytes that were parsed for them. */
export interface SomeMembers {
  readonly members: Readonly<Record<string, unknown>>
  readonly parsed: number
}

/** Names that JSON writes as they are, in bytes that stand for nothing else. */
const plainName = /^[ !#-[\]-~]+$/

/** Whether {@link someMembers} can look for these names. */
export function arePlain(names: readonly string[]): boolean {
  return names.every((name) => plainName.test(name))
}

/**
 * Parses those members of an object that `names` lists, each once and all plain, of JSON without white space, and steps over all others: in
 * a third of the time of parsing them. Undefined where the bytes have another form, as an escape in a name; then JSON.parse has to read
 * all. Steps over values without a look at their grammar, so the bytes have to be known as JSON.
 */
export function someMembers(json: Buffer, names: readonly string[]): SomeMembers | undefined {
  // A character for each byte, which V8 searches faster than a buffer: all that is looked for is ASCII.
  const text = json.toString('latin1')
  const members: Record<string, unknown> = {}
  let parsed = 0
  let found = 0
  if (!text.startsWith('{"')) return undefined
  for (let at = 1; ;) {
    const nameEnd = stringEnd(text, at)
    const name = text.slice(at + 1, nameEnd - 1)
    if (text.charCodeAt(nameEnd) !== colon || name.includes('\\')) return undefined
    const end = valueEnd(text, nameEnd + 1)
    if (names.includes(name)) {
      members[name] = JSON.parse(json.toString('utf8', nameEnd + 1, end))
      parsed += end - nameEnd
      if (++found === names.length) return { members, parsed }
    }
    if (text.charCodeAt(end) === closeObject && end + 1 === text.length) return { members, parsed }
    if (text.charCodeAt(end) !== comma || text.charCodeAt(end + 1) !== quote) return undefined
    at = end + 1
  }
}

/** The place behind a string that begins at a quote; beyond the end where it has none. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++
    if (escapes % 2 === 0) return end + 1
  }
  return text.length
}

/** The place behind a value: of the comma or bracket that follows it; beyond the end where nothing does. */
function valueEnd(text: string, start: number): number {
  let depth = 0
  let at = start
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = stringEnd(text, at)
      continue
    }
    if (code === openObject || code === openArray) depth++
    else if (depth === 0 && (code === comma || code === closeObject || code === closeArray)) return at
    else if (code === closeObject || code === closeArray) depth--
    at++
  }
  return at
}
