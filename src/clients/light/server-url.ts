import { LightError } from './light-error.js'

/** Addresses of servers: one server has one name, however it is written. */

const schemes = ['http:', 'https:']

/** A server as it is asked, and its name among others. */
export interface ServerUrl {
  /** Without a slash at its end. */
  readonly url: string
  /** The same for all addresses that cannot be different servers. */
  readonly identity: string
}

/** Reads the address of a server; `form` for anything but an origin with a path. */
export function serverUrl(sent: unknown): ServerUrl {
  const parsed = parsedUrl(sent)
  const isBase = parsed !== undefined && parsed.search + parsed.hash + parsed.username + parsed.password === ''
  if (!isBase || !schemes.includes(parsed.protocol)) {
    throw new LightError('form', `a server is no address of the form http://host:port: ${String(sent).slice(0, 300)}`)
  }
  const { protocol, hostname, port, origin, pathname } = parsed
  // The parser has made the host lowercase, and removed the usual port and dot segments.
  const path = pathname.replace(/%[0-9a-f]{2}/gi, plainly).replace(/\/{2,}/g, '/')
  const host = hostname.replace(/\.$/, '') + (port && `:${port}`)
  return { url: trimmed(origin + pathname), identity: trimmed(`${protocol}//${host}${path}`) }
}

function parsedUrl(sent: unknown): URL | undefined {
  try {
    return new URL(sent as string)
  } catch {
    return undefined
  }
}

/** An escape of a character that needs none is that character. */
function plainly(escape: string): string {
  const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
  return /[\w.~-]/.test(character) ? character : escape.toUpperCase()
}

function trimmed(url: string): string {
  return url.replace(/\/+$/, '')
}

/** The different servers among addresses, in their order. */
export function distinctServers(sent: readonly unknown[]): readonly string[] {
  if (!Array.isArray(sent)) throw new LightError('form', 'servers: no list')
  const found = new Map<string, string>()
  for (const { url, identity } of sent.map(serverUrl)) if (!found.has(identity)) found.set(identity, url)
  return [...found.values()]
}

/** An address of a server that an earlier one names as well. */
export function repeatedServer(sent: readonly string[]): string | undefined {
  const identities = sent.map((one) => serverUrl(one).identity)
  return sent.find((_, i) => identities.indexOf(identities[i] as string) < i)
}
