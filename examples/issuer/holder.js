import { presentCredentials } from 'didledger-client/wallet'
import { accountOf, Ledger, timestamp } from '../ledger.js'

/** A graduate: gets a degree, shows it to the employer, and shows it again after it was revoked. */

const { NODE = 'http://127.0.0.1:20334', KEY, TOKEN } = process.env
const { ISSUER = 'http://127.0.0.1:8001', VERIFIER = 'http://127.0.0.1:8002' } = process.env
const ledger = new Ledger(NODE)
if (!KEY) throw new Error('set KEY, the private key of the account')
const account = accountOf(KEY)
if ((await ledger.document(account.did)) === undefined) await ledger.createDid(account)

async function post(url, body = {}) {
  const answer = await (await fetch(url, { method: 'POST', body: JSON.stringify(body) })).json()
  if (answer.error) throw new Error(answer.error)
  return answer
}

async function show(credential) {
  const { realm, nonce } = await post(`${VERIFIER}/challenge`)
  const by = { account, document: await ledger.document(account.did), created: timestamp() }
  const presentation = presentCredentials(by, { credentials: [credential], realm, nonce })
  console.log(JSON.stringify(await post(`${VERIFIER}/check`, { presentation, nonce })))
}

// The office has the token: here one person plays both.
const { id, credential } = await post(`${ISSUER}/credentials`, { token: TOKEN, subject: account.did, degree: 'BSc' })
await show(credential)
await post(`${ISSUER}/revoke`, { token: TOKEN, id })
await show(credential)
