import { suite } from './suite.js'

/** `npm run test:verifier`: proofs against a verifier in Python, which a machine may lack. */
export default suite(['test/verifier/**/*.verifier.ts'])
