import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type LedgerNode } from '../../../../src/index.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { Workbench } from '../../../support/process/workbench.js'

const alice = devnetAccount(0)

describe('didledger did issue', () => {
  let bench: Workbench
  let node: LedgerNode
  const issue = (...args: string[]) =>
    bench.run('did', 'issue', '--devnet-account', '0', '--rest', node.api?.rest ?? '', '--type', 'T', ...args)
  const claimsFile = (text: string) => ['--claims', bench.write('claims.json', text)]

  beforeAll(async () => {
    bench = new Workbench()
    node = await createNode({ network: 'devnet', api: { portBase: 0, hosts: ['127.0.0.1'] } })
    await node.chain.waitFor((await node.wallet.createDid({ account: alice })).txid)
    bench.now = Math.floor(Date.now() / 1000)
  })
  afterAll(async () => {
    bench.close()
    await node.close()
  })

  it.each(['ledger', 'jwt'])('signs the claims of a file as they stand there, as %s', async (format) => {
    const claims = { n: 1.5, most: 2 ** 53 - 1, is: true, none: null, list: [{ a: 'ä' }, []] }
    const { out, code } = await issue(...claimsFile(JSON.stringify(claims)), '--format', format)
    const part = format === 'jwt' ? (out.split('.')[1] ?? '') : Buffer.from(out).toString('base64url')
    const signed = JSON.parse(Buffer.from(part, 'base64url').toString()) as {
      vc?: { credentialSubject: object }
      credentialSubject?: object
    }
    expect(code).toBe(0)
    expect((signed.vc ?? signed).credentialSubject).toEqual({ id: alice.did, ...claims })
  })

  it('signs nothing of a file whose bytes are no text', async () => {
    const [option, file] = claimsFile('') as [string, string]
    writeFileSync(file, '{"city":\n"Köln"}', 'latin1')
    expect(await issue(option, file)).toEqual({
      code: 1,
      out: '',
      err: `error: the claims ${file} is no text in UTF-8 (line 2); save it as UTF-8\n`,
    })
  })

  it.each([
    [`${alice.did.slice(0, -1)}1`, 'Not a DID of this chain: its checksum is wrong'],
    [alice.did.replace('did', 'DID'), 'Not a DID of this chain: it does not begin with did:ledger:'],
    ['', 'the subject of the credential is empty'],
  ])('refuses the subject %j before anything is signed', async (subject, fault) => {
    for (const format of ['ledger', 'jwt']) {
      const { code, out, err } = await issue('--claim', 'a=1', '--subject', subject, '--format', format)
      expect([code, out, err]).toEqual([2, '', expect.stringContaining(fault)])
    }
  })

  it.each([
    ['{"n":1e400}', 'the number 1e400, which is not in canonical form, at character 6'],
    ['{"n":0.1234567890123456789}', 'the number 0.1234567890123456789, which is not in canonical form, at character 6'],
    ['{"n":12345678901234567890}', 'the number 12345678901234567890, which is not in canonical form, at character 6'],
    ['{"a":1,"a":2}', 'the name "a" again at character 8'],
    ['{"a":{"b":1,"b":1}}', 'the name "b" again at character 13'],
    ['{"__proto__":1}', 'the name __proto__ at character 2'],
    ['{"a":"\\ud800"}', 'a lone surrogate at character 7'],
  ])('refuses claims that no two readers need take for the same: %s', async (text, fault) => {
    for (const format of ['ledger', 'jwt']) {
      const args = claimsFile(text)
      const err = `error: the claims ${args[1] ?? ''}: ${fault}\n`
      expect(await issue(...args, '--format', format)).toMatchObject({ code: 1, out: '', err })
    }
  })
})
