import { Type } from '@sinclair/typebox'
import { acceptedPrefixes } from '../consensus/sanity.js'
import { parseAddress, type ProgramHash } from '../../base/primitives/address.js'
import { optionsFor } from '../../base/runtime/option.js'

/** Settings made by the options of block production. */
export interface MiningTarget {
  /** Address that blocks of this node pay; on a chain without validators the node then mines. */
  readonly payTo: ProgramHash | undefined
}

const { option, table } = optionsFor<MiningTarget>(['start'])

export const miningOptions = table('mining', {
  payTo: option((address) => ({ payTo: parseAddress(address) }), {
    flag: '--mine <address>',
    schema: Type.String(),
    description: 'address that the blocks of this node pay; on a chain without validators it mines, too',
    expects: 'an address of this chain (34 characters that begin with E, 8 or i and have a right checksum)',
    check: (address) => acceptedPrefixes.includes(parseAddress(address)?.[0]),
  }),
})
