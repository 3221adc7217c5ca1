import { expect, it } from 'vitest'
import { connectInto } from '../../../../src/ledger/chain/connect-block.js'
import { createInlineVerifier } from '../../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../../src/base/crypto/signature-cache.js'
import { KnownDocuments } from '../../../../src/ledger/storage/write/known-documents.js'
import { MapMemory } from '../../../../src/ledger/storage/rows/map/map-rows.js'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { craftBlock } from '../../../support/builders/blocks.js'
import { TestChain } from '../../../support/builders/chain.js'
import { holder } from '../../../support/builders/did.js'

it('a block that connects leaves known what its documents say, so that the next operation need not read them', async () => {
  const test = await TestChain.open()
  const { sanity, genesis, coinRoots } = test.chain
  const ada = holder()
  const created = await test.carry(ada.create(), ada.did)
  const fees = 100_000_000_000n - created.outputs.reduce((sum, { value }) => sum + value, 0n)
  const block = craftBlock(test.chain, { transactions: [created], fees })
  const documents = new KnownDocuments()
  const parts = { verifier: createInlineVerifier(), signatures: new SignatureCache(), mapMemory: new MapMemory() }
  const connecting = { ...parts, sanity, genesis: genesis.header.hash, documents, coinRoots }
  await connectInto(new Overlay(test.database), block, connecting)
  expect(documents.facts(created.txid)).toMatchObject({ keys: { id: ada.did }, credentials: new Set() })
  await test.close()
})
