import { EventEmitter } from 'node:events'
import { NodeMetrics } from '../../src/answers/api/metrics/node-metrics.js'
import { stallReasons } from '../../src/answers/api/node-handles.js'
import { badStates, warningMetrics } from '../../src/answers/api/metrics/readiness.js'
import { plainRoutes } from '../../src/answers/api/paths/plain-routes.js'
import type { Chain } from '../../src/ledger/chain/chain.js'
import type { Mempool } from '../../src/ledger/mempool/mempool.js'

const meanings: Readonly<Record<keyof typeof badStates, string>> = {
  failed: 'as `/healthz` says',
  starting: 'not all of its ports are open yet',
  stopping: 'it was told to stop and finishes what is under way',
  alarm:
    'the validators have confirmed two blocks at one height: a person has to find out why ([network.md](network.md))',
  'catching up':
    'others have proved blocks that it does not have, or a peer that says it has more is being asked by a node that is not in step yet; the resolver refuses to answer',
  stalled: 'the chain does not go on at this node, until the next block; `reason` begins with one of the words below',
  'out of step':
    'its tip is too old, its clock is wrong, or no peer that it expects has shown its chain ([operate.md](operate.md#out-of-step)); the resolver says nothing of what does not exist',
}

/** docs/monitoring.md: health, readiness and every metric. */
export function monitoringPage(): string {
  const rows = describedMetrics().map(
    ({ name, type, labels, help }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
  )
  const paths = plainRoutes.map(({ path, summary }) => `| \`${path}\` | ${summary} |`)
  const states = Object.entries(badStates).map(
    ([status, { metric, value }]) =>
      `| \`${status}\` | 503 | \`${metric}\` is ${value} | ${meanings[status as keyof typeof badStates]} |`,
  )
  const stalls = Object.entries(stallReasons).map(([reason, meaning]) => `| \`${reason}\` | ${meaning} |`)
  return `# Monitoring

Generated from \`src/answers/api\` by \`npm run docs\`.

These paths are on the port of REST, outside of \`/api/v1\`. They match exactly and take GET and HEAD. They are as public as REST: on
loopback, unless \`api.host\` says otherwise ([configuration.md](configuration.md)). Beyond it \`/metrics\` shows every client how much the
node has to do, so let only your own machines through to it: \`--metrics-host\` gives it a port of its own, 20337, and takes it off that of REST. Pages of
other sites may not read it (403) on either; the other paths tell them nothing that JSON-RPC does not.

| path | what it tells |
|---|---|
${paths.join('\n')}

## Health

\`/healthz\` answers 200 \`{"status":"ok"}\` as long as the process serves and the chain can go on. After a failed write or a broken
invariant it answers 503 \`{"status":"failed", "reason"}\`: start the process again.

\`/readyz\` answers 200 with \`status\` \`ready\`, or 503 with another one and a \`reason\`; then send requests elsewhere, but leave the
process alone. \`height\`, \`time\` (Unix seconds) and \`age\` (seconds by the clock of the node) are of the tip, \`target\` is the height
of the best tip that is proved, and \`inStep\` says whether the node is [in step](operate.md#out-of-step) with its chain.

\`refusedBlocks\` counts the blocks that the node made itself since its start and that its own chain refused. It tries again at once
without the transaction that was the cause, so the status does not change; but each is a defect worth a report, with the warning in the log. Until
a block of that height is on the chain, \`refusedBlock\` says why. \`clock\` is there while the clock of the node is wrong.

| status | HTTP | metric | when |
|---|---|---|---|
| \`ready\` | 200 | all others | the node knows the chain and answers |
${states.join('\n')}

Where several hold, the first of the table is shown; each metric tells of its own. \`clock\` is \`${warningMetrics.clock}\` other than 0, and
\`refusedBlock\` comes with a rise of \`${warningMetrics.refusedBlock}\`. [operate.md](operate.md#watching) has an alert for each.

## A stalled chain

\`/readyz\`, \`stalled\` of \`getarbitersinfo\`, \`didledger_stalled_chains\` and a warning in the log say that a chain does not go on, with a reason and
a sentence that names the validators whose votes are missing. A second warning says that it goes on. Starting the process again does not help, so
\`/healthz\` stays as it is. A node that is catching up reports that first.

| reason | meaning |
|---|---|
${stalls.join('\n')}

What is too long follows from the chain spec ([genesis.md](genesis.md)). It is counted in seconds of the running node from its last block on, or from its
start, not by the clock, and not while it catches up. Only the next block ends it.

| chain | \`no-quorum\` after | \`tip-old\` after |
|---|---|---|
| validators make the blocks | the three timers of a view (\`propose\`, and \`delta\` more for each view, each at most \`maxViewTimeout\`) in one step of the vote, at least 10 s | twice the sum of \`emptyInterval\` and of the views in which all ⌊(N − 1)/3⌋ validators that may be faulty propose, and one more; at least 30 s |
| miners make the blocks, validators confirm them | the same, once there is a block to vote on | that, with \`minInterval\`, and 30 times \`retarget.spacing\` more |
| no validators | never | 30 times \`retarget.spacing\`, at least 30 s |
| a devnet | never | never: it makes blocks when it is asked |

On \`localnet\` that is 10 s and 59 s. A vote begins \`emptyInterval\` after a block, or at once when a transaction waits; validators that left between two
votes are missed in the next.

## The clock

Blocks say what time it is where they were made. \`clock\` in \`/readyz\`, \`clockoffset\` of \`getsyncstatus\`, \`didledger_clock_offset_seconds\` and a warning say by
how much the clock of the node differs from the middle one of the others: of the other validators by the blocks that they proposed last, or of miners by the
last 11 blocks. A clock that states nothing counts as equal, so that more than half of them have to agree; fewer liars cause no warning.

| difference | reported above |
|---|---|
| the node is behind | \`timing.maxDrift\`, at least 10 s; without validators at least \`retarget.spacing\`. Such a node takes the blocks of others for blocks of the future, and does not vote for them |
| the node is ahead | the same, and the timers of a view more, for a block is of some age when it arrives; with miners 10 times \`retarget.spacing\` more |

The warning ends when the difference is below half of that. The node stays ready: only its votes and its own blocks suffer. Without validators a node that is more than
two hours late takes no block of now; \`reason\` of \`getsyncstatus\` says so.

## Metrics

\`/metrics\` answers in the text format of Prometheus, version 0.0.4. Every name but \`didledger_in_step\` ends in its unit; counters end in \`_total\`, and what
is counted stands before. A figure of the disk is at most 5 s old, and NaN where the disk does not tell. Each node of a process has figures of its own, except for those that begin with \`process_\` and \`nodejs_\`.
Counters begin at 0 when the node starts.

Labels have few values: \`path\` is the pattern of a route, such as \`/api/v1/block/hash/:height\`; \`method\` is a JSON-RPC method that exists;
everything else is \`other\`. \`status\` is the HTTP status of a request, and \`ok\` or the error code of a JSON-RPC call.

| name | type | labels | meaning |
|---|---|---|---|
${rows.join('\n')}
`
}

/** Every metric of a node without a chain: names do not depend on one. */
export function describedMetrics(): ReturnType<NodeMetrics['describe']> {
  const chain = {
    events: new EventEmitter() as Chain['events'],
    spec: undefined as unknown as Chain['spec'],
    tip: undefined as unknown as Chain['tip'],
    prunedHeight: 0,
  }
  const mempool = {
    events: new EventEmitter() as Mempool['events'],
    ...{ size: 0, bytes: 0, floor: 0, refusedBlocks: { count: 0 } },
  }
  const sync = { catchingUp: false, height: 0, target: 0 }
  const standing = { inStep: true, height: 0, age: 0 } as const
  return new NodeMetrics({
    chain,
    mempool,
    resolver: { scannedDocuments: 0 },
    version: '',
    databaseBytes: async () => 0,
    diskSpace: async () => ({ free: 0, size: 0 }),
    health: () => ({ failed: false, stage: 'serving', sync, standing }),
  }).describe()
}
