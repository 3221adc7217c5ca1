/** Texts of documents are written by strangers: what a page may show of them, and where it may lead. Pure. */

/** Characters that are invisible, or that change the order or the place of others: controls, marks of direction, joiners, tags. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** Marks piled up on one character: more than a few cover the lines around it. */
const piledMarks = /(\p{M}{3})\p{M}+/gu

/** A text with every unseen character written out, `‹U+202E›`; `keep` are such characters to leave as they are. */
export function visible(text: string, keep = ''): string {
  return text
    .replace(unseen, (found) => (keep.includes(found) ? found : `‹U+${codeOf(found)}›`))
    .replace(piledMarks, '$1‹marks›')
}

/** A text without its unseen characters and lone surrogates; white space of any kind is one blank, and none is around it. */
export function withoutUnseen(text: string): string {
  return text
    .replace(/\p{White_Space}/gu, ' ')
    .replace(unseen, '')
    .replace(/ +/g, ' ')
    .trim()
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

/** The address of a link to another site, for http and https alone; undefined for any other text of a document. */
export function outsideLink(text: string): string | undefined {
  if (text.length > longestLink || !/^https?:\/\//i.test(text) || visible(text) !== text) return undefined
  if (/\s/.test(text) || !URL.canParse(text)) return undefined
  const { protocol, username, password, href } = new URL(text)
  // A name before the host looks like the host.
  if (username !== '' || password !== '') return undefined
  return protocol === 'http:' || protocol === 'https:' ? href : undefined
}

/** The part of a text that names a host: behind a scheme and `//`, behind `//` or `www`, or behind the `@` of a mail address. */
const authority =
  /^\s*(?:([a-z][a-z0-9+.-]*:)?[/\\]{2,}|(?=www[.\u3002\uff0e\uff61]))([^/?#\\\s]+)|^\s*(mailto:)[^@?]*@([^/?#,;\s]+)/iu
/** Schemes whose hosts are read as those of pages are: numbers are addresses. */
const likePages: readonly (string | undefined)[] = ['http:', 'https:', 'ws:', 'wss:', 'ftp:', undefined]
/** Characters of the longest name of a host, twice: it may be written with escapes. */
const longestHost = 512

/**
 * The host that a text leads to, in ASCII, where another one is read in it: letters of other alphabets look like Latin ones, and a
 * name before `@` like a host. Undefined where the host is written as it is, or the text names none.
 */
export function otherHost(text: string): string | undefined {
  const [, scheme, behindScheme, mail, behindMail] = authority.exec(text.slice(0, 2 * longestHost)) ?? []
  const written = behindScheme ?? behindMail
  if (written === undefined) return undefined
  const isPlain = /^[\0-\x7f]*$/.test(written)
  if (isPlain && !likePages.includes((mail ?? scheme)?.toLowerCase())) return undefined
  const url = `https://${written}/`
  if (written.length > longestHost || !URL.canParse(url)) return isPlain ? undefined : 'no valid host'
  const { hostname } = new URL(url)
  return hostname === written.toLowerCase().replace(/:\d*$/, '') ? undefined : hostname
}
