import { asMembers, type Members, objectsIn, textIn } from './payload.js'
import { derives } from './same-key.js'

/** The keys of a document and what each of them may do. Pure. */

export interface ShownKey {
  readonly id: string
  readonly controller: string
  readonly publicKey: string
  readonly uses: readonly string[]
}

const authenticationUses = ['sign updates', 'deactivate', 'issue credentials']
/** The documents of a DID with a name are proved, and it is ended, by its controllers. */
const ownUses = ['sign what its controllers have proved', 'issue credentials', 'declare and revoke them']

/** The DIDs that control one with a name, and how many of them sign; none for the DID of a key. */
export function controllersOf(document: Members): { readonly dids: readonly string[]; readonly needed: number } {
  const { controller, multisig } = document
  const dids = Array.isArray(controller) ? controller : controller === undefined ? [] : [controller]
  const needed = typeof multisig === 'string' ? Number.parseInt(multisig, 10) : 1
  return { dids: dids.map(String), needed }
}

/** Keys of a normalised document, those embedded in its lists too. */
export function keysOf(document: Members): ShownKey[] {
  const did = textIn(document, 'id') ?? ''
  const referred = (name: string) => {
    const list: unknown = document[name]
    return new Set(Array.isArray(list) ? list.map((entry) => (typeof entry === 'string' ? entry : idOf(entry))) : [])
  }
  const [authentication, authorization] = [referred('authentication'), referred('authorization')]
  const isControlled = controllersOf(document).dids.length > 0
  const embedded = ['authentication', 'authorization'].flatMap((name) => objectsIn(document, name))
  const signing = [...objectsIn(document, 'publicKey'), ...embedded].map((key) => {
    const id = textIn(key, 'id') ?? ''
    const publicKey = textIn(key, 'publicKeyBase58') ?? ''
    const uses = [
      ...(derives(publicKey, did) ? ['default key: its bytes derive the DID'] : []),
      ...(authentication.has(id) ? (isControlled ? ownUses : authenticationUses) : []),
      ...(authorization.has(id) ? ['deactivate, on behalf of its controller'] : []),
    ]
    return { id, controller: textIn(key, 'controller') ?? did, publicKey, uses }
  })
  const encrypting = objectsIn(document, 'keyAgreement').map((key) => {
    const publicKey = textIn(key, 'publicKeyMultibase') ?? ''
    return { id: textIn(key, 'id') ?? '', controller: did, publicKey, uses: ['have others encrypt to the DID'] }
  })
  return [...signing, ...encrypting]
}

function idOf(entry: unknown): string | undefined {
  const members = asMembers(entry)
  return members === undefined ? undefined : textIn(members, 'id')
}
