/**
 * The entry `didledger/wallet`: that of `didledger-client/wallet`, and what reads the spec of a chain. The small package does without: with
 * typebox it would be a sixth larger, and a program that talks to a node has the rules from there.
 */
export * from './wallet-client-entry.js'
export { parseSpec } from '../../base/primitives/spec.js'
