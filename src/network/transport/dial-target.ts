import { lookup } from 'node:dns/promises'
import { familyOf } from '../../base/runtime/ip-family.js'
import { isPeerAddress } from '../address/address-text.js'
import { LinkError } from '../link.js'

/** An endpoint to dial. */
export interface DialTarget {
  /** IP address. */
  readonly host: string
  readonly port: number
}

/** A parsed address: host (IP address or name), port, and the name of the node if given. */
interface Address extends DialTarget {
  readonly peer: string | undefined
}

/** Reads `host:port` or a multiaddr; throws a LinkError for anything else. */
export function parseDialAddress(text: string): Address {
  if (!isPeerAddress(text)) throw new LinkError('unreachable', `${text} is no address of a node`)
  if (text.startsWith('/')) {
    const [, , host = '', , port, , peer] = text.split('/')
    return { host, port: Number(port), peer }
  }
  const [, bracketed, plain = '', port] = /^(?:\[(.*)\]|(.*)):(\d+)$/.exec(text) ?? []
  return { host: bracketed ?? plain, port: Number(port), peer: undefined }
}

/** The IP addresses of a host, at most `most`; rejects with a LinkError where it has none. */
export async function dialTargetsOf({ host, port }: DialTarget, most: number): Promise<readonly DialTarget[]> {
  if (familyOf(host) !== 0) return [{ host, port }]
  try {
    const found = await lookup(host, { all: true })
    return found.slice(0, most).map(({ address }) => ({ host: address, port }))
  } catch {
    throw new LinkError('unreachable', `the host ${host} is not known`)
  }
}

/** `/ip4/192.0.2.7/tcp/20338`. */
export function multiaddrText({ host, port }: DialTarget): string {
  return `/ip${familyOf(host)}/${host}/tcp/${port}`
}

/** The host and port of a multiaddr; empty or 0 where it has none. */
export function dialTargetOf(components: readonly { readonly name: string; readonly value?: string }[]): DialTarget {
  const host = components.find(({ name }) => name === 'ip4' || name === 'ip6')?.value ?? ''
  return { host, port: Number(components.find(({ name }) => name === 'tcp')?.value ?? 0) }
}
