/** @limit count: witnesses of a light resolver, and of a node */
export const maxWitnesses = 16
