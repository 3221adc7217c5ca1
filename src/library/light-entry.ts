/**
 * The entry `didledger/light`: resolves DIDs and credentials by nodes that are not believed, for programs and web pages. Nothing here
 * needs more than `fetch` and WebCrypto.
 */
export { LightError, type ForkEvidence, type LightFailure } from '../light/light-error.js'
export type { ProvedFork } from '../proofs/fork.js'
export { type LightOptions, LightResolver, type LightResolveOptions } from '../light/light-resolver.js'
export type { LightCredential, LightResult, Proved, ProvedEntry } from '../light/proved.js'
export { type MemberRow, type ProvedBy, provedMembers } from '../light/proved-members.js'
export type * from '../did/resolution.js'
export type * from '../did/state-proof.js'
export type * from './did-resolver-types.js'
export { verifyResolution, type VerifyResolutionOptions } from './verify-resolution.js'
export { getResolver } from './get-light-resolver.js'
export type { GetResolverOptions } from './get-resolver.js'
