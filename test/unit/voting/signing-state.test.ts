import { expect, it } from 'vitest'
import { type SigningState, signingText } from '../../../src/voting/signing-state.js'

/** The texts of `signing` in getarbitersinfo and the library, letter by letter: programs compare them. */
const texts: readonly (readonly [SigningState, string])[] = [
  [{ kind: 'voting' }, 'yes'],
  [{ kind: 'no-key' }, 'no-key'],
  [{ kind: 'not-validator' }, 'not-validator'],
  [
    { kind: 'sign-state-missing' },
    'the sign state is missing; if no other node votes with this key, start once with --reset-sign-state, or for a chain ' +
      'that waits for it with --reset-sign-state=now',
  ],
  [
    { kind: 'sign-state-damaged', text: 'wrong checksum' },
    'the sign state is damaged (wrong checksum); if no other node votes with this key, start once with --reset-sign-state, ' +
      'or for a chain that waits for it with --reset-sign-state=now',
  ],
  [
    { kind: 'sign-state-unwritable', text: 'disk full' },
    'the sign state cannot be written (disk full); the node votes again once that is mended and it is started again',
  ],
  [{ kind: 'waits-for-peer' }, 'waits for a peer, since it has signed nothing yet'],
  [{ kind: 'catching-up', height: 9 }, 'catches up: a peer reports height 9'],
  [{ kind: 'signed-above', height: 7 }, 'the key has signed at height 7 already, and signs nothing below'],
  [{ kind: 'alarm', text: 'two blocks' }, 'two blocks'],
  [{ kind: 'reset-waits', for: 'peer' }, 'the sign state was reset: waits until it has caught up with a peer'],
  [
    { kind: 'reset-waits', for: 'fresh-block' },
    'the sign state was reset: waits for a block made after the start of this node',
  ],
  [
    { kind: 'reset-waits', for: 'own-block' },
    'the sign state was reset: waits for a block of another validator, and there is none; start once with --reset-sign-state=now',
  ],
  [{ kind: 'reset-waits', for: { height: 4 } }, 'the sign state was reset: votes from height 4 at the earliest'],
]

it.each(texts)('%o is shown in its words', (state, text) => {
  expect(signingText(state)).toBe(text)
})
