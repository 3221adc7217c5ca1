import { describe, expect, it } from 'vitest'
import { checkProofOfWork } from '../../src/identity/proofs/auxpow-proof.js'
import { auxPowBytes, parseAuxPow, parentHash } from '../../src/base/primitives/auxpow.js'
import { concat, hex, toHex } from '../../src/base/primitives/bytes.js'
import type { Header } from '../../src/base/primitives/header.js'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import { repositoryFile, tableRows } from '../support/assert/markdown.js'

const page = repositoryFile('docs/mining.md')
const hexOf = (cell: string | undefined) => /^`([0-9a-f]{8,})`$/.exec(cell ?? '')?.[1]

describe('the example of docs/mining.md', () => {
  it('is an AuxPow that the rules accept, and shows what it says it does', () => {
    const parts = tableRows(page).flatMap((row) => hexOf(row[1]) ?? [])
    expect(parts).toHaveLength(7)
    const auxPow = parseAuxPow(concat(...parts.map(hex)))
    expect(toHex(auxPowBytes(auxPow))).toBe(parts.join(''))
    const hash = hex(/"blockhash":"([0-9a-f]{64})"/.exec(page)?.[1] as string)
    const spec = parseSpec(repositoryFile('genesis/pow.json'))
    const header = { hash, bits: spec.powLimitBits } as Header
    expect(() => checkProofOfWork(spec, header, auxPow)).not.toThrow()
    expect(() => checkProofOfWork(spec, { ...header, hash: hex('00'.repeat(32)) } as Header, auxPow)).toThrow()
    const shown = new Set([...page.matchAll(/[0-9a-f]{64}/g)].map(([text]) => text))
    expect(shown).toContain(toHex(parentHash(auxPow)))
    expect(shown).toContain(toHex(auxPow.auxBranch[0] as Uint8Array))
    const commitment = /^fabe6d6d .*$/m.exec(page)?.[0].replaceAll(' ', '') as string
    expect(toHex(auxPow.coinbase.scripts[0] as Uint8Array)).toContain(commitment)
    expect(page).toContain(`leaf 1  ${toHex(new Uint8Array(hash).reverse())}`)
  })
})
