import { buildRevoke, issueCredential } from 'didledger-client/wallet'
import { accountOf, Ledger, timestamp } from '../ledger.js'
import { serve } from './http.js'

/** A university: signs degrees, and revokes them. Its DID and the coins for revocations are those of the account of KEY. */

const { NODE = 'http://127.0.0.1:20334', PORT = '8001', KEY, TOKEN } = process.env
if (!KEY || !TOKEN) throw new Error('set KEY, the private key of the account, and TOKEN, a password of the office')
const ledger = new Ledger(NODE)
const account = accountOf(KEY)
if ((await ledger.document(account.did)) === undefined) await ledger.createDid(account)
let issued = 0

/** Refuses who is not the office: who may have a degree is decided elsewhere. */
function requireOffice({ token }) {
  if (token !== TOKEN) throw new Error('this needs the token of the office')
}

const url = await serve(Number(PORT), {
  'POST /credentials': async (request) => {
    requireOffice(request)
    const { subject, degree } = request
    const document = await ledger.document(account.did)
    const by = { account, document, created: timestamp() }
    const id = `degree-${Date.now()}-${++issued}`
    const credential = { id, types: ['DegreeCredential'], subject, claims: { degree } }
    return { id: `${subject}#${id}`, credential: issueCredential(by, credential) }
  },
  'POST /revoke': async (request) => {
    requireOffice(request)
    const document = await ledger.document(account.did)
    // The chain has not seen this credential before, so revoking it adds a leaf to the map of DIDs.
    const revoke = ({ credential: [specification] }) => buildRevoke({ account, specification }, document, request.id)
    await ledger.send(account, revoke, true)
    return { revoked: request.id }
  },
})
console.log(`${account.did} issues at ${url}`)
