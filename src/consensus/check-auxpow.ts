/** The work of a header is checked in the room of proofs, whose code runs in web pages as well. */
export { checkAuxPow, checkProofOfWork } from '../proofs/auxpow-proof.js'
