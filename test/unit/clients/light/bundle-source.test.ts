import { describe, expect, it } from 'vitest'
import { bundleSource } from '../../../../src/clients/light/bundle-source.js'
import type { LightCredential, LightResult } from '../../../../src/clients/light/proved-answer.js'

const [issuer, holder, stranger] = ['did:ledger:issuer', 'did:ledger:holder', 'did:ledger:stranger']
const id = `${holder}#degree`
const proof = (height: number) => ({ height, hash: '', time: 0, age: 100 - height, servers: [] })

const asked: unknown[] = []
/** A light resolver that believes every bundle. */
const light = {
  verifyBundle: (bundle: unknown, options?: object) => {
    asked.push(options)
    return Promise.resolve(bundle as LightResult | LightCredential)
  },
}
const credential = (...signers: string[]): LightCredential => ({
  id,
  status: 3,
  proved: { ...proof(7), said: signers.map((signer) => ({ signer, as: 'asked', operations: [] })) },
})
const did: LightResult = { did: issuer, status: 0, proved: proof(9) }

describe('answers from bundles', () => {
  it('are those of their questions, as of the oldest block, and no older than asked', async () => {
    const source = await bundleSource(light, [did, credential(holder, issuer)], { maxAge: 60 })
    expect(asked).toEqual([{ maxAge: 60 }, { maxAge: 60 }])
    expect(source.oldest.height).toBe(7)
    expect(await source.resolve(issuer)).toBe(did)
    expect(await source.resolveCredential(id, { issuer })).toMatchObject({ id, status: 3 })
  })

  it('are missing for other questions', async () => {
    const source = await bundleSource(light, [did, credential(holder)])
    await expect(source.resolve(holder)).rejects.toThrow(`no proof of ${holder} was given`)
    await expect(source.resolveCredential(`${id}2`, { issuer })).rejects.toThrow('no proof of')
    // Its proof has the word of the holder alone: whether the issuer revoked it is not in there.
    await expect(source.resolveCredential(id, { issuer })).rejects.toThrow(`--issuer ${issuer}`)
    await expect(source.resolveCredential(id, { issuer: stranger })).rejects.toThrow('no proof of')
    expect(await source.resolveCredential(id, { issuer: holder })).toMatchObject({ id })
  })

  it('are not taken from a proof of an earlier version, which leaves the status open', async () => {
    const earlier: LightResult = { ...did, proved: { ...did.proved, statusUnproved: true } }
    const source = await bundleSource(light, [earlier])
    await expect(source.resolve(issuer)).rejects.toThrow(`no proof of ${issuer} was given`)
  })

  it('need a proof', async () => {
    await expect(bundleSource(light, [])).rejects.toThrow('no proof was given')
    await expect(bundleSource(light, [did], { maxage: 1 } as never)).rejects.toThrow('maxage is no option')
  })
})
