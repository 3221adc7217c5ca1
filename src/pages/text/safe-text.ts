/** Texts of documents are written by strangers: what a page may show of them, and where it may lead. Pure. */

/** Characters that are invisible, or that change the order or the place of others: controls, marks of direction, joiners, tags. */
const unseen =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udfff]/g

/** Marks piled up on one character: more than a few cover the lines around it. */
const piledMarks = /(\p{M}{3})\p{M}+/gu

/** A text with every unseen character written out, `‹U+202E›`; `keep` are such characters to leave as they are. */
export function visible(text: string, keep = ''): string {
  return text
    .replace(unseen, (found) => (keep.includes(found) ? found : `‹U+${codeOf(found)}›`))
    .replace(piledMarks, '$1‹marks›')
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
}

/** The beginning of a text with at most `most` UTF-16 units, never half a character. */
export function beginning(text: string, most: number): string {
  if (text.length <= most) return text
  const last = text.charCodeAt(most - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most)
}

/** A long name with its middle left out: `12ab…89ef`. */
export function shortened(text: string, head = 8, tail = 6): string {
  return text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`
}

/** Longest URL that becomes a link. */
const longestLink = 2048

/** The address of a link to another site, for http and https alone; undefined for whatever else a document says. */
export function outsideLink(text: string): string | undefined {
  if (text.length > longestLink || !/^https?:\/\//i.test(text) || visible(text) !== text) return undefined
  if (/\s/.test(text) || !URL.canParse(text)) return undefined
  const { protocol, username, password, href } = new URL(text)
  // A name before the host looks like the host.
  if (username !== '' || password !== '') return undefined
  return protocol === 'http:' || protocol === 'https:' ? href : undefined
}
