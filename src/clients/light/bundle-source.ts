import { requireKnown } from '../../base/primitives/known-members.js'
import { UserError } from '../../base/errors/rule-error.js'
import { didPart } from '../../identity/did/identifier.js'
import type { CredentialSource } from '../verifier/credential-source.js'
import type { LightResolver } from './light-resolver.js'
import type { LightCredential, LightResult, Proved } from './proved-answer.js'

/** Proofs in files as answers for a verifier that has no connection. */
export interface BundleSource extends CredentialSource {
  /** The oldest block of the proofs: what happened later on the chain is not in them. */
  readonly oldest: Proved
}

/**
 * A source of answers for `checkCredential` and `checkPresentation` from bundles (`didledger did prove`), each checked by a light resolver first.
 * Needed are one of each issuer, holder and credential. With `maxAge`, in seconds, an older one is refused. Rejects with a LightError where a
 * bundle proves nothing.
 */
export async function bundleSource(
  light: Pick<LightResolver, 'verifyBundle'>,
  bundles: readonly unknown[],
  options: { readonly maxAge?: number } = {},
): Promise<BundleSource> {
  requireKnown('bundleSource', options, ['maxAge'])
  const results: (LightResult | LightCredential)[] = []
  for (const bundle of bundles) results.push(await light.verifyBundle(bundle, options))
  const [first, ...others] = results.map(({ proved }) => proved)
  if (first === undefined)
    throw new UserError('no proof was given: one of each issuer and of each credential is needed', 2)
  return {
    oldest: others.reduce((oldest, proved) => (proved.height < oldest.height ? proved : oldest), first),
    resolve: async (did) => {
      const found = results.find((result) => 'did' in result && result.did === did && isOfNow(result))
      if (found === undefined)
        throw new UserError(`no proof of ${did} was given; "didledger did prove ${did}" makes one`)
      return found as LightResult
    },
    resolveCredential: async (id, { issuer }) => {
      const found = results.find((result) => 'id' in result && result.id === id && counts(result, issuer))
      if (found === undefined) {
        throw new UserError(`no proof of ${id} was given; "didledger did prove '${id}' --issuer ${issuer}" makes one`)
      }
      return found as LightCredential
    },
  }
}

/** Whether the status is proved as of the block, and not left open beside an earlier version. */
function isOfNow({ proved }: LightResult): boolean {
  return proved.statusUnproved !== true
}

/** Whether the word of the holder and that of an issuer were looked at. */
function counts({ id, proved }: LightCredential, issuer: string): boolean {
  return issuer === didPart(id) || proved.said?.some(({ signer }) => signer === issuer) === true
}
