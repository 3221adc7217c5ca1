/**
 * The entry `didledger/light`: resolves DIDs and credentials by untrusted nodes, for programs and web pages. Nothing here needs more than
 * `fetch` and WebCrypto.
 */
export { LightError, type ForkEvidence, type LightFailure } from '../../clients/light/light-error.js'
export type { ProvedFork } from '../../identity/proofs/fork.js'
export { type LightOptions, LightResolver, type LightResolveOptions } from '../../clients/light/light-resolver.js'
export type { WitnessOptions } from '../../clients/light/witnesses.js'
export { type BundleSource, bundleSource } from '../../clients/light/bundle-source.js'
export type { LightCredential, LightResult, Proved, ProvedEntry } from '../../clients/light/proved-answer.js'
export { type MemberRow, type ProvedBy, provedMembers } from '../../clients/light/proved-members.js'
export type * from '../../identity/did/resolution.js'
export type * from '../../identity/did/state-proof.js'
export type * from './did-resolver-types.js'
export { verifyResolution, type VerifyResolutionOptions } from './verify-resolution.js'
export { getResolver } from './get-light-resolver.js'
export type { GetResolverOptions } from './get-resolver.js'
