import { holds } from '../../src/base/crypto/verify.js'
import type { Code } from '../../src/base/errors/error-codes.js'
import { RuleError } from '../../src/base/errors/rule-error.js'
import { genesisBlock } from '../../src/base/primitives/genesis.js'
import { zeroHash } from '../../src/base/primitives/hash.js'
import { Header, type HeaderFields } from '../../src/base/primitives/header.js'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import { signMessage } from '../../src/voting/sign-message.js'
import {
  encodeMessage,
  messageChecks,
  parseMessage,
  type PrevoteMessage,
  type ProposalMessage,
  type VotingMessage,
} from '../../src/voting/tendermint/message.js'
import { testKey, testPublicKey, testSpec } from '../support/builders/spec.js'
import type { RuleRow } from './row.js'
import type { OtherState } from './states.js'

const spec = parseSpec(testSpec())
const genesis = genesisBlock(spec).header.hash
const height = 1
const open = { spec, genesis, height, previous: genesis }

const header = (changes: Partial<HeaderFields> = {}) =>
  new Header({
    version: 0,
    previous: genesis,
    merkleRoot: zeroHash,
    time: 0,
    bits: 0x207fffff,
    nonce: 0,
    height,
    ...changes,
  })

const prevote = (person: number, view = 0, at = height): PrevoteMessage => {
  const unsigned = {
    kind: 'prevote',
    height: at,
    view,
    blockHash: header().hash,
    signer: testPublicKey(person),
  } as const
  return { ...unsigned, signature: signMessage(unsigned, genesis, testKey(person)).signature }
}

interface ProposalPlan {
  readonly person?: number
  readonly view?: number
  readonly header?: Header
  readonly named?: Header
  readonly validView?: number
  readonly prevotes?: readonly PrevoteMessage[]
}

/** A proposal by the sponsor of height 1 and view 0, person 1, where the plan says nothing else. */
function propose(plan: ProposalPlan = {}): ProposalMessage {
  const { person = 1, view = 0, validView = -1, prevotes = [] } = plan
  const block = plan.header ?? header()
  const proposal = { sponsor: testPublicKey(person), blockHash: (plan.named ?? block).hash, viewOffset: view }
  const kind = 'proposal'
  return signMessage(
    { kind, height, validView, header: block, proposal, prevotes },
    genesis,
    testKey(person),
  ) as ProposalMessage
}

function precommit(person: number): VotingMessage {
  const { proposal } = propose()
  const unsigned = { kind: 'precommit', height, header: header(), proposal, signer: testPublicKey(person) } as const
  return signMessage(unsigned, genesis, testKey(person))
}

/** A message as it comes off the wire, with everything that is asked of it. */
function hear(messages: readonly VotingMessage[], state: OtherState | undefined): void {
  const at = { ...open, ...state?.open(open.height, open.previous) }
  for (const message of messages) {
    const failing = messageChecks(parseMessage(encodeMessage(message)), at).find((check) => !holds(check))
    if (failing !== undefined) throw new RuleError(failing.code, failing.subject)
  }
}

const row = (code: Code, accepted: readonly VotingMessage[], refused: VotingMessage): RuleRow => ({
  code,
  accepts: (state) => hear(accepted, state),
  refuses: (state) => hear([refused], state),
})

const quorum = [0, 1, 2].map((person) => prevote(person))
const later = { person: 2, view: 1, validView: 0 }
const unsignedNil = { kind: 'precommit-nil', height, view: 3, signer: testPublicKey(3) } as const
const nil = signMessage(unsignedNil, genesis, testKey(3))

export const votingRows: readonly RuleRow[] = [
  {
    code: 'vote-malformed',
    accepts: () => void parseMessage(encodeMessage(prevote(0))),
    refuses: () => void parseMessage(encodeMessage(prevote(0)).subarray(1)),
  },
  row('vote-height', [prevote(0)], prevote(0, 0, height + 1)),
  row('vote-signer', [prevote(3), precommit(3), nil], prevote(4)),
  row('vote-signer', [precommit(0)], precommit(4)),
  row('vote-signer', [nil], signMessage({ ...unsignedNil, signer: testPublicKey(4) }, genesis, testKey(4))),
  row('vote-sponsor', [propose(), propose({ person: 2, view: 1 })], propose({ person: 2 })),
  row('vote-block', [propose()], propose({ named: header({ nonce: 1 }) })),
  row('vote-height', [propose()], propose({ header: header({ previous: zeroHash }) })),
  row('vote-proof', [propose({ ...later, prevotes: quorum })], propose({ ...later, prevotes: quorum.slice(1) })),
  row(
    'vote-proof',
    [propose({ ...later, prevotes: [...quorum, prevote(3)] })],
    propose({ ...later, prevotes: [...quorum, prevote(0)] }),
  ),
  row('vote-proof', [propose({ ...later, prevotes: quorum })], propose({ validView: 0, prevotes: quorum })),
  row('vote-proof', [propose()], propose({ prevotes: quorum })),
  row('vote-proof', [propose()], propose({ prevotes: quorum.slice(2) })),
  row('vote-proof', [{ kind: 'proof', height, view: 0, header: header(), prevotes: quorum }], {
    kind: 'proof',
    height,
    view: 0,
    header: header(),
    prevotes: quorum.slice(1),
  }),
  row('vote-signature', [prevote(0), nil], { ...prevote(0), signature: prevote(1).signature }),
  row('vote-signature', [precommit(0)], { ...precommit(0), signature: prevote(0).signature } as VotingMessage),
  row('vote-signature', [propose()], { ...propose(), signature: propose().proposal.signature }),
  row('vote-signature', [propose()], {
    ...propose(),
    proposal: { ...propose().proposal, signature: propose().signature },
  }),
  row(
    'vote-signature',
    [propose({ ...later, prevotes: quorum })],
    propose({ ...later, prevotes: [prevote(0), prevote(1), prevote(2, 1)] }),
  ),
]
