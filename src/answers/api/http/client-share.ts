import { familyOf } from '../../../base/runtime/ip-family.js'
import { isLoopback } from './origin.js'

/** Share under which a client is counted: this machine, an IPv4 address, or a /64 of IPv6, which one host may own. */
export function shareOf(address: string | undefined): string {
  if (address === undefined) return ''
  if (isLoopback(address)) return loopbackShare
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  return familyOf(address) === 6 ? `${networkOf(address)}::/64` : address
}

export const loopbackShare = 'loopback'

/** First four groups of an IPv6 address. */
function networkOf(address: string): string {
  const [front = '', back] = (address.split('%')[0] ?? '').toLowerCase().split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const [first, last] = [groups(front), groups(back ?? '')]
  const zeros = back === undefined ? 0 : Math.max(0, 8 - first.length - last.length)
  const all = [...first, ...Array.from({ length: zeros }, () => '0'), ...last]
  return all
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(':')
}
