import { didMethod } from '../../base/primitives/did-method.js'

/** Rules for the identifiers of this project's chains, names among them: for what is read without the height from which a chain takes names. */
export const chainIds = { method: didMethod, chain: true, names: true } as const
