/** The method name in every DID of this project's chains. */
export const didMethod = 'ledger'
