import type { LookupAddress, LookupAllOptions } from 'node:dns'
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
  /** The IP version of the addresses that the name of a host stands for; 0: any. */
  readonly family: 0 | 4 | 6
  readonly peer: string | undefined
}

const families: Readonly<Record<string, 4 | 6>> = { ip4: 4, dns4: 4, ip6: 6, dns6: 6 }

/** Reads `host:port` or a multiaddr; throws a LinkError for anything else. */
export function parseDialAddress(text: string): Address {
  if (!isPeerAddress(text)) throw new LinkError('unreachable', `${text} is no address of a node`)
  if (text.startsWith('/')) {
    const [, kind = '', host = '', , port, , peer] = text.split('/')
    return { host, port: Number(port), family: families[kind] ?? 0, peer }
  }
  const [, bracketed, plain = '', port] = /^(?:\[(.*)\]|(.*)):(\d+)$/.exec(text) ?? []
  return { host: bracketed ?? plain, port: Number(port), family: 0, peer: undefined }
}

/** The IP addresses of a host, at most `most`; rejects with a LinkError where it has none. */
export async function dialTargetsOf(
  { host, port, family }: Omit<Address, 'peer'>,
  most: number,
  find: (host: string, options: LookupAllOptions) => Promise<readonly LookupAddress[]> = lookup,
): Promise<readonly DialTarget[]> {
  if (familyOf(host) !== 0) return [{ host, port }]
  try {
    const found = await find(host, { all: true, family })
    return found.slice(0, most).map(({ address }) => ({ host: address, port }))
  } catch {
    const what = family === 0 ? 'is not known' : `has no known address of IPv${family}`
    throw new LinkError('unreachable', `the host ${host} ${what}`)
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
