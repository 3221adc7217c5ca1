import { expect, it } from 'vitest'
import { BlockBudget } from '../../../../../src/ledger/consensus/block-budget.js'
import { checkTransaction } from '../../../../../src/ledger/consensus/connect.js'
import { StateOverlay } from '../../../../../src/ledger/consensus/ledger.js'
import { fixedLimits } from '../../../../../src/base/primitives/spec.js'
import { codeOf } from '../../../../support/assert/code-of.js'
import { TestChain } from '../../../../support/builders/chain.js'
import { holder, issueCredential } from '../../../../support/builders/did.js'

it('an operation is refused at the first document too many, not once all are read', async () => {
  const test = await TestChain.open()
  const issuers = [holder(), holder(), holder()]
  for (const issuer of issuers) await test.publish(issuer.create(), issuer.did)
  const ada = holder()
  const credentials = issuers.map((issuer) =>
    issueCredential(issuer.did, issuer.primary, ada.did, { id: `${ada.did}#${issuer.did.slice(-8)}` }),
  )
  const tx = await test.carry(ada.create({ credentials }), ada.did)
  for (let count = 1; count <= 3; count++) {
    const read: string[] = []
    const { state } = test.chain
    const issuer = (did: string) => (read.push(did), state.issuer(did))
    const watched = new Proxy(state, {
      get: (target, name) => {
        if (name === 'issuer') return issuer
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? (member.bind(target) as unknown) : member
      },
    })
    // As many documents of issuers as fit.
    const budget = new BlockBudget(test.spec.limits, count / fixedLimits.issuerDocuments)
    const context = { ...test.chain.sanity, height: test.reader.height + 1, budget }
    const code = codeOf(() => checkTransaction(tx, new StateOverlay(watched), context))
    expect(code).toBe(count < 3 ? 'block-issuer-documents' : undefined)
    expect(new Set(read).size).toBe(Math.min(3, count + 1))
  }
  await test.close()
})
