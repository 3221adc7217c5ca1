import { describe, expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import type { Transaction } from '../../../../src/base/primitives/transaction.js'
import { NoAnswer, NodeRefusal } from '../../../../src/clients/client/http.js'
import { sendBuilt } from '../../../../src/program/cli/send-transaction.js'

/** Sends with these failures one after another, the last one without end; returns what was sent, or the failure, and how often it was built. */
async function sendWith(...failures: readonly (Error | undefined)[]) {
  let built = 0
  let sent = 0
  const build = async () => ({ transaction: { txid: String(++built) } as Transaction })
  const outcome = await sendBuilt(build, async ({ txid }) => {
    const failure = failures[Math.min(sent++, failures.length - 1)]
    if (failure !== undefined) throw failure
    return { txid }
  }).catch((error: unknown) => error)
  return { outcome, built }
}

const refusal = (code: number) => new NodeRefusal('the node refused the transaction', code, '', 'why')

describe('a transaction that a command builds', () => {
  it.each([45010, 45016])('is built again where its coins were spent meanwhile (%i)', async (code) => {
    const { outcome } = await sendWith(refusal(code), refusal(code), undefined)
    expect(outcome).toMatchObject({ built: { transaction: { txid: '3' } }, sent: { txid: '3' } })
  })

  it('is built 16 times at most', async () => {
    const spent = refusal(45010)
    expect(await sendWith(spent)).toEqual({ outcome: spent, built: 16 })
  })

  it.each([
    refusal(45007),
    new NoAnswer('silence', { mayHaveArrived: true }),
    new UserError('the node has dropped it'),
  ])('is built once where another thing fails: %s', async (failure) => {
    expect(await sendWith(failure, undefined)).toEqual({ outcome: failure, built: 1 })
  })
})
