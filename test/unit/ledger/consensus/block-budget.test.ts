import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BlockBudget } from '../../../../src/ledger/consensus/block-budget.js'
import { noWork } from '../../../../src/ledger/consensus/signature-work.js'
import { fixedLimits } from '../../../../src/base/primitives/spec.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { runs } from '../../../support/builders/arbitraries.js'
import { rounds } from '../../../support/process/thorough.js'

describe('the budget of a block', () => {
  const spending = (cost: number, documents: readonly { txid: string; payloadSize: number }[] = []) => ({
    work: { ...noWork, cost },
    did: { reads: documents.map((document) => ({ issuer: true, ...document })) },
  })

  it('bounds signature checks, and counts nothing of what it refuses', () => {
    const budget = new BlockBudget({ blockCost: 10 })
    budget.add(spending(6))
    expect(codeOf(() => budget.add(spending(5)))).toBe('block-signature-cost')
    budget.add(spending(4))
    expect(codeOf(() => budget.add(spending(1)))).toBe('block-signature-cost')
  })

  it('bounds the keys and hashed bytes of programs, and a share of it half of them', () => {
    const most = { keys: 16_000, hashedBytes: 1024 * 1024 * 1024 }
    for (const name of ['keys', 'hashedBytes'] as const) {
      for (const share of [1, 0.5]) {
        const budget = new BlockBudget({ blockCost: 40_000 }, share)
        budget.add({ work: { ...noWork, [name]: share * most[name] - 1 } })
        expect(codeOf(() => budget.add({ work: { ...noWork, [name]: 2 } }))).toBe('block-signature-work')
        budget.add({ work: { ...noWork, [name]: 1 } })
        expect(codeOf(() => budget.add({ work: { ...noWork, [name]: 1 } }))).toBe('block-signature-work')
      }
    }
  })

  it('bounds the bytes of issuer documents, each counted once', () => {
    const budget = new BlockBudget({ blockCost: 100 })
    const megabyte = 1024 * 1024
    const large = { txid: 'a', payloadSize: 15 * megabyte }
    budget.add(spending(1, [large]))
    budget.add(spending(1, [large]))
    expect(codeOf(() => budget.add(spending(1, [{ txid: 'b', payloadSize: megabyte + 1 }])))).toBe(
      'block-issuer-documents',
    )
    budget.add(spending(1, [{ txid: 'b', payloadSize: megabyte }]))
    expect(codeOf(() => budget.add(spending(1, [{ txid: 'c', payloadSize: 1 }])))).toBe('block-issuer-documents')
  })

  it('counts own previous documents with them, and each only as often as it is new', () => {
    const budget = new BlockBudget({ blockCost: 10_000 })
    const megabyte = 1024 * 1024
    const own = (txid: string, payloadSize: number) => ({
      work: noWork,
      did: { reads: [{ txid, payloadSize, issuer: false }] },
    })
    for (let i = 0; i < 16; i++) budget.add(own(`${i}`, megabyte))
    budget.add(own('3', megabyte))
    expect(codeOf(() => budget.add(own('16', 1)))).toBe('block-issuer-documents')
    expect(codeOf(() => budget.require([{ txid: '16', payloadSize: 1, issuer: false }]))).toBe('block-issuer-documents')
    // The same document in another use needs no more bytes.
    budget.add(spending(1, [{ txid: '3', payloadSize: megabyte }]))
  })

  it('is what any order of the same documents comes to', () => {
    const reads = fc.array(fc.record({ txid: fc.constantFrom('a', 'b', 'c', 'd'), issuer: fc.boolean() }), {
      maxLength: 8,
    })
    const sizes: Record<string, number> = { a: 1, b: 8 * 1024 * 1024, c: 8 * 1024 * 1024 - 2, d: 1 }
    fc.assert(
      fc.property(fc.array(reads, { maxLength: 6 }), (transactions) => {
        const budget = new BlockBudget({ blockCost: 1000 })
        const seen = new Set<string>()
        for (const each of transactions) {
          const named = [...new Map(each.map((read) => [read.txid, read])).values()]
          const documents = named.map((read) => ({ ...read, payloadSize: sizes[read.txid] as number }))
          const all = new Set([...seen, ...named.map(({ txid }) => txid)])
          const bytes = [...all].reduce((sum, txid) => sum + (sizes[txid] as number), 0)
          const fits = bytes <= 16 * 1024 * 1024
          const code = codeOf(() => budget.add({ work: noWork, did: { reads: documents } }))
          expect(code).toBe(fits ? undefined : 'block-issuer-documents')
          if (fits) all.forEach((txid) => seen.add(txid))
        }
      }),
      { numRuns: rounds(200, 500) },
    )
  })

  it('counts a document for an issuer again once that use was taken back', () => {
    const share = 1 / fixedLimits.issuerDocuments
    const budget = new BlockBudget({ blockCost: 1000 }, share)
    const use = (txid: string, issuer: boolean) =>
      codeOf(() => budget.add({ work: noWork, did: { reads: [{ txid, payloadSize: 1, issuer }] } }))
    expect(use('a', false)).toBe(undefined)
    const takeBack = budget.save()
    expect([use('a', true), use('b', true)]).toEqual([undefined, 'block-issuer-documents'])
    takeBack()
    expect([use('a', true), use('a', true), use('b', true)]).toEqual([undefined, undefined, 'block-issuer-documents'])
  })

  it('is the sum of what was counted and not taken back, whatever came in which order', () => {
    // A share of the limits in which two documents of issuers fit, and ten signatures.
    const share = 2 / fixedLimits.issuerDocuments
    const most = share * fixedLimits.documentBytes
    const limits = { blockCost: 10 / share }
    const read = fc.record({ txid: fc.constantFrom('a', 'b', 'c', 'd'), issuer: fc.boolean() })
    const reads = fc.uniqueArray(read, { selector: ({ txid }) => txid, maxLength: 2 })
    const add = fc.record({ cost: fc.nat(3), reads: fc.option(reads, { nil: undefined, freq: 5 }) })
    const step = fc.oneof({ arbitrary: add, weight: 4 }, fc.constantFrom('save' as const, 'restore' as const))
    // All but one document fit, and none more.
    const third = Math.floor(most / 3)
    const size = (txid: string) => (txid === 'a' ? Math.floor(most) - 3 * third + 1 : third)
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const budget = new BlockBudget(limits, share)
        let counted = { cost: 0, documents: new Map<string, boolean>() }
        let saved: { readonly restore: () => void; readonly counted: typeof counted } | undefined
        for (const one of steps) {
          if (one === 'save') saved = { restore: budget.save(), counted }
          else if (one === 'restore') {
            if (saved === undefined) continue
            saved.restore()
            counted = saved.counted
            saved = undefined
          } else {
            const documents = new Map(counted.documents)
            for (const { txid, issuer } of one.reads ?? []) documents.set(txid, issuer || documents.get(txid) === true)
            const issuers = [...documents.values()].filter((issuer) => issuer).length
            const bytes = [...documents.keys()].reduce((sum, txid) => sum + size(txid), 0)
            const next = { cost: counted.cost + one.cost, documents }
            const tooMuch = issuers > 2 || bytes > most ? 'block-issuer-documents' : undefined
            const wanted = next.cost > 10 ? 'block-signature-cost' : tooMuch
            const all = one.reads?.map((each) => ({ ...each, payloadSize: size(each.txid) }))
            expect(codeOf(() => budget.require(all ?? []))).toBe(tooMuch)
            const did = all && { did: { reads: all } }
            expect(codeOf(() => budget.add({ work: { ...noWork, cost: one.cost }, ...did }))).toBe(wanted)
            if (wanted === undefined) counted = next
          }
        }
      }),
      runs,
    )
  })
})
