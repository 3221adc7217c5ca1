/** Whether the key of a node signs at the open height, and if not, why. */
export type SigningState =
  | { readonly kind: 'voting' | 'no-key' | 'not-validator' | 'sign-state-missing' | 'waits-for-peer' }
  /** A peer reports that height; the key has signed at it. */
  | { readonly kind: 'catching-up' | 'signed-above'; readonly height: number }
  /** Finding, in words. */
  | {
      readonly kind: 'sign-state-damaged' | 'sign-state-unwritable' | 'signer-unreachable' | 'alarm'
      readonly text: string
    }
  /** The sign state was reset: a peer is missing, a block made after the start, which none but this key makes, or the height to vote from. */
  | { readonly kind: 'reset-waits'; readonly for: ResetLack }

type ResetLack = 'peer' | 'fresh-block' | 'own-block' | { readonly height: number }

const resetHint =
  'if no other node votes with this key, start once with --reset-sign-state, or for a chain that waits for it with ' +
  '--reset-sign-state=now'

/** The state as interfaces show it: `yes`, `no-key`, `not-validator`, or why the key does not sign for now. */
export function signingText(state: SigningState): string {
  switch (state.kind) {
    case 'voting':
      return 'yes'
    case 'no-key':
    case 'not-validator':
      return state.kind
    case 'sign-state-missing':
      return `the sign state is missing; ${resetHint}`
    case 'sign-state-damaged':
      return `the sign state is damaged (${state.text}); ${resetHint}`
    case 'sign-state-unwritable':
      return `the sign state cannot be written (${state.text}); the node votes again once that is mended and it is started again`
    case 'signer-unreachable':
      return `the signer of the key does not answer (${state.text})`
    case 'waits-for-peer':
      return 'waits for a peer, since it has signed nothing yet'
    case 'catching-up':
      return `catches up: a peer reports height ${state.height}`
    case 'signed-above':
      return `the key has signed at height ${state.height} already, and signs nothing below`
    case 'alarm':
      return state.text
    case 'reset-waits':
      return `the sign state was reset: ${resetText(state.for)}`
  }
}

function resetText(missing: ResetLack): string {
  if (missing === 'peer') return 'waits until it has caught up with a peer'
  if (missing === 'own-block')
    return 'waits for a block of another validator, and there is none; start once with --reset-sign-state=now'
  if (missing === 'fresh-block') return 'waits for a block made after the start of this node'
  return `votes from height ${missing.height} at the earliest`
}
