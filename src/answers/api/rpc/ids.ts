/** Matches what follows the name of a member: a colon, and the value if that is a number. */
const memberValue = /\s*:\s*(-?\d[-+.\deE]*)?/y

/**
 * The `id` of a request, or of each request of a batch, as written, where it is a number: parsing loses the form, and digits
 * beyond 2^53. `json` has to be valid JSON; the list has one entry for an object, one per element of an array, undefined without
 * such an id. Of several ids the last one counts, as for JSON.parse. Takes time linear in the text and no stack, however deep the
 * values are nested.
 */
export function numericIds(json: string): readonly (string | undefined)[] {
  const ids: (string | undefined)[] = [undefined]
  let depth = 0
  /** Depth of the members of requests: inside one bracket, in a batch inside two. */
  let level = 1
  for (let i = 0; i < json.length; i++) {
    switch (json[i]) {
      case '"': {
        const end = closingQuote(json, i + 1)
        if (depth === level) {
          memberValue.lastIndex = end + 1
          const member = memberValue.exec(json)
          if (member !== null && isId(json.slice(i, end + 1))) ids[ids.length - 1] = member[1]
        }
        i = end
        break
      }
      case '[':
        if (depth === 0) level = 2
        depth++
        break
      case '{':
        depth++
        break
      case ']':
      case '}':
        depth--
        break
      case ',':
        if (depth === 1 && level === 2) ids.push(undefined)
        break
    }
  }
  return ids
}

const idName = '"id"'

/**
 * The numeric `id` of a request that is one object, as {@link numericIds} finds it; `parsed` is its value. Looks at one place where the
 * text allows that: no escapes, one `"id"` alone, and the digits that the value has.
 */
export function numericId(json: string, parsed: number): string | undefined {
  const at = json.indexOf(idName)
  const colon = at + idName.length
  const isOnly = at >= 0 && !json.includes(idName, colon) && !json.includes('\\')
  if (isOnly && json[colon] === ':') {
    const digits = String(parsed)
    const begin = json[colon + 1] === ' ' ? colon + 2 : colon + 1
    const after = json[begin + digits.length]
    if ((after === ',' || after === '}') && json.startsWith(digits, begin)) return digits
  }
  return numericIds(json)[0]
}

/** Whether a quoted name is `id`, in whatever escapes. */
function isId(name: string): boolean {
  return name === '"id"' || (name.includes('\\') && JSON.parse(name) === 'id')
}

/** End of the string whose text begins at `start`: the first quote after an even number of backslashes. */
function closingQuote(json: string, start: number): number {
  for (let end = json.indexOf('"', start); ; end = json.indexOf('"', end + 1)) {
    let backslashes = 0
    while (json[end - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return end
  }
}
